// By how much errors rise when a group of features is perturbed: the share of wrong classes, or the
// mean squared error in regression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bevel/analysis/perturbation.h"
#include "bevel/predict/packed_forest.h"

namespace bevel {

// Rows with known targets, and the trees that may judge them.
struct JudgedRows {
  const int32_t* labels = nullptr;  // classification
  const double* targets = nullptr;  // regression
  const double* weights = nullptr;  // null: all 1
  const uint8_t* judges = nullptr;  // n_rows x n_trees, row by row; null: every tree judges all

  double weight(size_t row) const { return weights ? weights[row] : 1.0; }
};

// Told how many rows or trees are done; false stops the work, which then throws Cancelled.
using ErrorProgress = std::function<bool(size_t n_done)>;

struct TreeErrors {
  std::vector<double> error;     // n_trees; NaN for a tree that judges no row
  std::vector<double> increase;  // n_trees x n_groups x n_repeats
};

// Each tree by itself, on the rows it judges; their values are permuted among these rows.
TreeErrors tree_errors(const PackedForest& forest, const Perturbation& perturbation,
                       const JudgedRows& rows, int n_threads, const ErrorProgress& progress);

struct ForestErrors {
  double error = 0.0;
  std::vector<double> increase;        // n_groups x n_repeats
  std::vector<double> standard_error;  // n_groups: of the increase averaged over repeats
};

// All judges of a row together, by shares or (hard) by votes; values are permuted among all rows.
ForestErrors forest_errors(const PackedForest& forest, const Perturbation& perturbation,
                           const JudgedRows& rows, bool hard, int n_threads,
                           const ErrorProgress& progress);

}  // namespace bevel
