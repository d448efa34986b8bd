// A read-only view of a flat forest's arrays; it does not own them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/forest/forest_fields.h"
#include "bevel/forest/leaf_model.h"

namespace bevel {

// What an entry of a direction reads of a row: the feature, or 1 where it has a level, else 0.
inline float value_of_entry(const float* row, size_t feature, int32_t level) {
  return level < 0 ? row[feature] : row[feature] == static_cast<float>(level) ? 1.0f : 0.0f;
}

struct ForestArrays {
  int32_t n_features = 0;
  int32_t n_classes = 0;  // 0: regression
  std::span<const int32_t> levels;
  std::span<const float> medians;

  // Arrays that only analysis needs may be left empty.
#define BEVEL_ARRAY(type, name, per, kind, use) std::span<const type> name;
  BEVEL_FOREST_ARRAYS(BEVEL_ARRAY)
#undef BEVEL_ARRAY

  size_t n_trees() const { return tree_offset.size() - 1; }
  // The level of a nominal feature that an entry of a direction stands for; -1: none.
  int32_t level_of_entry(size_t entry) const {
    return entry_level.empty() ? -1 : entry_level[entry];
  }
  bool has_leaf_models() const { return !entry_low.empty(); }
  // A term of the linear model of a leaf.
  LeafTerm leaf_term(int64_t entry) const {
    const auto e = static_cast<size_t>(entry);
    return {entry_index[e], entry_weight[e], entry_low[e], entry_high[e]};
  }
  // The value of a leaf on a row, in regression with one output.
  double value_of_leaf(size_t leaf, const float* row, size_t feature_stride) const {
    double value = leaf_value[leaf];
    if (!has_leaf_models()) return value;
    for (int64_t e = entry_offset[leaf]; e < entry_offset[leaf + 1]; ++e) {
      const LeafTerm term = leaf_term(e);
      const auto feature = static_cast<size_t>(term.feature);
      value += term.value(row[feature * feature_stride], medians[feature]);
    }
    return value;
  }
  // 0: one output; otherwise output_value or the entries of a leaf are those of several outputs.
  size_t n_outputs() const { return output_classes.size(); }
  // Number of columns of a prediction: classes of all outputs, or outputs.
  size_t width() const {
    if (n_classes > 0) return static_cast<size_t>(n_classes);
    return n_outputs() > 0 ? n_outputs() : 1;
  }
  // The number of a tree's first leaf: a tree of n nodes has (n + 1) / 2 leaves.
  size_t first_leaf(size_t tree) const {
    return (static_cast<size_t>(tree_offset[tree]) + tree) / 2;
  }
};

}  // namespace bevel
