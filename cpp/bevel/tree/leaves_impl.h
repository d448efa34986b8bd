// Definitions of TreeBuilder: contents of leaves.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "bevel/support/check.h"
#include "bevel/tree/tree_builder.h"

namespace bevel {

template <class Criterion>
void TreeBuilder<Criterion>::emit_leaf(const NodeItem& item, NodeStore& nodes, int32_t node,
                                       Workspace<Criterion>& w) const {
  if constexpr (kHasHazard<Criterion>) {
    // The value is the leaf's mortality: its cumulative hazard, summed over all event times.
    double mortality = 0.0;
    const auto n_causes = static_cast<int32_t>(w.criterion.n_causes());
    w.criterion.hazard_jumps([&](int32_t time, size_t cause, double jump) {
      const auto stored = static_cast<float>(jump);
      nodes.add_entry(time * n_causes + static_cast<int32_t>(cause), stored);
      mortality += static_cast<double>(stored) * (tree_->row_data.n_times - time);
    });
    nodes.leaf_value[node] = mortality;
  } else if constexpr (requires { w.criterion.append_means(nodes.output_value); }) {
    w.criterion.append_means(nodes.output_value);
  } else if (w.criterion.is_regression()) {
    const auto* rows = data_rows(item.level, w);
    if (item.end - item.start == 1) {
      const uint32_t row = tree_->rows[item.start];
      w.single_row_leaves.push_back({node, rows ? (*rows)[row] : row});
    } else {
      nodes.leaf_value[node] = leaf_value(item, w);
    }
  } else if constexpr (!requires { w.criterion.leaf_value(); }) {
    w.criterion.class_shares(
        [&](int32_t label, double share) { nodes.add_entry(label, static_cast<float>(share)); });
    BEVEL_CHECK(nodes.entry_index.size() > static_cast<size_t>(nodes.entry_offset.back()));
  }
  nodes.close();
}

template <class Criterion>
double TreeBuilder<Criterion>::leaf_value(const NodeItem& item,
                                          const Workspace<Criterion>& w) const {
  if constexpr (requires { w.criterion.leaf_value(); }) {
    return w.criterion.leaf_value();
  } else {
    const auto* rows = data_rows(item.level, w);
    auto row_of = [&](size_t i) { return rows ? (*rows)[tree_->rows[i]] : tree_->rows[i]; };
    // Differences from the first target: a leaf of equal targets has exactly their value.
    const TrainingRowData& row_data = tree_->row_data;
    const double first = row_data.targets[row_of(item.start)];
    double sum = 0.0, weights = 0.0;
    for (size_t i = item.start; i < item.end; ++i) {
      const uint32_t row = row_of(i);
      const double weight = row_data.weight(row);
      sum += weight * (row_data.targets[row] - first);
      weights += weight;
    }
    double value = first + sum / weights;
    // Means of counts are not negative, except by rounding.
    if constexpr (std::is_base_of_v<PoissonCriterion, Criterion>) value = std::max(value, 0.0);
    BEVEL_CHECK(weights > 0.0 && std::isfinite(value));
    return value;
  }
}

template <class Criterion>
int32_t TreeBuilder<Criterion>::open(const NodeItem& item, NodeStore& nodes,
                                     const Workspace<Criterion>& w) const {
  const bool is_regression = w.criterion.is_regression();
  if (!constraints_.is_monotone()) return nodes.open(node_weight(w), is_regression);
  const int32_t node = nodes.open(node_weight(w), true);
  if constexpr (requires { w.criterion.mean(); })
    nodes.leaf_value[node] = is_regression ? leaf_value(item, w) : w.criterion.mean();
  else
    nodes.leaf_value[node] = leaf_value(item, w);
  return node;
}

// Targets are scattered in memory. Looked up one by one, each costs a cache miss; looked up
// together, the misses overlap.
template <class Criterion>
void TreeBuilder<Criterion>::fill_single_row_leaves(NodeStore& nodes,
                                                    Workspace<Criterion>& w) const {
  for (auto [node, row] : w.single_row_leaves)
    nodes.leaf_value[node] = tree_->row_data.targets[row];
  w.single_row_leaves.clear();
}

template <class Criterion>
float TreeBuilder<Criterion>::node_weight(const Workspace<Criterion>& w) const {
  const float weight = finite_float(w.criterion.weight() / tree_->weight_unit);
  BEVEL_CHECK(weight > 0.0f);
  return weight;
}

}  // namespace bevel
