// Base of Shapley values: the mean prediction of each tree for its background rows.
#pragma once

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/background.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

// base: one value for each column.
void find_base(const ForestArrays& forest, const Background& background,
               const LeafOutput& leaf_output, double* base);

}  // namespace bevel
