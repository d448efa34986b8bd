// The flat forest as Python holds it: keeps the arrays alive while the core reads them.
#pragma once

#include "arrays.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/support/check.h"

// The arrays as they are, not checked for anything but their types.
class KeptForest {
 public:
  // Arrays that only analysis needs are kept if `with_analysis`, else left empty.
  KeptForest(const nb::dict& arrays, int32_t n_features, int32_t n_classes, Vector<int32_t> levels,
             Vector<float> medians, bool with_analysis) {
    forest_.n_features = n_features;
    forest_.n_classes = n_classes;
    forest_.levels = keep(levels);
    forest_.medians = keep(medians);
    bevel::for_each_array(forest_,
                          [&]<class T>(const bevel::ForestField& field, std::span<const T>& array) {
                            if (with_analysis || field.use == bevel::FieldUse::prediction)
                              array = take<T>(arrays, field.name);
                          });
  }

  const bevel::ForestArrays& arrays() const { return forest_; }
  // For what reads one class or one value from a leaf.
  const bevel::ForestArrays& one_output() const {
    bevel::require(forest_.n_outputs() == 0, "[ForestView] the forest has several outputs");
    return forest_;
  }

 private:
  template <class T>
  std::span<const T> take(const nb::dict& arrays, const char* name) {
    Vector<T> array;
    bevel::require(arrays.contains(name) && nb::try_cast(arrays[name], array, false),
                   "[ForestView] an array is missing or of the wrong type");
    return keep(array);
  }
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
      : KeptForest(arrays, n_features, n_classes, levels, medians, false) {
    const bevel::ForestArrays& forest = this->arrays();
    bevel::require(static_cast<int32_t>(levels.shape(0)) == n_features &&
                       static_cast<int32_t>(medians.shape(0)) == n_features,
                   "[ForestView] levels and medians need one entry per feature");
    bevel::require(!forest.tree_offset.empty() &&
                       static_cast<size_t>(forest.tree_offset.back()) == forest.right.size(),
                   "[ForestView] tree_offset does not match the nodes");
  }
};
