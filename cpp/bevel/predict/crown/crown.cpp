#include "bevel/predict/crown/crown.h"

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
struct CrownMaker {
  const RowLayout& layout;
  const Node* nodes;
  Crown& crown;

  void fill(int i, Child at) const {
    if (i >= kCrownSplits) {
      crown.end[i - kCrownSplits] = at;
      return;
    }
    Crown::Split& split = crown.split[i];
    split.n_terms = at < 0 ? 0 : n_terms(nodes[number_of(at)]);
    if (split.n_terms > 0) set(nodes[number_of(at)], split);
    for (const int side : {0, 1})
      fill(2 * i + 1 + side, split.n_terms > 0 ? nodes[number_of(at)].child[side] : at);
  }

  void set(const Node& node, Crown::Split& split) const {
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
CrownMaker(const RowLayout&, const Node*, Crown&) -> CrownMaker<Node>;

}  // namespace

bool CrownRows::pay_in(const PackedForest& forest) {
  const auto n_trees = static_cast<int64_t>(forest.n_trees());
  return forest.axes.empty() && forest.layout.n_features <= kFeaturesPerTree * n_trees;
}

void CrownRows::read(const PackedForest& forest, const RowBlock& block) {
  const bool pays = block.is_plain && block.n >= kCrownRows && pay_in(forest);
  n_groups_ = pays ? (block.n + kCrownRows - 1) / kCrownRows : 0;
  const auto n_features = static_cast<size_t>(forest.layout.n_features);
  values_.resize(n_groups_ * n_features * kCrownRows);
  at_.resize(n_groups_ * kCrownRows);
  float* to = values_.data();
  for (size_t g = 0; g < n_groups_; ++g)
    for (size_t f = 0; f < n_features; ++f)
      for (size_t l = 0; l < kCrownRows; ++l)
        *to++ = block.row(std::min(g * kCrownRows + l, block.n - 1))[f];
}

const Child* CrownRows::pass(const PackedForest& forest, size_t tree) {
  Crown crown;
  std::visit(
      [&](const auto& nodes) {
        CrownMaker{forest.layout, nodes.data(), crown}.fill(0, forest.roots[tree]);
      },
      forest.nodes);
  const auto n_features = static_cast<size_t>(forest.layout.n_features);
  forest.pass_crown(crown, {values_.data(), n_groups_, n_features}, at_.data());
  return at_.data();
}

}  // namespace bevel
