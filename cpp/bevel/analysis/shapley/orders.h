// Sampled Shapley values of one tree, for a row x and a background row z: z is turned into x one
// feature after the other, in a random order, and each feature gets the change that it causes. One
// draw is the mean over an order and its reverse, which leaves no error where features act alone or
// in pairs. In any order the changes add up to the tree's value of x minus that of z.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/attribution.h"
#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/splits/order_splits.h"
#include "bevel/analysis/shapley/splits/pair_splits.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/random/stream.h"

namespace bevel {

class ShapleyOrders {
 public:
  ShapleyOrders(const ForestArrays& forest, const LeafOutput& leaf_output);

  void begin_tree(const GameTree& tree) {
    tree_ = &tree;
    splits_.begin_tree(tree);
  }
  // Adds the mean of the draws, and the estimated variance of that mean.
  void add(const RowPair& pair, int n_draws, Stream& stream, Attribution& mean,
           Attribution& variance);

 private:
  void draw(Stream& stream);
  void walk();
  void find_leaves(size_t n_steps);
  void add_credit(int32_t feature, size_t leaf, double share);
  void add_changes(const int32_t* order, size_t n_steps);

  // Hybrids at a node.
  struct Part {
    size_t node;
    uint64_t hybrids;
  };

  const LeafOutput& leaf_output_;
  OrderSplits splits_;

  const GameTree* tree_ = nullptr;
  RowPair pair_{};
  std::vector<int32_t> order_;        // order of the features that differ
  std::vector<float> base_, filled_;  // first hybrid of a part of the order
  std::vector<float> hybrid_;         // without missing values, for the models of leaves
  std::vector<Part> parts_;           // pending parts
  size_t leaf_[kMaxSteps + 1];        // leaves of the hybrids, numbered over the forest
  Attribution draw_, sum_, squares_;
};

}  // namespace bevel
