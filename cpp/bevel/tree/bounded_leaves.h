// Makes a grown tree monotone: its leaves are clipped to the bounds of value_bounds.h.
#pragma once

#include "bevel/projection/direction_constraints.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// leaf_value has the prediction of each node, including inner ones: the mean or median, or the
// share of class 1. Afterwards, leaf_value is that of leaves alone, or empty in classification.
void bound_leaves(NodeStore& nodes, const DirectionConstraints& constraints, bool is_regression);

}  // namespace bevel
