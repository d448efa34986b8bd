#include "bevel/analysis/shapley/splits/pair_splits.h"

#include <algorithm>

#include "bevel/predict/reference_predictor.h"

namespace bevel {

void PairSplits::begin_tree(const GameTree& tree) {
  tree_ = &tree;
  wide_.begin_tree(tree);
  all_free_.assign(tree.features().size() + 1, Source::free);
  if (met_.size() < tree.n_nodes()) met_.resize(tree.n_nodes());
}

Met PairSplits::meet(int32_t node) {
  PairSplit& split = met_[n_met_];
  while (true) {
    const GameSplit& of_tree = tree_->split(static_cast<size_t>(node));
    if (of_tree.kind == SplitKind::leaf) return ~node;
    const Turn turn = read(node, split);
    if (turn == Turn::undecided) break;
    node = turn == Turn::left ? node + 1 : of_tree.right;
  }
  split.node = node;
  split.child[0] = split.child[1] = kUnknown;
  return static_cast<Met>(n_met_++);
}

Turn PairSplits::read(int32_t node, PairSplit& split) const {
  const GameSplit& of_tree = tree_->split(static_cast<size_t>(node));
  split.n_features = 0;
  switch (of_tree.kind == SplitKind::wide ? 0 : of_tree.n_features) {
    case 1:
      return read_single(node, split);
    case 2:
      return read_table<2>(of_tree, split);
    case 3:
      return read_table<3>(of_tree, split);
    case 4:
      return read_table<4>(of_tree, split);
    case 5:
      return read_table<5>(of_tree, split);
    case 6:
      return read_table<6>(of_tree, split);
    default:
      return wide_.turn(static_cast<size_t>(node), hybrids(all_free_.data()));
  }
}

Turn PairSplits::read_single(int32_t node, PairSplit& split) const {
  const GameSplit& of_tree = tree_->split(static_cast<size_t>(node));
  bool of_row, of_background;
  if (of_tree.is_category) {
    const size_t tree = tree_->number(), at = tree_->node_in_forest(static_cast<size_t>(node));
    of_row = goes_left(forest_, tree, at, pair_.x, 1);
    of_background = goes_left(forest_, tree, at, pair_.z, 1);
  } else {
    const GameSplit::Term& term = of_tree.terms[0];
    const float x = term.of(pair_.x);
    const float z = term.of(pair_.z);
    of_row = (x <= of_tree.threshold) | (of_tree.missing_left & (x != x));
    of_background = (z <= of_tree.threshold) | (of_tree.missing_left & (z != z));
  }
  if (of_row == of_background) return of_row ? Turn::left : Turn::right;
  split.left = of_row ? 2 : 1;
  split.choices = 3;
  split.n_features = 1;
  split.place[0] = 0;
  split.feature[0] = of_tree.terms[0].feature;
  return Turn::undecided;
}

// The sums are those of the reference predictor, in the same order. Rounded sums grow with each
// term, so that the least and the largest sum decide for all.
template <size_t kSize>
Turn PairSplits::read_table(const GameSplit& of_tree, PairSplit& split) const {
  float of_row[kSize], of_background[kSize];
  float low = 0.0f, high = 0.0f;
  for (size_t k = 0; k < kSize; ++k) {
    of_row[k] = of_tree.terms[k].of(pair_.filled_x);
    of_background[k] = of_tree.terms[k].of(pair_.filled_z);
    const float less = std::min(of_row[k], of_background[k]);
    const float more = std::max(of_row[k], of_background[k]);
    low = k == 0 ? less : low + less;
    high = k == 0 ? more : high + more;
  }
  if (high <= of_tree.threshold) return Turn::left;
  if (low > of_tree.threshold) return Turn::right;
  float sums[size_t{1} << kSize];
  sums[0] = of_background[0];
  sums[1] = of_row[0];
  for (size_t k = 1, size = 2; k < kSize; ++k, size *= 2)
    for (size_t T = 0; T < size; ++T) {
      sums[size + T] = sums[T] + of_row[k];
      sums[T] = sums[T] + of_background[k];
    }
  uint64_t word = 0;
  for (size_t T = 0; T < size_t{1} << kSize; ++T)
    word |= static_cast<uint64_t>(sums[T] <= of_tree.threshold) << T;
  if (of_tree.missing_left)
    for (size_t T = 0; T < size_t{1} << kSize; ++T)
      word |= static_cast<uint64_t>(sums[T] != sums[T]) << T;
  split.choices = kChoices[kSize];
  for (size_t k = 0; k < kSize; ++k) {
    if (((word ^ (word >> (1u << k))) & ~kTakesRow[k] & kChoices[kSize]) == 0) {
      split.choices &= ~kTakesRow[k];
      continue;
    }
    split.place[split.n_features] = static_cast<uint8_t>(k);
    split.feature[split.n_features++] = of_tree.terms[k].feature;
  }
  split.left = word & split.choices;
  if (split.n_features == 0) return word != 0 ? Turn::left : Turn::right;
  return Turn::undecided;
}

}  // namespace bevel
