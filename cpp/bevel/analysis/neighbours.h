// The forest as adaptive nearest neighbours (Lin and Jeon): its prediction for a row is a
// weighted average over training rows. Their weights, and the quantiles that the weights give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/sparse_rows.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

// Training rows in each leaf.
struct LeafRows {
  std::span<const int64_t> offset;  // by node of the forest: its first member
  std::span<const int32_t> row;     // members: rows, as often as they are in the tree's bag
  std::span<const double> weight;   // weights of the members; empty: all ones
  size_t n_rows;                    // number of rows
};

// Trees that are used for each row: n_rows x n_trees, row-major; null: all trees for all rows.
using TreesOfRow = const uint8_t*;

// Weights of the training rows (columns) for each row; they sum to one, or to zero where no tree
// is used.
SparseRows neighbour_weights(const ForestArrays& forest, const RowMatrix& rows,
                             const LeafRows& leaf_rows, TreesOfRow trees, int n_threads);

// Smallest target at which the weights of the targets up to it reach each level. `targets` ascend
// by training row, `levels` ascend; out: n_rows x n_levels, NaN where no tree is used.
void neighbour_quantiles(const ForestArrays& forest, const RowMatrix& rows,
                         const LeafRows& leaf_rows, std::span<const double> targets,
                         std::span<const double> levels, TreesOfRow trees, int n_threads,
                         double* out);

}  // namespace bevel
