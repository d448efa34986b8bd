// Whether arrays that come from elsewhere make a flat forest as the trainer would: whatever reads a
// forest relies on it without further checks.
#pragma once

#include <span>

#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Arrays that only analysis needs; each may be empty.
struct AnalysisArrays {
  std::span<const float> gain, weight;
  std::span<const float> entry_p_value;
};

// Throws std::invalid_argument at the first fault. One pass over the nodes, without recursion.
void check_forest(const ForestArrays& forest, const AnalysisArrays& analysis);

}  // namespace bevel
