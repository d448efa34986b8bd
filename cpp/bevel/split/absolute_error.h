// Absolute error: a side costs the weighted sum of the distances of its targets from their median.
// Rows are moved from the right side to the left one by one; each side keeps its median and the
// sums below it. Targets are represented by their rank among those of the forest, then among those
// of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "bevel/split/pair_score.h"
#include "bevel/support/check.h"

namespace bevel {

struct RankRowStats {
  uint32_t rank;  // rank of the target, ascending; equal targets have one rank
  int64_t weight;
};

// The distinct targets of a forest, ascending.
template <class Sum>
struct RankedTargets {
  std::vector<double> values;
  std::vector<Sum> grid;        // values that are summed: whole numbers if weights are
  std::vector<uint32_t> ranks;  // ranks of the rows
};

// Weights by rank, and their median. Blocks of ranks are skipped in one step.
template <class Sum>
class RunningMedian {
 public:
  // targets: by rank, ascending; they must outlive this object.
  void clear(const std::vector<Sum>& targets) {
    targets_ = targets.data();
    weight_.assign(targets.size(), 0);
    blocks_.assign(targets.size() / kBlock + 1, Block{});
    total_ = below_ = 0;
    sum_ = sum_below_ = 0;
    at_ = 0;
  }
  // change: may be negative, down to the current weight.
  void add(size_t rank, int64_t change) {
    const Sum value = static_cast<Sum>(change) * targets_[rank];
    weight_[rank] += change;
    blocks_[rank / kBlock].weight += change;
    blocks_[rank / kBlock].sum += value;
    total_ += change;
    sum_ += value;
    if (rank < at_) {
      below_ += change;
      sum_below_ += value;
    }
    move_to_median();
  }
  int64_t weight() const { return total_; }
  size_t median() const { return at_; }  // its rank
  // Weighted sum of the distances to the median.
  Sum error() const {
    const Sum here = targets_[at_];
    const Sum balance = static_cast<Sum>(2 * below_ + weight_[at_] - total_) * here;
    return balance + sum_ - sum_below_ - sum_below_ - static_cast<Sum>(weight_[at_]) * here;
  }

 private:
  static constexpr size_t kBlock = 64;
  struct Block {
    int64_t weight = 0;
    Sum sum = 0;
  };

  // At most half of the weight is below the median, and at most half above.
  void move_to_median() {
    while (2 * below_ > total_) {
      const Block* block = at_ % kBlock == 0 ? &blocks_[at_ / kBlock - 1] : nullptr;
      if (block && 2 * (below_ - block->weight) > total_) {
        at_ -= kBlock;
        below_ -= block->weight;
        sum_below_ -= block->sum;
      } else {
        --at_;
        below_ -= weight_[at_];
        sum_below_ -= static_cast<Sum>(weight_[at_]) * targets_[at_];
      }
    }
    while (2 * (below_ + weight_[at_]) < total_) {
      const Block* block = at_ % kBlock == 0 ? &blocks_[at_ / kBlock] : nullptr;
      if (block && 2 * (below_ + block->weight) < total_) {
        at_ += kBlock;
        below_ += block->weight;
        sum_below_ += block->sum;
      } else {
        below_ += weight_[at_];
        sum_below_ += static_cast<Sum>(weight_[at_]) * targets_[at_];
        ++at_;
      }
    }
  }

  const Sum* targets_ = nullptr;
  std::vector<int64_t> weight_;
  std::vector<Block> blocks_;
  int64_t total_ = 0, below_ = 0;  // below: of ranks before at_
  Sum sum_ = 0, sum_below_ = 0;
  size_t at_ = 0;
};

// Sum: int64_t for whole weights, double for real ones, whose products are not whole.
template <class Sum>
class AbsoluteCriterion {
 public:
  using RowStats = RankRowStats;
  static constexpr bool kIsPair = false;
  static constexpr bool kIsEntropy = false;
  static constexpr bool kPreciseGain = true;
  static constexpr bool kRejectsCuts = true;
  static constexpr bool kWeightsOnGrid = true;
  static constexpr bool kIsCount = false;

  AbsoluteCriterion(const RankedTargets<Sum>& all, double gain_factor)
      : all_(all), gain_factor_(gain_factor) {}

  void begin_node(const RowStats* stats, size_t n) {
    keys_.resize(n);
    for (size_t i = 0; i < n; ++i) keys_[i] = uint64_t{stats[i].rank} << 32 | i;
    std::sort(keys_.begin(), keys_.end());
    stats_.resize(n);
    ranks_.clear();
    weights_.clear();
    targets_.clear();
    weight_ = 0;
    for (const uint64_t key : keys_) {
      const auto rank = static_cast<uint32_t>(key >> 32);
      const auto row = static_cast<uint32_t>(key);
      if (ranks_.empty() || ranks_.back() != rank) {
        ranks_.push_back(rank);
        weights_.push_back(0);
        targets_.push_back(all_.grid[rank]);
      }
      weights_.back() += stats[row].weight;
      weight_ += stats[row].weight;
      stats_[row] = {static_cast<uint32_t>(ranks_.size()) - 1, stats[row].weight};
    }
    BEVEL_CHECK(n == 0 || weight_ > 0);
    whole_.clear(targets_);
    for (size_t r = 0; r < weights_.size(); ++r) whole_.add(r, weights_[r]);
  }
  const RowStats* stats() const { return stats_.data(); }
  double weight() const { return static_cast<double>(weight_); }
  bool is_regression() const { return true; }
  bool pure() const { return ranks_.size() == 1; }
  // Minus the error of a perfect cut.
  double perfect_score() const {
    return std::is_integral_v<Sum> ? 0.0 : std::numeric_limits<double>::infinity();
  }
  double gain(double score) const {
    return gain_factor_ * std::max(0.0, static_cast<double>(whole_.error()) + score);
  }
  // Required order of the medians of the sides, for the candidates searched next.
  void set_push(int push) { push_ = push; }
  // The weighted median; the midpoint of two targets with half of the weight on either side.
  double leaf_value() const {
    const size_t low = median_of(weights_, weight_);
    const double value = all_.values[ranks_[low]];
    int64_t below = 0;
    for (size_t r = 0; r <= low; ++r) below += weights_[r];
    if (2 * below != weight_) return value;
    return value + (all_.values[ranks_[low + 1]] - value) / 2.0;
  }

  class Accumulator {
   public:
    explicit Accumulator(const AbsoluteCriterion& criterion) : criterion_(criterion) {}
    void begin() {
      left_.clear(criterion_.targets_);
      right_ = criterion_.whole_;
    }
    void add(RowStats stats) {
      left_.add(stats.rank, stats.weight);
      right_.add(stats.rank, -stats.weight);
    }
    double weight() const { return static_cast<double>(left_.weight()); }
    double score() const {
      if (criterion_.push_ != 0 && is_against(criterion_.push_)) return kNoScore;
      return -static_cast<double>(left_.error() + right_.error());
    }
    bool may_reach(double) const { return true; }

   private:
    bool is_against(int push) const {
      return push > 0 ? left_.median() > right_.median() : left_.median() < right_.median();
    }

    const AbsoluteCriterion& criterion_;
    RunningMedian<Sum> left_, right_;
  };

  // Orders groups of rows by their medians; those of the levels of a nominal column. The best
  // subset need not be a prefix in this order, as it is for means and squared error.
  // rows: those of each group in turn, from start[g] to start[g + 1].
  void order_groups(const std::vector<uint32_t>& rows, const std::vector<size_t>& start,
                    std::vector<double>& keys) const {
    std::vector<RowStats> group;
    for (size_t g = 0; g + 1 < start.size(); ++g) {
      group.clear();
      int64_t total = 0;
      for (size_t i = start[g]; i < start[g + 1]; ++i) {
        group.push_back(stats_[rows[i]]);
        total += group.back().weight;
      }
      std::sort(group.begin(), group.end(),
                [](const RowStats& a, const RowStats& b) { return a.rank < b.rank; });
      std::vector<int64_t> weights;
      for (const RowStats& each : group) weights.push_back(each.weight);
      keys[g] = static_cast<double>(group[median_of(weights, total)].rank);
    }
  }

 private:
  // The first position up to which there is half of the weight.
  static size_t median_of(const std::vector<int64_t>& weights, int64_t total) {
    int64_t below = 0;
    for (size_t r = 0; r < weights.size(); ++r) {
      below += weights[r];
      if (2 * below >= total) return r;
    }
    return weights.size() - 1;
  }

  const RankedTargets<Sum>& all_;
  double gain_factor_;
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> ranks_;   // rank in the node -> rank in the forest
  std::vector<int64_t> weights_;  // by rank in the node
  std::vector<Sum> targets_;      // by rank in the node
  std::vector<RowStats> stats_;
  RunningMedian<Sum> whole_;  // the node
  int64_t weight_ = 0;
  int push_ = 0;
};

}  // namespace bevel
