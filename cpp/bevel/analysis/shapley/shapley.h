// Interventional Shapley values of a forest's predictions: the mean over trees and background rows
// of the values of each tree, exact where few boxes are enough and sampled elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "bevel/analysis/shapley/background.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

struct ShapleyOptions {
  bool hard = false;            // trees vote
  int max_exact_features = 12;  // trees are exact if about 2^this many boxes are enough
  int n_samples = 4;            // draws for each tree and background row that is not; at least 2
  uint64_t seed = 0;
};

// Arrays for the results; n is the number of rows, k that of classes, or 1.
struct ShapleyOutput {
  double* values;      // n x n_features x k
  double* variances;   // of the values, for the rows and orders that were drawn; the same shape
  int64_t* n_sampled;  // n: pairs of a tree and a background row that were not exact
  double* base;        // k: mean prediction of each tree for its background rows
};

// Rows are contiguous and n_features apart. If background rows are drawn there are at least two for
// each tree. `progress` is called with the number of rows done and returns whether to continue;
// throws Cancelled if not.
void shapley_values(const ForestArrays& forest, const RowMatrix& rows,
                    const BackgroundRows& background, const ShapleyOptions& options, int n_threads,
                    const std::function<bool(size_t rows_done)>& progress,
                    const ShapleyOutput& out);

}  // namespace bevel
