// Survival curves of rows, averaged over their leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/predict/forest_arrays.h"

namespace bevel {

// hazard: mean cumulative hazard (Nelson-Aalen in the leaf). survival: mean survival
// (Kaplan-Meier). incidence: mean share of rows with an event of one cause (Aalen-Johansen).
enum class CurveKind : uint8_t { hazard, survival, incidence };

struct CurveRequest {
  CurveKind kind;
  // For each event time of the data: the first of the n_points at which its jump has happened,
  // n_points if none.
  std::span<const int32_t> first_point;
  size_t n_points;
  size_t n_causes = 1;  // an entry of a leaf has number event time * n_causes + cause
  size_t cause = 0;     // cause of the incidence
};

// leaves: n_rows x n_trees, nodes counted from the tree's first, negative where a tree does not
// count for a row. out: n_rows x n_points, NaN for a row without a tree. Throws
// std::invalid_argument for a leaf or an event time that does not exist.
void survival_curves(const ForestArrays& forest, const CurveRequest& request, const int32_t* leaves,
                     size_t n_rows, int n_threads, double* out);

}  // namespace bevel
