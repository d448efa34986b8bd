// Exact Shapley values of one tree, for a row x and a background row z.
//
// A coalition S stands for the hybrid row that has x's values on S and z's elsewhere. Walking down
// the tree with features still free, as many features of a split are decided as needed to send all
// hybrids to one side: a free feature that could change the side is decided both ways. A leaf is
// thus reached by a few disjoint boxes {S : A within S, B outside S}. Where d features differ there
// are 2^d of them at most, and in a tree of single features not more than leaves.
//
// In a box, a leaf's model has the values of z on the free features, and the change from z to x of
// the term of a free feature counts for the coalitions of the box that have the feature: another
// box, of which the feature is decided too.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/splits/pair_splits.h"
#include "bevel/analysis/shapley/splits/wide_splits.h"
#include "bevel/support/cancellation.h"

namespace bevel {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

// The decisions on the path to a box; features are numbered as in the tree.
struct Decisions {
  std::vector<Source> source;     // and a free one, of no feature
  std::vector<int32_t> features;  // the first `n` are decided
  size_t n = 0, n_of_row = 0;     // |A| + |B|, |A|

  size_t n_of_background() const { return n - n_of_row; }
};

// Pays for a box at a leaf with a model, whose terms are worth of_row(term) for coalitions with
// their feature and of_other(term) without it.
template <class Payoff, class OfRow, class OfOther>
void pay_model(const GameTree& tree, const GameSplit& leaf, OfRow of_row, OfOther of_other,
               Decisions& decisions, Payoff& payoff, typename Payoff::Sums& sums) {
  using Sums = typename Payoff::Sums;
  double value[Payoff::kWidth] = {*tree.values_of(leaf)};  // models have one column
  for (const LeafTerm& term : tree.terms_of(leaf)) {
    const int32_t feature = tree.local(term.feature);
    Source& source = decisions.source[static_cast<size_t>(feature)];
    const double with = of_row(term), without = of_other(term);
    value[0] += source == Source::row ? with : without;
    if (source != Source::free || with == without) continue;
    const double change[Payoff::kWidth] = {with - without};
    source = Source::row;
    decisions.features[decisions.n++] = feature;
    ++decisions.n_of_row;
    Sums below{};
    payoff.add_leaf(change, decisions, below);
    --decisions.n_of_row;
    --decisions.n;
    source = Source::free;
    payoff.add_split(feature, below, Sums{}, sums);
  }
  payoff.add_leaf(value, decisions, sums);
}

// `Payoff` has the type Sums, the number kWidth of values that it reads at least, add_leaf(values,
// decisions, sums), which may add to the sums of the boxes below a decision, and add_split(feature,
// of_row, of_background, sums) with the sums below both sides of one.
template <class Payoff>
class BoxGames {
 public:
  using Sums = typename Payoff::Sums;

  BoxGames(const ForestArrays& forest, size_t most_decided) : splits_(forest) {
    decisions_.features.resize(most_decided + 1);  // and a feature of a leaf's model
  }

  void begin_tree(const GameTree& tree) {
    tree_ = &tree;
    decisions_.source.assign(tree.features().size() + 1, Source::free);
    splits_.begin_tree(tree);
  }

  // Pays for all boxes of a pair of rows; false, with some of them paid, if there are more than
  // allowed.
  bool play(const RowPair& pair, size_t most_boxes, Payoff& payoff) {
    payoff_ = &payoff;
    pair_ = pair;
    boxes_left_ = most_boxes;
    Sums sums{};
    return visit(splits_.begin_pair(pair), sums);
  }

 private:
  static constexpr size_t kWorkOfBox = 64, kBoxesBetweenPolls = 256;
  static_assert(kMaxTabulated == 6);
  // Open choices T, by feature of a split and source.
  static constexpr uint64_t kOpen[6][3] = {
      {~kTakesRow[0], kTakesRow[0], ~uint64_t{0}}, {~kTakesRow[1], kTakesRow[1], ~uint64_t{0}},
      {~kTakesRow[2], kTakesRow[2], ~uint64_t{0}}, {~kTakesRow[3], kTakesRow[3], ~uint64_t{0}},
      {~kTakesRow[4], kTakesRow[4], ~uint64_t{0}}, {~kTakesRow[5], kTakesRow[5], ~uint64_t{0}}};

  bool visit(Met at, Sums& sums) {
    while (at >= 0) {
      const PairSplit& split = splits_[at];
      if (split.n_features == 1) {
        const Source source = source_of(split.feature[0]);
        if (source == Source::free) return decide_single(at, sums);
        at = splits_.child(at, side_of(split, source));
      } else if (split.n_features > 0) {
        const uint64_t open = open_choices(split), left = split.left & open;
        if (left != 0 && left != open) return decide_by(at, open, left, sums);
        at = splits_.child(at, left != 0 ? 0 : 1);
      } else {
        const auto node = static_cast<size_t>(split.node);
        const Turn turn = splits_.wide().turn(node, hybrids());
        if (turn == Turn::undecided) return decide_wide(at, sums);
        at = splits_.child(at, turn == Turn::left ? 0 : 1);
      }
    }
    return add_leaf(tree_->split(static_cast<size_t>(~at)), sums);
  }

  Source source_of(int32_t feature) const {
    return decisions_.source[static_cast<size_t>(feature)];
  }

  // The side to which a split of one feature sends the hybrids of a source.
  static size_t side_of(const PairSplit& split, Source source) {
    const uint64_t chosen = kOpen[split.place[0]][static_cast<size_t>(source)];
    return (split.left & chosen) != 0 ? 0 : 1;
  }

  // Choices T that agree with the decisions.
  uint64_t open_choices(const PairSplit& split) const {
    uint64_t open = split.choices;
    for (size_t i = 0; i < split.n_features; ++i)
      open &= kOpen[split.place[i]][static_cast<size_t>(source_of(split.feature[i]))];
    return open;
  }

  bool add_leaf(const GameSplit& leaf, Sums& sums) {
    if (boxes_left_-- == 0) return false;
    if (boxes_left_ % kBoxesBetweenPolls == 0) poll_cancellation(kBoxesBetweenPolls * kWorkOfBox);
    if (leaf.n_terms > 0)
      add_model(leaf, sums);
    else
      payoff_->add_leaf(tree_->values_of(leaf), decisions_, sums);
    return true;
  }

  void add_model(const GameSplit& leaf, Sums& sums) {
    pay_model(
        *tree_, leaf, [this](const LeafTerm& term) { return value_of(term, pair_.filled_x); },
        [this](const LeafTerm& term) { return value_of(term, pair_.filled_z); }, decisions_,
        *payoff_, sums);
  }
  static double value_of(const LeafTerm& term, const float* row) {
    const float x = row[static_cast<size_t>(term.feature)];
    return term.value(x, x);
  }

  bool decide_single(Met at, Sums& sums) {
    return decide(splits_[at].feature[0], sums, [&, this](Source source, Sums& below) {
      return visit(splits_.child(at, side_of(splits_[at], source)), below);
    });
  }

  // Decides the feature of a split on which the side depends in most of the open choices.
  bool decide_by(Met at, uint64_t open, uint64_t left, Sums& sums) {
    const PairSplit& split = splits_[at];
    const size_t i = most_moving(split, open, left);
    return decide(split.feature[i], sums, [&, this](Source source, Sums& below) {
      const uint64_t chosen = kOpen[split.place[i]][static_cast<size_t>(source)];
      const uint64_t still_open = open & chosen, still_left = left & chosen;
      if (still_left != 0 && still_left != still_open)
        return decide_by(at, still_open, still_left, below);
      return visit(splits_.child(at, still_left != 0 ? 0 : 1), below);
    });
  }

  static size_t most_moving(const PairSplit& split, uint64_t open, uint64_t left) {
    size_t best = 0;
    int most = 0;
    for (size_t i = 0; i < split.n_features; ++i) {
      const size_t k = split.place[i];
      const uint64_t both = open & (open >> (1u << k)) & ~kTakesRow[k];  // free: open both ways
      const int n = std::popcount((left ^ (left >> (1u << k))) & both);
      if (n > most) {
        most = n;
        best = i;
      }
    }
    return best;
  }

  bool decide_wide(Met at, Sums& sums) {
    poll_cancellation(kWorkOfBox);
    const auto node = static_cast<size_t>(splits_[at].node);
    splits_.wide().add_reach(node, hybrids());
    const int32_t feature = splits_.wide().widest(node);
    if (feature < 0) return visit(splits_.child(at, 1), sums);
    return decide(feature, sums, [&](Source, Sums& below) { return visit(at, below); });
  }

  // Calls proceed(source, sums) for both sources of a feature, unless the first is false.
  template <class Continue>
  bool decide(int32_t feature, Sums& sums, Continue proceed) {
    if (decisions_.n + 1 == decisions_.features.size()) return false;
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
    payoff_->add_split(feature, of_row, of_background, sums);
    return within;
  }

  Hybrids hybrids() const { return splits_.hybrids(decisions_.source.data()); }

  PairSplits splits_;
  const GameTree* tree_ = nullptr;
  Payoff* payoff_ = nullptr;
  RowPair pair_{};
  size_t boxes_left_ = 0;
  Decisions decisions_;
};

}  // namespace bevel
