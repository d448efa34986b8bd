// The finished forest: arrays only, trees one after the other. This is what Python holds and saves;
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

// A tree as it was grown, with the axes that some node uses.
struct GrownTree {
  NodeStore nodes;
  Candidates axes;
};

// Drops the axes that no node uses and renumbers the others.
GrownTree with_used_axes(NodeStore&& nodes, const Candidates& axes, int32_t n_features);

FlatForest flatten(std::vector<GrownTree>& trees, bool is_regression);

}  // namespace bevel
