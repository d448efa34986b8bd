// Out-of-bag predictions of trees pruned to several sizes of nodes, by one walk down each tree.
//
// The draws of a node depend on the seed, the tree and the path to the node alone. A tree grown
// with a larger min_samples_split is therefore the tree grown with 2, cut off at the nodes that are
// too small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/predict/tree_range.h"

namespace bevel {

struct PruningRequest {
  std::span<const int64_t> sizes;      // ascending: nodes of fewer rows are leaves
  std::span<const float> node_weight;  // of all nodes of the forest, from training
};

// What is to be known of the bag of a tree.
struct BagOfSome {
  std::vector<int32_t> times;  // that it has each of the rows to be predicted
  size_t n_distinct;           // training rows that it has, however often
};
using BagOfSomeOfTree = std::function<BagOfSome(size_t tree)>;

// Sums over the trees of a range whose bag lacks a row, and the number of those trees; see
// `out_of_bag`. sums: sizes x rows x forest.width(). The rows of a node are not stored: they are
// taken to be its share of the tree's weight, times the distinct rows of the bag. For one output
// whose leaves hold means.
void pruned_out_of_bag(const ForestArrays& forest, const RowMatrix& rows,
                       const BagOfSomeOfTree& bag_of, TreeRange trees,
                       const PruningRequest& request, int n_threads, bool hard, double* sums,
                       int32_t* counts);

}  // namespace bevel
