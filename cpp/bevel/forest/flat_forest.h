// The finished forest: arrays only, one tree after another. Python holds and saves it;
// forest_fields.h lists the arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/data/dataset_view.h"
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

// Splits refer to level terms by the nominal feature, with the level in `entry_level`, which is -1
// for other entries. Axes follow the features of the table.
void name_level_terms(NodeStore& nodes, const DatasetView& data);

FlatForest flatten(std::vector<GrownTree>& trees, bool is_regression);

}  // namespace bevel
