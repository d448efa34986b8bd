// Shapley interaction values of a forest's predictions, exact: the mean over trees and background
// rows of those of each tree.
#pragma once

#include <cstddef>
#include <functional>

#include "bevel/analysis/shapley/background.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

struct InteractionOptions {
  bool hard = false;  // trees vote
  int max_exact_features = 12;
};

// values: n x n_features x n_features x k, zeros before; base: k. False, with the values
// unfinished, if a tree of several features in a split has more than 2^max_exact_features boxes for
// a pair of rows. Otherwise as shapley_values().
bool shapley_interactions(const ForestArrays& forest, const RowMatrix& rows,
                          const BackgroundRows& background, const InteractionOptions& options,
                          int n_threads, const std::function<bool(size_t rows_done)>& progress,
                          double* values, double* base);

}  // namespace bevel
