// Whether arrays that come from elsewhere make a flat forest as the trainer would: whatever reads a
// forest relies on it without further checks.
#pragma once

#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Throws std::invalid_argument at the first fault. One pass over the nodes, without recursion.
void check_forest(const ForestArrays& forest);

}  // namespace bevel
