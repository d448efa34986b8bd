#include "bevel/predict/top_levels/top_levels.h"

#include <algorithm>

namespace bevel {
namespace {

constexpr int32_t kFeaturesPerTree = 2;

struct Term {
  int32_t feature;
  float weight;
};

int32_t n_terms(const AxisNode& node) { return node.place < AxisNode::kGeneral ? 1 : 0; }
template <class Node>
int32_t n_terms(const Node& node) {
  return node.size == kGeneralSize ? 0 : node.size;
}

Term term(const RowLayout&, const AxisNode& node, int32_t) {
  return {static_cast<int32_t>(node.place), 1.0f};
}
Term term(const RowLayout& layout, const SignsNode& node, int32_t k) {
  const int32_t place = node.place[k], n = layout.n_positive();
  return place < n ? Term{place, 1.0f} : Term{place - n, -1.0f};
}
Term term(const RowLayout&, const WeightsNode& node, int32_t k) {
  return {node.place[k], node.weight[k]};
}

template <class Node>
struct TopLevelsMaker {
  const RowLayout& layout;
  const Node* nodes;
  TopLevels& top_levels;

  void fill(int i, Child at) const {
    if (i >= kTopLevelSplits) {
      top_levels.end[i - kTopLevelSplits] = at;
      return;
    }
    TopLevels::Split& split = top_levels.split[i];
    split.n_terms = at < 0 ? 0 : n_terms(nodes[number_of(at)]);
    if (split.n_terms > 0) set(nodes[number_of(at)], split);
    for (const int side : {0, 1})
      fill(2 * i + 1 + side, split.n_terms > 0 ? nodes[number_of(at)].child[side] : at);
  }

  void set(const Node& node, TopLevels::Split& split) const {
    split.threshold = node.threshold;
    for (int32_t k = 0; k < split.n_terms; ++k) {
      const Term t = term(layout, node, k);
      split.feature[k] = t.feature;
      split.weight[k] = t.weight;
    }
  }
};
// Clang deduces for aggregates from version 17 on.
template <class Node>
TopLevelsMaker(const RowLayout&, const Node*, TopLevels&) -> TopLevelsMaker<Node>;

}  // namespace

bool TopLevelRows::saves_time(const PackedForest& forest) {
  const auto n_trees = static_cast<int64_t>(forest.n_trees());
  return forest.axes.empty() && forest.layout.n_features <= kFeaturesPerTree * n_trees;
}

void TopLevelRows::read(const PackedForest& forest, const RowBlock& block) {
  const bool is_used = block.is_plain && block.n >= kTopLevelRows && saves_time(forest);
  n_rows_ = block.n;
  n_groups_ = is_used ? (block.n + kTopLevelRows - 1) / kTopLevelRows : 0;
  const auto n_features = static_cast<size_t>(forest.layout.n_features);
  values_.resize(n_groups_ * n_features * kTopLevelRows);
  at_.resize(n_groups_ * kTopLevelRows);
  float* to = values_.data();
  for (size_t g = 0; g < n_groups_; ++g)
    for (size_t f = 0; f < n_features; ++f)
      for (size_t l = 0; l < kTopLevelRows; ++l)
        *to++ = block.row(std::min(g * kTopLevelRows + l, block.n - 1))[f];
}

const Child* TopLevelRows::pass(const PackedForest& forest, size_t tree) {
  TopLevels top_levels;
  std::visit(
      [&](const auto& nodes) {
        TopLevelsMaker{forest.layout, nodes.data(), top_levels}.fill(0, forest.roots[tree]);
      },
      forest.nodes);
  forest.kernels.pass(top_levels, grouped(forest), at_.data());
  return at_.data();
}

void TopLevelRows::add_symmetric(const PackedForest& forest, TreeRange trees, size_t n_outputs,
                                 double* sums) const {
  forest.kernels.add_symmetric(forest.symmetric, trees, forest.leaf_value.data(), grouped(forest),
                               n_rows_, n_outputs, sums);
}

}  // namespace bevel
