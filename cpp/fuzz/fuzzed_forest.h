// A flat forest made of bytes: sound in its lengths and the shape of its trees unless the bytes say
// otherwise, so that checks of every depth are reached.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bevel/file/column.h"
#include "bevel/file/mapped_forest.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel::fuzz {

struct Forest : FlatForest {
  int32_t n_features = 1, n_classes = 0;
  std::vector<int32_t> levels, left_leaves;
  std::vector<float> medians;

  ForestArrays arrays() const {
    ForestArrays arrays;
    arrays.n_features = n_features;
    arrays.n_classes = n_classes;
    arrays.levels = levels;
    arrays.medians = medians;
    assign_arrays(arrays, *this);
    return arrays;
  }
};

inline float real(FuzzedDataProvider& data) {
  static constexpr float kOdd[] = {0.0f,
                                   -0.0f,
                                   1.0f,
                                   -1.0f,
                                   0.5f,
                                   1e-45f,
                                   3.4e38f,
                                   -3.4e38f,
                                   1e30f,
                                   std::numeric_limits<float>::infinity(),
                                   -std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::quiet_NaN()};
  return data.ConsumeBool() ? data.PickValueInArray(kOdd)
                            : static_cast<float>(data.ConsumeIntegral<int16_t>()) / 256.0f;
}

inline float usual(FuzzedDataProvider& data) {
  return data.ConsumeIntegralInRange<int>(0, 15) == 0
             ? real(data)
             : static_cast<float>(data.ConsumeIntegralInRange<int>(-8, 8)) / 4.0f;
}

// A value of a row, which a library has checked: a finite number, a code or a missing value.
inline float coordinate(FuzzedDataProvider& data, int32_t n_levels) {
  if (data.ConsumeIntegralInRange<int>(0, 7) == 0) return std::numeric_limits<float>::quiet_NaN();
  if (n_levels > 0)
    return static_cast<float>(data.ConsumeIntegralInRange<int32_t>(0, n_levels - 1));
  const float value = usual(data);
  return value - value == 0.0f ? value : 0.0f;
}

class Maker {
 public:
  Maker(FuzzedDataProvider& data, Forest& forest) : data_(data), forest_(forest) {}

  void make_table() {
    forest_.n_features = data_.ConsumeIntegralInRange<int32_t>(1, 4);
    const int kind = data_.ConsumeIntegralInRange<int>(0, 7);
    forest_.n_classes = kind % 4;
    if (kind > 3) make_outputs();
    for (int32_t f = 0; f < forest_.n_features; ++f) {
      const bool nominal = data_.ConsumeIntegralInRange<int>(0, 3) == 0;
      forest_.levels.push_back(nominal ? data_.ConsumeIntegralInRange<int32_t>(0, 70) : 0);
      forest_.medians.push_back(usual(data_));
    }
    has_sets_ = data_.ConsumeBool();
    has_level_terms_ = data_.ConsumeBool();
  }

  void make_tree() {
    for (int axes = data_.ConsumeIntegralInRange<int>(0, 3); axes; --axes) make_axis();
    forest_.rotation_offset.push_back(static_cast<int64_t>(forest_.rotation_entry_offset.size()) -
                                      1);
    n_indices_ = forest_.n_features +
                 static_cast<int32_t>(forest_.rotation_offset.back() -
                                      forest_.rotation_offset[forest_.rotation_offset.size() - 2]);
    first_ = forest_.right.size();
    make_node(0);
    forest_.tree_offset.push_back(static_cast<int64_t>(forest_.right.size()));
  }

  // Two or three outputs; one class is too few for several.
  void make_outputs() {
    if (forest_.n_classes == 1) return;
    if (forest_.n_classes == 0) {
      forest_.output_classes.assign(data_.ConsumeBool() ? 2 : 3, 0);
      return;
    }
    const int32_t first = data_.ConsumeIntegralInRange<int32_t>(1, forest_.n_classes - 1);
    forest_.output_classes = {first, forest_.n_classes - first};
  }

  // A number somewhere that does not belong there.
  void damage() {
    switch (data_.ConsumeIntegralInRange<int>(0, 10)) {
      case 0:
        return set(forest_.right);
      case 1:
        return set(forest_.entry_index);
      case 2:
        return set(forest_.entry_offset);
      case 3:
        return set(forest_.tree_offset);
      case 4:
        return set(forest_.bits_index);
      case 5:
        return set(forest_.bits_offset);
      case 6:
        return set(forest_.rotation_offset);
      case 7:
        return set(forest_.rotation_entry_offset);
      case 8:
        return set(forest_.rotation_index);
      case 9:
        return set(forest_.entry_level);
      default:
        return forest_.output_classes.empty() || data_.ConsumeBool() ? set(forest_.flags)
                                                                     : set(forest_.output_classes);
    }
  }

 private:
  template <class T>
  void set(std::vector<T>& values) {
    if (values.empty() || data_.ConsumeIntegralInRange<int>(0, 7) == 0) {
      data_.ConsumeBool() || values.empty() ? values.push_back({}) : values.pop_back();
      return;
    }
    const size_t place = data_.ConsumeIntegralInRange<size_t>(0, values.size() - 1);
    values[place] = data_.ConsumeBool() ? data_.ConsumeIntegral<T>()
                                        : static_cast<T>(data_.ConsumeIntegralInRange<int>(-2, 20));
  }

  void make_axis() {
    for (int n = data_.ConsumeIntegralInRange<int>(0, 3); n; --n) {
      forest_.rotation_index.push_back(
          data_.ConsumeIntegralInRange<int32_t>(0, forest_.n_features - 1));
      forest_.rotation_weight.push_back(usual(data_));
    }
    forest_.rotation_entry_offset.push_back(static_cast<int64_t>(forest_.rotation_index.size()));
  }

  // Leaves under the node.
  int32_t make_node(int depth) {
    const size_t node = forest_.right.size();
    const bool is_split =
        depth < 12 && data_.remaining_bytes() > 0 && data_.ConsumeIntegralInRange<int>(0, 2) > 0;
    forest_.right.push_back(-1);
    forest_.left_leaves.push_back(0);
    forest_.threshold.push_back(is_split ? usual(data_) : 0.0f);
    forest_.flags.push_back(0);
    if (has_sets_) forest_.bits_index.push_back(-1);
    if (forest_.n_classes == 0 && forest_.output_classes.empty())
      forest_.leaf_value.push_back(static_cast<double>(usual(data_)));
    is_split ? make_split(node) : make_leaf();
    forest_.entry_offset.push_back(static_cast<int64_t>(forest_.entry_index.size()));
    if (!is_split) return 1;
    const int32_t left = make_node(depth + 1);
    forest_.left_leaves[node] = left;
    forest_.right[node] = static_cast<int32_t>(forest_.right.size() - first_);
    return left + make_node(depth + 1);
  }

  void make_split(size_t node) {
    const int32_t feature = data_.ConsumeIntegralInRange<int32_t>(0, n_indices_ - 1);
    const bool is_nominal = feature < forest_.n_features && forest_.levels[feature] > 0;
    const bool by_levels = is_nominal && has_sets_ && !(has_level_terms_ && data_.ConsumeBool());
    forest_.flags[node] = static_cast<uint8_t>((data_.ConsumeBool() ? 1 : 0) | (by_levels ? 2 : 0));
    if (by_levels) return make_set(node, feature);
    const int n = data_.ConsumeBool() ? 1 : data_.ConsumeIntegralInRange<int>(1, 12);
    const bool signs = data_.ConsumeBool();
    for (int i = 0; i < n; ++i) {
      const int32_t other = data_.ConsumeIntegralInRange<int32_t>(0, n_indices_ - 1);
      const float sign = data_.ConsumeBool() ? 1.0f : -1.0f;
      const int32_t index = i == 0 ? feature : other;
      put(index, signs ? sign : usual(data_), some_level(index));
    }
  }

  void make_set(size_t node, int32_t feature) {
    put(feature, 1.0f);
    forest_.bits_index[node] = static_cast<int32_t>(forest_.bits_offset.size()) - 1;
    for (int32_t word = 0; word < (forest_.levels[feature] + 31) / 32; ++word)
      forest_.bits.push_back(data_.ConsumeIntegral<uint32_t>());
    forest_.bits_offset.push_back(static_cast<int64_t>(forest_.bits.size()));
  }

  void make_leaf() {
    if (!forest_.output_classes.empty()) return make_leaf_of_outputs();
    bool any = false;
    for (int32_t k = 0; k < forest_.n_classes; ++k) {
      const bool last = k == forest_.n_classes - 1;
      if (!data_.ConsumeBool() && !(last && !any)) continue;
      any = true;
      put(k, static_cast<float>(data_.ConsumeIntegralInRange<int>(0, 4)) / 4.0f);
    }
  }

  void make_leaf_of_outputs() {
    int32_t first = 0;
    for (const int32_t n : forest_.output_classes) {
      if (n == 0) forest_.output_value.push_back(static_cast<double>(usual(data_)));
      const int quarters = n > 1 ? data_.ConsumeIntegralInRange<int>(0, 4) : 0;
      if (quarters > 0) put(first, static_cast<float>(quarters) / 4.0f);
      if (n > 0 && quarters < 4) put(first + n - 1, 1.0f - static_cast<float>(quarters) / 4.0f);
      first += n;
    }
  }

  // A level of a nominal feature as a term of a direction; -1: none.
  int32_t some_level(int32_t index) {
    if (!has_level_terms_ || index >= forest_.n_features || forest_.levels[index] == 0) return -1;
    return data_.ConsumeIntegralInRange<int32_t>(0, forest_.levels[index] - 1);
  }

  void put(int32_t index, float weight, int32_t level = -1) {
    forest_.entry_index.push_back(index);
    forest_.entry_weight.push_back(weight);
    if (has_level_terms_) forest_.entry_level.push_back(level);
  }

  FuzzedDataProvider& data_;
  Forest& forest_;
  bool has_sets_ = false, has_level_terms_ = false;
  size_t first_ = 0;
  int32_t n_indices_ = 0;
};

inline Forest make_forest(FuzzedDataProvider& data) {
  Forest forest;
  Maker maker(data, forest);
  maker.make_table();
  for (int trees = data.ConsumeIntegralInRange<int>(1, 4); trees; --trees) maker.make_tree();
  const int faults = data.ConsumeIntegralInRange<int>(-4, 2);
  for (int i = 0; i < faults; ++i) maker.damage();
  return forest;
}

// The arrays as plain columns of a file, which MappedForest reads.
class RawColumns {
 public:
  explicit RawColumns(const Forest& forest) {
    for_each_array(forest,
                   [&](const ForestField& field, const auto& array) { add(field.name, array); });
    add("left_leaves", forest.left_leaves);
  }

  MappedForest forest(const Forest& from) const {
    ForestColumns columns;
    for_each_column(columns, [this](const ForestField& field, const Column*& column) {
      column = columns_.at(field.name).get();
    });
    return MappedForest(columns, from.n_features, from.n_classes, from.levels, from.medians);
  }

 private:
  template <class T>
  void add(const char* name, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    const ColumnSource source{"raw",
                              dtype_of<T>(),
                              static_cast<int64_t>(values.size()),
                              {},
                              {{"raw.values", Bytes(bytes, values.size() * sizeof(T))}}};
    columns_[name] = open_column(source);
  }

  std::map<std::string, std::unique_ptr<Column>> columns_;
};

}  // namespace bevel::fuzz
