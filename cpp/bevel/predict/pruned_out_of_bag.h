// Out-of-bag predictions of trees pruned to several sizes of nodes, by one walk down each tree.
//
// The draws of a node depend on the seed, the tree and the path to the node alone. A tree grown
// with a larger min_samples_split is therefore the tree grown with 2, cut off at the nodes that are
// too small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/options.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/predict/tree_range.h"

namespace bevel {

struct PruningRequest {
  std::span<const int64_t> sizes;      // ascending: nodes of fewer rows are leaves
  std::span<const float> node_weight;  // of all nodes of the forest, from training
  size_t row_step;                     // rows 0, row_step, 2 row_step, ... are predicted

  size_t n_rows(size_t n_training) const { return (n_training + row_step - 1) / row_step; }
};

// Sums over the trees of a range whose bag lacks a row, and the number of those trees; see
// `out_of_bag`. sums: sizes x rows x forest.width(). The rows of a node are not stored: they are
// taken to be its share of the tree's weight, times the distinct rows of the bag. For one output
// whose leaves hold means.
void pruned_out_of_bag(const ForestArrays& forest, const RowMatrix& rows, const double* weights,
                       const Options& options, uint64_t first_tree, TreeRange trees,
                       const PruningRequest& request, int n_threads, bool hard, double* sums,
                       int32_t* counts);

}  // namespace bevel
