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
};

}  // namespace bevel
