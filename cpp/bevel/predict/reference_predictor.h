// The plain predictor: one row, one node at a time. Faster predictors must agree with it bit for
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bevel/options.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/tree_range.h"

namespace bevel {

// Rows of features in memory: value(row, feature) = values[row * row_stride + feature *
// feature_stride].
struct RowMatrix {
  const float* values;
  size_t n_rows;
  size_t row_stride, feature_stride;
};

// Whether a split sends a row left; the node is numbered over the whole forest.
bool goes_left(const ForestArrays& forest, size_t tree, size_t node, const float* row,
               size_t feature_stride);
// Class with the largest share in a leaf; ties go to the first. Nodes are numbered as above.
int32_t vote(const ForestArrays& forest, size_t leaf);

// Values of the leaf in which a row ends, of a regression with several outputs.
std::span<const double> output_values(const ForestArrays& forest, size_t tree, const float* row,
                                      size_t feature_stride);

// Node, counted from the tree's first, in which the row ends.
int32_t leaf_of(const ForestArrays& forest, size_t tree, const float* row, size_t feature_stride);

// out: n_rows x n_trees, row-major.
void apply(const ForestArrays& forest, const RowMatrix& rows, int n_threads, int32_t* out);
// Mean over trees of leaf shares (soft) or share of trees that vote for a class (hard);
// out: n_rows x n_classes.
void predict_proba(const ForestArrays& forest, const RowMatrix& rows, int n_threads, bool hard,
                   double* out);
// Mean over trees of leaf values; out: n_rows x max(1, n_outputs).
void predict_value(const ForestArrays& forest, const RowMatrix& rows, int n_threads, double* out);

// Sums over the trees (of a range) whose bag lacks a row, and the number of those trees. The bag of
// tree t is that of number first_tree + t, for rows of these weights (null: all 1). sums: n_rows x
// forest.width(). Sums are whole numbers, which do not depend on the order of threads.
void out_of_bag(const ForestArrays& forest, const RowMatrix& rows, const double* weights,
                const Options& options, uint64_t first_tree, TreeRange trees, int n_threads,
                bool hard, double* sums, int32_t* counts);
// Sums for other bags: how often tree t has each of the rows.
using BagOfTree = std::function<std::vector<int32_t>(size_t tree)>;
void out_of_bag(const ForestArrays& forest, const RowMatrix& rows, const BagOfTree& bag_of,
                TreeRange trees, int n_threads, bool hard, double* sums, int32_t* counts);

}  // namespace bevel
