// Exact path-dependent Shapley values of one tree, for a row x. As in box_games.h a leaf is reached
// by boxes {S : A within S, B outside S}, here of known and unknown features: at each split as many
// free features are decided as needed to tell whether all of them are known. An unknown feature of
// a leaf's model counts as the middle of its range in the leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/shapley/box_games.h"
#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/support/cancellation.h"

namespace bevel {

template <class Payoff>
class PathGames {
 public:
  using Sums = typename Payoff::Sums;

  PathGames(const ForestArrays& forest, size_t most_decided) : forest_(forest) {
    decisions_.features.resize(most_decided + 1);  // and a feature of a leaf's model
  }

  void begin_tree(const GameTree& tree) {
    tree_ = &tree;
    decisions_.source.assign(tree.features().size() + 1, Source::free);
    offset_.assign(1, 0);
    features_.clear();
    for (size_t node = 0; node < tree.n_nodes(); ++node) {
      if (tree.split(node).kind != SplitKind::leaf)
        tree.each_feature(node, [&](int32_t f) { features_.push_back(tree.local(f)); });
      offset_.push_back(features_.size());
    }
    end_.resize(tree.n_nodes());
    for (size_t node = tree.n_nodes(); node-- > 0;) {
      const GameSplit& split = tree.split(node);
      const bool is_leaf = split.kind == SplitKind::leaf;
      end_[node] = is_leaf ? node + 1 : end_[static_cast<size_t>(split.right)];
    }
  }

  // Pays for all boxes; false, with some of them paid, if there are more than allowed.
  bool play(const float* x, size_t most_boxes, Payoff& payoff) {
    x_ = x;
    payoff_ = &payoff;
    boxes_left_ = most_boxes;
    Sums sums{};
    return visit(0, 1.0, sums);
  }

  // Calls visit(leaf, share of the tree's weight) with nothing known.
  template <class Visit>
  void each_leaf(Visit visit) {
    std::vector<double> share(tree_->n_nodes(), 0.0);
    share[0] = 1.0;
    for (size_t node = 0; node < share.size(); ++node) {
      const GameSplit& split = tree_->split(node);
      if (split.kind == SplitKind::leaf) {
        visit(split, share[node]);
        continue;
      }
      const double left = left_share(node);
      share[node + 1] = share[node] * left;
      share[static_cast<size_t>(split.right)] = share[node] * (1.0 - left);
    }
  }

 private:
  static constexpr size_t kWorkOfBox = 128;

  bool visit(size_t node, double weight, Sums& sums) {
    while (true) {
      const GameSplit& split = tree_->split(node);
      if (split.kind == SplitKind::leaf) {
        poll_cancellation(kWorkOfBox);
        if (boxes_left_-- == 0) return false;
        payoff_->set_weight(weight);
        if (split.n_terms > 0)
          pay_model(
              *tree_, split, [this](const LeafTerm& term) { return known_value(term); },
              [](const LeafTerm& term) { return term.middle(); }, decisions_, *payoff_, sums);
        else
          payoff_->add_leaf(tree_->values_of(split), decisions_, sums);
        return true;
      }
      const int32_t* last = features_.data() + offset_[node + 1];
      const int32_t* first = features_.data() + offset_[node];
      const auto source = [&](int32_t f) { return decisions_.source[static_cast<size_t>(f)]; };
      const auto right = static_cast<size_t>(split.right);
      if (std::any_of(first, last, [&](int32_t f) { return source(f) == Source::background; })) {
        // The smaller subtree goes on the stack, which limits its depth.
        const double left = left_share(node);
        const bool left_is_smaller = 2 * (right - node) <= end_[node] - node;
        const double share = left_is_smaller ? left : 1.0 - left;
        if (share > 0.0 && !visit(left_is_smaller ? node + 1 : right, weight * share, sums))
          return false;
        weight *= 1.0 - share;
        if (weight == 0.0) return true;
        node = left_is_smaller ? right : node + 1;
        continue;
      }
      const int32_t* free =
          std::find_if(first, last, [&](int32_t f) { return source(f) == Source::free; });
      if (free != last) return decide(*free, node, weight, sums);
      const size_t at = tree_->node_in_forest(node);
      node = goes_left(forest_, tree_->number(), at, x_, 1) ? node + 1 : right;
    }
  }

  bool decide(int32_t feature, size_t node, double weight, Sums& sums) {
    if (decisions_.n + 1 == decisions_.features.size()) return false;
    Source& source = decisions_.source[static_cast<size_t>(feature)];
    decisions_.features[decisions_.n++] = feature;
    Sums known{}, unknown{};
    source = Source::row;
    ++decisions_.n_of_row;
    bool within = visit(node, weight, known);
    --decisions_.n_of_row;
    source = Source::background;
    within = within && visit(node, weight, unknown);
    source = Source::free;
    --decisions_.n;
    payoff_->add_split(feature, known, unknown, sums);
    return within;
  }

  double known_value(const LeafTerm& term) const {
    const auto feature = static_cast<size_t>(term.feature);
    return term.value(x_[feature], forest_.medians[feature]);
  }

  // Share of the weight of a node in its left child. Children without weight have equal shares.
  double left_share(size_t node) const {
    const auto right = static_cast<size_t>(tree_->split(node).right);
    const double one = forest_.weight[tree_->node_in_forest(node + 1)];
    const double other = forest_.weight[tree_->node_in_forest(right)];
    return one + other > 0.0 ? one / (one + other) : 0.5;
  }

  const ForestArrays& forest_;
  const GameTree* tree_ = nullptr;
  const float* x_ = nullptr;
  Payoff* payoff_ = nullptr;
  size_t boxes_left_ = 0;
  Decisions decisions_;
  std::vector<size_t> offset_;     // by node, in features_
  std::vector<size_t> end_;        // by node: the one after the last below it
  std::vector<int32_t> features_;  // of splits, counted as in the tree
};

}  // namespace bevel
