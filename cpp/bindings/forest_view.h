// The flat forest as Python holds it: keeps the arrays alive and lends them to the core.
#pragma once

#include "arrays.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/support/check.h"

// The arrays as they are, not checked for anything but their types.
class KeptForest {
 public:
  KeptForest(const nb::dict& arrays, int32_t n_features, int32_t n_classes, Vector<int32_t> levels,
             Vector<float> medians) {
    forest_.n_features = n_features;
    forest_.n_classes = n_classes;
    forest_.levels = keep(levels);
    forest_.medians = keep(medians);
    forest_.tree_offset = take<int64_t>(arrays, "tree_offset");
    forest_.right = take<int32_t>(arrays, "right");
    forest_.threshold = take<float>(arrays, "threshold");
    forest_.flags = take<uint8_t>(arrays, "flags");
    forest_.entry_offset = take<int64_t>(arrays, "entry_offset");
    forest_.entry_index = take<int32_t>(arrays, "entry_index");
    forest_.entry_weight = take<float>(arrays, "entry_weight");
    forest_.leaf_value = take<double>(arrays, "leaf_value");
    forest_.bits_index = take<int32_t>(arrays, "bits_index");
    forest_.bits_offset = take<int64_t>(arrays, "bits_offset");
    forest_.bits = take<uint32_t>(arrays, "bits");
    forest_.rotation_offset = take<int64_t>(arrays, "rotation_offset");
    forest_.rotation_entry_offset = take<int64_t>(arrays, "rotation_entry_offset");
    forest_.rotation_index = take<int32_t>(arrays, "rotation_index");
    forest_.rotation_weight = take<float>(arrays, "rotation_weight");
  }

  const bevel::ForestArrays& arrays() const { return forest_; }
  // One more array, kept alive too.
  template <class T>
  std::span<const T> take(const nb::dict& arrays, const char* name) {
    Vector<T> array;
    bevel::require(arrays.contains(name) && nb::try_cast(arrays[name], array, false),
                   "[ForestView] an array is missing or of the wrong type");
    return keep(array);
  }

 private:
  template <class T>
  std::span<const T> keep(Vector<T> array) {
    kept_.append(nb::cast(array));
    return as_span(array);
  }

  bevel::ForestArrays forest_;
  nb::list kept_;
};

class ForestView : public KeptForest {
 public:
  ForestView(nb::dict arrays, int32_t n_features, int32_t n_classes, Vector<int32_t> levels,
             Vector<float> medians)
      : KeptForest(arrays, n_features, n_classes, levels, medians) {
    const bevel::ForestArrays& forest = this->arrays();
    bevel::require(static_cast<int32_t>(levels.shape(0)) == n_features &&
                       static_cast<int32_t>(medians.shape(0)) == n_features,
                   "[ForestView] levels and medians need one entry per feature");
    bevel::require(!forest.tree_offset.empty() &&
                       static_cast<size_t>(forest.tree_offset.back()) == forest.right.size(),
                   "[ForestView] tree_offset does not match the nodes");
  }
};
