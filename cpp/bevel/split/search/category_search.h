// Cuts on a nominal column: a subset of its levels goes left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/random/stream.h"
#include "bevel/split/chance_gain.h"
#include "bevel/split/criterion_concept.h"
#include "bevel/split/node_view.h"
#include "bevel/split/search/search_context.h"
#include "bevel/support/cancellation.h"

namespace bevel {

template <class Criterion>
class CategorySearch {
 public:
  using RowStats = typename Criterion::RowStats;

  explicit CategorySearch(const DatasetView& data) : data_(data) {}

  // A nominal column: levels in the order of their mean target (or median), cut like values. A
  // column of many levels has to gain more than the same levels gain on shuffled targets.
  void search(const NodeView& node, const Criterion& criterion, const SearchContext& c,
              int32_t feature, BestSplit& found) {
    node_ = &node;
    criterion_ = &criterion;
    poll_cancellation(node.n);
    const size_t n_groups = group_by_level(feature);
    if (n_groups < 2) return;
    rows_of_stats_ = nullptr;
    SearchContext own = c;
    Cut best_cut;
    own.best = &best_cut;
    size_t only_cut = 0;  // 0: all of them
    if (node.threshold == ThresholdRule::best)
      order_levels(n_groups);
    else
      only_cut = random_subset(static_cast<size_t>(c.candidate), n_groups);
    const size_t best = cut(own, n_groups, only_cut);
    if (!best || !beats(best_cut, found.cut)) return;
    if (only_cut == 0 && n_groups > kFewLevels) {
      const std::vector<int32_t> order = order_;
      if (!subtract_chance(best_cut, own, n_groups) || !beats(best_cut, found.cut)) return;
      order_ = order;
    }
    found.cut = best_cut;
    keep_levels(feature, n_groups, best, found);
  }

 private:
  // Without sums that tell the score of a level, its rows are added one by one.
  static constexpr bool kByRows = OrdersByRows<Criterion>;

  void order_levels(size_t n_groups) {
    keys_.resize(n_groups);
    if constexpr (kByRows)
      criterion_->order_groups(rows_, start_, keys_);
    else
      criterion_->order_keys(cells_, n_groups, keys_);
    order_.resize(n_groups);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [this](int32_t a, int32_t b) {
      return keys_[a] != keys_[b] ? keys_[a] < keys_[b] : group_level_[a] < group_level_[b];
    });
  }
  size_t cut(const SearchContext& c, size_t n_groups, size_t only_cut) {
    if constexpr (kByRows)
      return cut_by_rows(c, n_groups, only_cut);
    else
      return cut_by_moments(c, n_groups, only_cut);
  }

  // Subtracts what the levels gain by chance (chance_gain.h); false if nothing is left.
  bool subtract_chance(Cut& of, const SearchContext& c, size_t n_groups) {
    Cut by_chance;
    SearchContext own = c;
    own.best = &by_chance;
    shuffle_rows(c.candidate);
    order_levels(n_groups);
    if (!cut(own, n_groups, 0)) return true;
    const double gain = criterion_->gain(of.score);
    const double left = gain - chance_share(n_groups) * criterion_->gain(by_chance.score);
    if (!(left > 0.0)) return false;
    // Gains are linear in scores.
    const double step = std::max(1.0, std::abs(of.score));
    const double gain_per_score = (criterion_->gain(of.score + step) - gain) / step;
    of.score -= (gain - left) / gain_per_score;
    of.beyond_chance = left / gain;
    return true;
  }
  // Gives each row of the node what another one adds to the sums, and adds up the levels again.
  void shuffle_rows(int32_t candidate) {
    Stream stream(mix(node_->key + static_cast<uint64_t>(candidate)), Purpose::permutation);
    shuffled_.resize(node_->n);
    std::iota(shuffled_.begin(), shuffled_.end(), 0u);
    for (size_t i = node_->n; i > 1; --i) std::swap(shuffled_[i - 1], shuffled_[stream.below(i)]);
    rows_of_stats_ = shuffled_.data();
    if constexpr (!kByRows) {
      std::fill(cells_.begin(), cells_.end(), 0.0);
      const size_t m = criterion_->n_moments();
      for (size_t i = 0; i < node_->n; ++i)
        criterion_->add_moments(&cells_[static_cast<size_t>(row_group_[i]) * m], stats_of(i));
    } else {
      for (uint32_t& row : rows_) row = shuffled_[row];
    }
  }
  // What a row of the node adds, or, once they are shuffled, the row in its place.
  const RowStats& stats_of(size_t row) const {
    return criterion_->stats()[rows_of_stats_ ? rows_of_stats_[row] : row];
  }

  // Offers the cuts after each group in turn; returns the groups left of the best, 0: none is.
  size_t cut_by_moments(const SearchContext& c, size_t n_groups, size_t only_cut)
    requires(!kByRows)
  {
    const size_t m = criterion_->n_moments();
    left_moments_.assign(m, 0.0);
    Prefix prefix(*criterion_);
    prefix.begin(*this);
    size_t rows_left = 0;
    size_t best = 0;
    for (size_t g = 0; g + 1 < n_groups; ++g) {
      for (size_t k = 0; k < m; ++k) left_moments_[k] += cells_[order_[g] * m + k];
      prefix.add(*this, order_[g]);
      rows_left += group_rows_[order_[g]];
      if (only_cut && g + 1 != only_cut) continue;
      const Cut last = *c.best;
      c.offer(prefix.score(left_moments_.data()), rows_left,
              criterion_->moments_weight(left_moments_.data()), 0.0f, 0.0f);
      if (beats(*c.best, last)) best = g + 1;
    }
    return best;
  }
  size_t cut_by_rows(const SearchContext& c, size_t n_groups, size_t only_cut)
    requires(kByRows)
  {
    typename Criterion::Accumulator left(*criterion_);
    left.begin();
    size_t rows_left = 0;
    size_t best = 0;
    for (size_t g = 0; g + 1 < n_groups; ++g) {
      const auto group = static_cast<size_t>(order_[g]);
      for (size_t i = start_[group]; i < start_[group + 1]; ++i)
        left.add(criterion_->stats()[rows_[i]]);
      rows_left += group_rows_[group];
      if (only_cut && g + 1 != only_cut) continue;
      const Cut last = *c.best;
      c.offer(left.score(), rows_left, left.weight(), 0.0f, 0.0f);
      if (beats(*c.best, last)) best = g + 1;
    }
    return best;
  }

  // Lists the rows of the node by their group, start_[g] to start_[g + 1].
  void list_rows() {
    start_.assign(group_rows_.size() + 1, 0);
    for (size_t g = 0; g < group_rows_.size(); ++g) start_[g + 1] = start_[g] + group_rows_[g];
    std::vector<size_t> next(start_.begin(), start_.end() - 1);
    rows_.resize(groups_.size());
    for (size_t i = 0; i < groups_.size(); ++i)
      rows_[next[static_cast<size_t>(groups_[i])]++] = static_cast<uint32_t>(i);
  }

  // Scores the levels on the left by their sums.
  struct SumsOfPrefix {
    explicit SumsOfPrefix(const Criterion& from) : criterion(from) {}
    void begin(const CategorySearch&) {}
    void add(const CategorySearch&, int32_t) {}
    double score(const double* left) const { return criterion.moments_score(left); }
    const Criterion& criterion;
  };
  // Scores the levels on the left by adding their rows, for criteria that sums do not suffice for.
  struct RowsOfPrefix {
    explicit RowsOfPrefix(const Criterion& criterion) : left(criterion) {}
    void begin(const CategorySearch& from) {
      search = &from;
      left.begin();
      rows.resize(from.group_rows_.size());
      for (size_t i = 0; i < from.row_group_.size(); ++i)
        rows[from.row_group_[i]].push_back(static_cast<uint32_t>(i));
    }
    void add(const CategorySearch&, int32_t group) {
      for (uint32_t i : rows[group]) left.add(search->stats_of(i));
    }
    double score(const double*) const { return left.score(); }
    const CategorySearch* search = nullptr;
    typename Criterion::Accumulator left;
    std::vector<std::vector<uint32_t>> rows;
  };
  static constexpr bool kNeedsRows = !kByRows && !ScoresByMoments<Criterion>;
  using Prefix = std::conditional_t<kNeedsRows, RowsOfPrefix, SumsOfPrefix>;

  // Sums per level that is present in the node, in the order of first appearance.
  size_t group_by_level(int32_t feature) {
    const float* codes = node_->columns[feature];
    size_t m = 0;
    if constexpr (!kByRows) m = criterion_->n_moments();
    if (group_of_.size() < static_cast<size_t>(data_.levels[feature]))
      group_of_.resize(static_cast<size_t>(data_.levels[feature]), -1);
    group_level_.clear();
    group_rows_.clear();
    cells_.clear();
    groups_.clear();
    row_group_.clear();
    [[maybe_unused]] const RowStats* stats = criterion_->stats();
    for (size_t i = 0; i < node_->n; ++i) {
      const auto level = static_cast<int32_t>(codes[node_->rows[i]]);
      int32_t& group = group_of_[level];
      if (group < 0) {
        group = static_cast<int32_t>(group_level_.size());
        group_level_.push_back(level);
        group_rows_.push_back(0);
        cells_.resize(cells_.size() + m, 0.0);
      }
      if constexpr (!kByRows) row_group_.push_back(group);
      ++group_rows_[group];
      if constexpr (kByRows)
        groups_.push_back(group);
      else
        criterion_->add_moments(&cells_[group * m], stats[i]);
    }
    for (int32_t level : group_level_) group_of_[level] = -1;
    if constexpr (kByRows) list_rows();
    return group_level_.size();
  }

  // Shuffles the levels; returns how many go left, each subset but none and all being as likely.
  size_t random_subset(size_t candidate, size_t n_groups) {
    Stream stream(mix(node_->key + candidate), Purpose::thresholds);
    std::vector<int32_t> left, right;
    do {
      left.clear();
      right.clear();
      for (size_t g = 0; g < n_groups; ++g)
        (stream.next() & 1 ? left : right).push_back(static_cast<int32_t>(g));
    } while (left.empty() || right.empty());
    order_.resize(n_groups);
    std::copy(left.begin(), left.end(), order_.begin());
    std::copy(right.begin(), right.end(), order_.begin() + static_cast<ptrdiff_t>(left.size()));
    return left.size();
  }

  // Levels that are not in the node go with the heavier child.
  void keep_levels(int32_t feature, size_t n_groups, size_t n_left, BestSplit& found) {
    const bool heavier_left = found.cut.weight_left * 2.0 >= criterion_->weight();
    found.levels.reset(data_.levels[feature]);
    std::vector<uint8_t> in_node(static_cast<size_t>(data_.levels[feature]), 0);
    for (size_t g = 0; g < n_groups; ++g) in_node[group_level_[order_[g]]] = g < n_left ? 2 : 1;
    for (int32_t level = 0; level < data_.levels[feature]; ++level)
      if (in_node[level] == 2 || (in_node[level] == 0 && heavier_left)) found.levels.insert(level);
  }

  const DatasetView& data_;

  // The node being searched.
  const NodeView* node_ = nullptr;
  const Criterion* criterion_ = nullptr;
  const uint32_t* rows_of_stats_ = nullptr;  // null: each row has its own

  std::vector<int32_t> group_of_, group_level_, order_, row_group_;
  std::vector<size_t> group_rows_;
  std::vector<double> cells_, keys_, left_moments_;
  std::vector<int32_t> groups_;  // of the rows, where they are listed by group
  std::vector<uint32_t> rows_, shuffled_;
  std::vector<size_t> start_;
};

}  // namespace bevel
