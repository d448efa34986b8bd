#include "bevel/analysis/shapley/game_tree.h"

#include <algorithm>
#include <span>

#include "bevel/support/cancellation.h"
#include "bevel/tree/node_store.h"

namespace bevel {
namespace {

bool are_different(std::span<const int32_t> few) {
  for (size_t k = 1; k < few.size(); ++k)
    if (std::find(few.begin(), few.begin() + static_cast<ptrdiff_t>(k), few[k]) !=
        few.begin() + static_cast<ptrdiff_t>(k))
      return false;
  return true;
}

}  // namespace

void GameTree::read(size_t tree) {
  tree_ = tree;
  offset_ = static_cast<size_t>(forest_.tree_offset[tree]);
  for (const int32_t feature : features_) local_[static_cast<size_t>(feature)] = -1;
  features_.clear();
  leaf_values_.clear();
  leaf_terms_.clear();
  is_axis_aligned_ = true;
  splits_.assign(static_cast<size_t>(forest_.tree_offset[tree + 1]) - offset_, GameSplit{});
  for (size_t node = 0; node < splits_.size(); ++node) {
    poll_cancellation(16);
    splits_[node].right = forest_.right[offset_ + node];
    if (splits_[node].right < 0)
      add_leaf(node);
    else
      add_split(node);
  }
}

void GameTree::add_leaf(size_t node) {
  splits_[node].first_value = static_cast<uint32_t>(leaf_values_.size());
  leaf_values_.resize(leaf_values_.size() + n_columns_, 0.0);
  double* values = &leaf_values_[splits_[node].first_value];
  leaf_output_.each(offset_ + node, [&](size_t column, double v) { values[column] += v; });
  if (!leaf_output_.has_models()) return;
  splits_[node].first_term = static_cast<uint32_t>(leaf_terms_.size());
  for (int64_t e = forest_.entry_offset[offset_ + node];
       e < forest_.entry_offset[offset_ + node + 1]; ++e) {
    leaf_terms_.push_back(forest_.leaf_term(e));
    add_feature(leaf_terms_.back().feature);
    ++splits_[node].n_terms;
  }
}

void GameTree::add_split(size_t node) {
  GameSplit& split = splits_[node];
  each_feature(node, [&](int32_t feature) { add_feature(feature); });
  const auto first = forest_.entry_offset[offset_ + node];
  const auto n = static_cast<size_t>(forest_.entry_offset[offset_ + node + 1] - first);
  const auto entries = forest_.entry_index.subspan(static_cast<size_t>(first), n);
  const bool plain = std::all_of(entries.begin(), entries.end(),
                                 [&](int32_t i) { return i < forest_.n_features; });
  const bool single = plain && n == 1;
  is_axis_aligned_ &= single;
  split.kind = single ? SplitKind::single : SplitKind::wide;
  if (plain && n > 1 && n <= kMaxTabulated && are_different(entries)) split.kind = SplitKind::table;
  if (split.kind == SplitKind::wide) return;
  split.n_features = static_cast<uint8_t>(n);
  for (size_t k = 0; k < n; ++k)
    split.terms[k] = {local(entries[k]), entries[k],
                      forest_.entry_weight[static_cast<size_t>(first) + k],
                      forest_.level_of_entry(static_cast<size_t>(first) + k)};
  split.threshold = forest_.threshold[offset_ + node];
  split.missing_left = forest_.flags[offset_ + node] & kMissingLeft;
  split.is_category = forest_.flags[offset_ + node] & kCategoryNode;
}

void GameTree::add_feature(int32_t feature) {
  int32_t& place = local_[static_cast<size_t>(feature)];
  if (place >= 0) return;
  place = static_cast<int32_t>(features_.size());
  features_.push_back(feature);
}

}  // namespace bevel
