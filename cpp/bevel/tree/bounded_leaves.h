// Makes a grown tree monotone: its leaves are cut to the bounds of value_bounds.h.
#pragma once

#include "bevel/projection/direction_constraints.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// leaf_value has what each node would predict alone, also inner ones: the mean or median, or the
// share of class 1. After it, leaf_value is that of leaves alone, or in classification empty.
void bound_leaves(NodeStore& nodes, const DirectionConstraints& constraints, bool is_regression);

}  // namespace bevel
