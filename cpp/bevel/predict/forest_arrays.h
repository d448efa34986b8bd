// A read-only view of a flat forest's arrays; it does not own them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/forest/forest_fields.h"

namespace bevel {

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
