// Linear models in the leaves of a tree of boosting, by the features that lead to the leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/losses/loss.h"
#include "bevel/data/dataset_view.h"
#include "bevel/data/table_values.h"
#include "bevel/forest/leaf_model.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// The value of a leaf on a row: `value`, and the terms of a linear model on some of its features.
struct LeafModel {
  double value = 0.0;
  std::vector<LeafTerm> terms;
};

class LeafModels {
 public:
  LeafModels(const DatasetView& data, const TableValues& table, double l2)
      : data_(data), table_(table), l2_(l2) {}

  // Numeric features of the splits above each leaf, the nearest first, by node of the tree.
  std::vector<std::vector<int32_t>> features_of_leaves(const NodeStore& nodes) const;

  // The model that lowers the loss of some rows by a Newton step, times the rate, around
  // `constant`, the value of a leaf without a model. Penalties of coefficients are as if l2 more
  // rows, of the hessian of one and as far from the mean as the leaf's, had no gradient.
  LeafModel fit(std::span<const uint32_t> rows, std::span<const int32_t> features,
                std::span<const Gradient> gradients, double constant, double rate) const;

  // Adds the model's values to those of some rows.
  void add(const LeafModel& model, std::span<const uint32_t> rows, double* raw) const;

 private:
  const DatasetView& data_;
  const TableValues table_;
  const double l2_;
};

// Puts the terms of leaves among the entries of a tree; models: by node.
void store_models(const std::vector<LeafModel>& models, NodeStore& nodes);

}  // namespace bevel
