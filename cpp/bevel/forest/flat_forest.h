// The finished forest: arrays only, one tree after another. Python holds and saves it;
// forest_fields.h lists the arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/forest/forest_fields.h"
#include "bevel/projection/candidates.h"
#include "bevel/tree/node_store.h"

namespace bevel {

struct FlatForest {
#define BEVEL_ARRAY(type, name, per, kind, use) \
  std::vector<type> name = empty_array<type>(FieldKind::kind);
  BEVEL_FOREST_ARRAYS(BEVEL_ARRAY)
#undef BEVEL_ARRAY
};

// A grown tree, with the axes that its nodes use.
struct GrownTree {
  NodeStore nodes;
  Candidates axes;
};

// Drops the axes that no node uses and renumbers the others.
GrownTree with_used_axes(NodeStore&& nodes, const Candidates& axes, int32_t n_features);

FlatForest flatten(std::vector<GrownTree>& trees, bool is_regression);

}  // namespace bevel
