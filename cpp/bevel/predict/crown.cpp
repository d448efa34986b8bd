#include "bevel/predict/crown.h"

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
  const float* columns;
  size_t stride;
  Crown& crown;

  void fill(int i, Child at) const {
    if (i >= kCrownSplits) {
      crown.end[i - kCrownSplits] = at;
      return;
    }
    Crown::Split& split = crown.split[i];
    split.n_terms = at < 0 ? 0 : n_terms(nodes[at]);
    if (split.n_terms > 0) set(nodes[at], split);
    fill(2 * i + 1, split.n_terms > 0 ? nodes[at].child[0] : at);
    fill(2 * i + 2, split.n_terms > 0 ? nodes[at].child[1] : at);
  }

  void set(const Node& node, Crown::Split& split) const {
    split.threshold = node.threshold;
    for (int32_t k = 0; k < split.n_terms; ++k) {
      const Term t = term(layout, node, k);
      split.column[k] = columns + static_cast<size_t>(t.feature) * stride;
      split.weight[k] = t.weight;
    }
  }
};

}  // namespace

bool CrownRows::pay_in(const PackedForest& forest) {
  const auto n_trees = static_cast<int64_t>(forest.n_trees());
  return forest.axes.empty() && forest.layout.n_features <= kFeaturesPerTree * n_trees;
}

void CrownRows::read(const PackedForest& forest, const RowBlock& block) {
  n_rows_ = block.is_plain && block.n >= kCrownRows && pay_in(forest) ? block.n : 0;
  if (empty()) return;
  const auto n_features = static_cast<size_t>(forest.layout.n_features);
  stride_ = (n_rows_ + kCrownRows - 1) / kCrownRows * kCrownRows;
  columns_.assign(n_features * stride_, 0.0f);
  at_.resize(stride_);
  for (size_t first = 0; first < n_rows_; first += kCrownRows) {
    const size_t last = std::min(n_rows_, first + kCrownRows);
    for (size_t f = 0; f < n_features; ++f)
      for (size_t i = first; i < last; ++i) columns_[f * stride_ + i] = block.row(i)[f];
  }
}

const Child* CrownRows::pass(const PackedForest& forest, size_t tree) {
  Crown crown;
  std::visit(
      [&](const auto& nodes) {
        CrownMaker{forest.layout, nodes.data(), columns_.data(), stride_, crown}.fill(
            0, forest.roots[tree]);
      },
      forest.nodes);
  forest.pass_crown(crown, n_rows_, at_.data());
  return at_.data();
}

}  // namespace bevel
