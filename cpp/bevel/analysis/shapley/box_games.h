// Exact Shapley values of one tree, for a row x and a background row z.
//
// A coalition S stands for the hybrid row that has x's values on S and z's elsewhere. Walking down
// the tree with features still free, as many features of a split are decided as needed to send all
// hybrids to one side: a free feature that could change the side is decided both ways. A leaf is
// thus reached by a few disjoint boxes {S : A within S, B outside S}. Where d features differ there
// are 2^d of them at most, and in a tree of single features not more than leaves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/splits/split_truths.h"
#include "bevel/analysis/shapley/splits/wide_splits.h"
#include "bevel/support/cancellation.h"

namespace bevel {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

// The decisions on the way to a box; features are counted as in the tree.
struct Decisions {
  std::vector<Source> source;     // and a free one, of no feature
  std::vector<int32_t> features;  // the first `n` are decided
  size_t n = 0, n_of_row = 0;     // |A| + |B|, |A|

  size_t n_of_background() const { return n - n_of_row; }
};

// `Pay` has the type Sums, pay(values, decisions, sums), which may add to the sums of the boxes
// below a decision, and settle(feature, of_row, of_background, sums) with the sums below both sides
// of one.
template <class Pay>
class BoxGames {
 public:
  using Sums = typename Pay::Sums;

  BoxGames(const ForestArrays& forest, size_t most_decided) : truths_(forest), wide_(forest) {
    decisions_.features.resize(most_decided);
  }

  void begin_tree(const GameTree& tree) {
    tree_ = &tree;
    decisions_.source.assign(tree.features().size() + 1, Source::free);
    truths_.begin_tree(tree);
    wide_.begin_tree(tree);
  }

  // Pays for all boxes of a pair of rows; false, with some of them paid, if there are more than
  // allowed.
  bool play(const RowPair& pair, size_t most_boxes, Pay& pay) {
    truths_.begin_pair(pair);
    pair_ = pair;
    pay_ = &pay;
    boxes_left_ = most_boxes;
    Sums sums{};
    return visit(0, sums);
  }

 private:
  static constexpr size_t kWorkOfBox = 64, kBoxesBetweenPolls = 256;
  static_assert(kMostTabulated == 6);
  // By feature of a split and source: choices T that are open.
  static constexpr uint64_t kOpen[6][3] = {
      {~kTakesRow[0], kTakesRow[0], ~uint64_t{0}}, {~kTakesRow[1], kTakesRow[1], ~uint64_t{0}},
      {~kTakesRow[2], kTakesRow[2], ~uint64_t{0}}, {~kTakesRow[3], kTakesRow[3], ~uint64_t{0}},
      {~kTakesRow[4], kTakesRow[4], ~uint64_t{0}}, {~kTakesRow[5], kTakesRow[5], ~uint64_t{0}}};
  // By number of features: all choices.
  static constexpr uint64_t kChoices[7] = {0x1, 0x3, 0xF, 0xFF, 0xFFFF, 0xFFFFFFFF, ~uint64_t{0}};

  bool visit(size_t node, Sums& sums) {
    while (true) {
      const GameSplit& split = tree_->split(node);
      if (split.kind == SplitKind::leaf) return pay(split, sums);
      if (split.kind == SplitKind::wide) {
        const Turn turn = wide_.turn(node, hybrids());
        if (turn == Turn::undecided) return decide_wide(node, sums);
        node = turn == Turn::left ? node + 1 : static_cast<size_t>(split.right);
        continue;
      }
      const uint64_t open = open_choices(split), left = truths_.of(node) & open;
      if (left != 0 && left != open) return decide_by(node, open, left, sums);
      node = left != 0 ? node + 1 : static_cast<size_t>(split.right);
    }
  }

  // Choices T that agree with the decisions. Without branches: they would be hard to foresee.
  uint64_t open_choices(const GameSplit& split) const {
    const auto mask = [&](size_t k) {
      const auto source = decisions_.source[static_cast<size_t>(split.features[k])];
      return kOpen[k][static_cast<size_t>(source)];
    };
    const uint64_t choices = mask(0) & mask(1) & mask(2) & mask(3) & mask(4) & mask(5);
    return choices & kChoices[split.n_features];
  }

  bool pay(const GameSplit& leaf, Sums& sums) {
    if (boxes_left_-- == 0) return false;
    if (boxes_left_ % kBoxesBetweenPolls == 0) poll_cancellation(kBoxesBetweenPolls * kWorkOfBox);
    pay_->pay(tree_->values_of(leaf), decisions_, sums);
    return true;
  }

  // Decides the feature of a split on which the side depends in most of the open choices.
  bool decide_by(size_t node, uint64_t open, uint64_t left, Sums& sums) {
    const size_t k = most_moving(open, left);
    const GameSplit& split = tree_->split(node);
    return decide(split.features[k], sums, [&, this](Source source, Sums& below) {
      const uint64_t chosen = kOpen[k][static_cast<size_t>(source)];
      const uint64_t still_open = open & chosen, still_left = left & chosen;
      if (still_left != 0 && still_left != still_open)
        return decide_by(node, still_open, still_left, below);
      return visit(still_left != 0 ? node + 1 : static_cast<size_t>(split.right), below);
    });
  }

  static size_t most_moving(uint64_t open, uint64_t left) {
    size_t best = 0;
    int most = 0;
    for (size_t k = 0; k < kMostTabulated && (uint64_t{1} << (1u << k)) <= open; ++k) {
      const uint64_t both = open & (open >> (1u << k)) & ~kTakesRow[k];  // free: open both ways
      const int n = std::popcount((left ^ (left >> (1u << k))) & both);
      if (n > most) {
        most = n;
        best = k;
      }
    }
    return best;
  }

  bool decide_wide(size_t node, Sums& sums) {
    poll_cancellation(kWorkOfBox);
    wide_.add_reach(node, hybrids());
    const int32_t feature = wide_.widest(node);
    if (feature < 0) return visit(static_cast<size_t>(tree_->split(node).right), sums);
    return decide(feature, sums, [&](Source, Sums& below) { return visit(node, below); });
  }

  // Calls proceed(source, sums) for both sources of a feature, unless the first is false.
  template <class Continue>
  bool decide(int32_t feature, Sums& sums, Continue proceed) {
    if (decisions_.n == decisions_.features.size()) return false;
    Source& source = decisions_.source[static_cast<size_t>(feature)];
    decisions_.features[decisions_.n++] = feature;
    Sums of_row{}, of_background{};
    source = Source::row;
    ++decisions_.n_of_row;
    bool within = proceed(Source::row, of_row);
    --decisions_.n_of_row;
    source = Source::background;
    within = within && proceed(Source::background, of_background);
    source = Source::free;
    --decisions_.n;
    pay_->settle(feature, of_row, of_background, sums);
    return within;
  }

  Hybrids hybrids() const { return {pair_.filled_x, pair_.filled_z, decisions_.source.data()}; }

  SplitTruths truths_;
  WideSplits wide_;
  const GameTree* tree_ = nullptr;
  RowPair pair_{};
  Pay* pay_ = nullptr;
  size_t boxes_left_ = 0;
  Decisions decisions_;
};

}  // namespace bevel
