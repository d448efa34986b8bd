// Increase of the error when a group of features is perturbed: the share of wrong classes, or the
// mean squared error in regression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bevel/analysis/perturbation.h"
#include "bevel/predict/packed_forest.h"

namespace bevel {

// Rows with known targets, and the trees that are evaluated on them.
struct EvaluatedRows {
  const int32_t* labels = nullptr;  // classification
  const double* targets = nullptr;  // regression
  const double* weights = nullptr;  // null: all 1
  const uint8_t* is_evaluated =
      nullptr;  // n_rows x n_trees, row by row; null: all trees on all rows

  double weight(size_t row) const { return weights ? weights[row] : 1.0; }
};

// Called with the number of rows or trees done; false stops the work, which throws Cancelled.
using ErrorProgress = std::function<bool(size_t n_done)>;

struct TreeErrors {
  std::vector<double> error;     // n_trees; NaN for a tree that is evaluated on no row
  std::vector<double> increase;  // n_trees x n_groups x n_repeats
};

// Errors of each tree by itself, on its rows; values are permuted among these rows.
TreeErrors tree_errors(const PackedForest& forest, const Perturbation& perturbation,
                       const EvaluatedRows& rows, int n_threads, const ErrorProgress& progress);

struct ForestErrors {
  double error = 0.0;
  std::vector<double> increase;        // n_groups x n_repeats
  std::vector<double> standard_error;  // n_groups: of the increase averaged over repeats
};

// Errors of all trees together, by shares or (hard) by votes; values are permuted among all rows.
ForestErrors forest_errors(const PackedForest& forest, const Perturbation& perturbation,
                           const EvaluatedRows& rows, bool hard, int n_threads,
                           const ErrorProgress& progress);

}  // namespace bevel
