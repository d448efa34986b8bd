// A read-only view of a flat forest's arrays; it does not own them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/forest/forest_fields.h"

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
