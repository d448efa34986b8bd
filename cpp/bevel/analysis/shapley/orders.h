// Sampled Shapley values of one tree, for a row x and a background row z: z is turned into x one
// feature after the other, in a random order, and each feature gets what its turn has changed. One
// draw is the mean over an order and its reverse, which leaves no error where features act alone or
// in pairs. Whatever the order, the changes add up to the tree's value of x less that of z.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/credit.h"
#include "bevel/analysis/shapley/splits/split_truths.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/random/stream.h"

namespace bevel {

class ShapleyOrders {
 public:
  ShapleyOrders(const ForestArrays& forest, const LeafOutput& leaf_output);

  // Adds the mean of the draws, and the estimated variance of that mean. `features` are those that
  // the tree's splits use.
  void add(size_t tree, const RowPair& pair, const std::vector<int32_t>& features, int n_draws,
           Stream& stream, Credit& mean, Credit& variance);

 private:
  void draw(Stream& stream);
  void walk();
  void descend(size_t position);
  size_t child(size_t position) const;
  void mark(size_t position);
  void mark_feature(int32_t feature, size_t position);
  void add_credit(int32_t feature, size_t leaf, double share);

  const ForestArrays& forest_;
  const LeafOutput& leaf_output_;

  size_t tree_ = 0;
  RowPair pair_{};
  std::vector<int32_t> order_;   // of the features that differ
  std::vector<float> hybrid_;    // the row on its way from z to x
  std::vector<size_t> path_;     // its nodes, from the root to the leaf
  std::vector<int32_t> marked_;  // features that differ and are read on the path, root first
  std::vector<int32_t> first_;   // by feature: position on the path that reads it first; -1: none
  Credit draw_, sum_, squares_;
};

}  // namespace bevel
