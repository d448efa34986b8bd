// Checks that arrays from outside form a valid flat forest. All readers of a forest rely on this
// and do not check again.
#pragma once

#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Throws std::invalid_argument at the first fault. One pass over the nodes, without recursion.
void check_forest(const ForestArrays& forest);

}  // namespace bevel
