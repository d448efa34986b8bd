// Survival: how far the event times of the two sides of a cut differ.
//
//   LogRankCriterion       the log-rank statistic itself          O(log m) per row, m event times
//   LogRankScoreCriterion  the statistic of the node's log-rank   the searches of squared error
//                          scores (Hothorn & Lausen 2003)
//
// With n_k rows at risk at event time k, d_k of them with an event, and on the left n1_k, d1_k:
//
//   statistic = U^2 / V,   U = sum of d1_k - n1_k d_k / n_k,   V = sum of c_k n1_k (n_k - n1_k),
//   c_k = d_k (n_k - d_k) / (n_k^2 (n_k - 1))
//
// U is the sum of the scores a_i = event - H(t_i) of the rows on the left, H being Nelson-Aalen of
// the node. The scores alone, with the variance that they have when rows are shuffled, give the
// second statistic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bevel/split/criterion.h"
#include "bevel/support/risk_sets.h"

namespace bevel {

// Sums of a pair over positions 0 .. k, where pairs are added at any position.
class FenwickPairs {
 public:
  struct Pair {
    double first = 0.0, second = 0.0;
  };

  void clear(size_t n) { tree_.assign(n + 1, {}); }
  void add(size_t position, double first, double second) {
    for (size_t i = position + 1; i < tree_.size(); i += i & (~i + 1)) {
      tree_[i].first += first;
      tree_[i].second += second;
    }
  }
  Pair sum(size_t position) const {
    Pair out;
    for (size_t i = position + 1; i > 0; i &= i - 1) {
      out.first += tree_[i].first;
      out.second += tree_[i].second;
    }
    return out;
  }

 private:
  std::vector<Pair> tree_;
};

// What both criteria have in common.
class SurvivalNode {
 public:
  using Carried = SurvivalRow;

  // No event: nothing tells rows apart.
  bool pure() const { return sets_.size() == 0; }
  // Jumps of the hazard, for a leaf: calls emit(number of the event time, jump).
  template <class Emit>
  void hazard_jumps(Emit emit) const {
    for (size_t k = 0; k < sets_.size(); ++k)
      emit(static_cast<int32_t>(sets_.rank(k)) - 1, sets_.jump(k));
  }

 protected:
  RiskSets sets_;
};

class LogRankCriterion : public SurvivalNode {
 public:
  struct RowStats {
    double weight, score;  // the score times the weight
    uint32_t up_to;
  };
  static constexpr bool kIsPair = false;
  static constexpr bool kIsEntropy = false;
  static constexpr bool kPreciseGain = true;
  // A cut is scored by adding rows, not from sums over groups of rows.
  static constexpr bool kNeedsRows = true;

  // whole: weights are multiplicities, as many rows as they say. Others say what rows count.
  explicit LogRankCriterion(bool whole) : whole_(whole) {}

  void begin_node(const SurvivalRow* rows, size_t n) {
    sets_.fill(rows, n);
    stats_.resize(n);
    for (size_t i = 0; i < n; ++i)
      stats_[i] = {rows[i].weight, rows[i].weight * sets_.score(rows, i), sets_.up_to(i)};
    curvature_.assign(1, 0.0);
    slope_.assign(1, 0.0);
    for (size_t k = 0; k < sets_.size(); ++k) {
      const double c = factor(k);
      curvature_.push_back(curvature_.back() + c);
      slope_.push_back(slope_.back() + c * sets_.at_risk(k));
    }
  }
  const RowStats* stats() const { return stats_.data(); }
  double weight() const { return sets_.total_weight(); }
  bool is_regression() const { return true; }
  double perfect_score() const { return std::numeric_limits<double>::infinity(); }
  double gain(double score) const { return std::max(score, 0.0); }

  class Accumulator {
   public:
    explicit Accumulator(const LogRankCriterion& criterion) : criterion_(criterion) {}
    void begin() {
      left_.clear(criterion_.sets_.size());
      weight_ = sum_ = variance_ = at_risk_ = 0.0;
    }
    void add(const RowStats& row) {
      weight_ += row.weight;
      sum_ += row.score;
      if (row.up_to == 0) return;  // censored before the first event
      const double w = row.weight, c = criterion_.curvature_[row.up_to];
      const size_t last = row.up_to - 1;
      // Sum over the row's event times of c_k n1_k, before it is there.
      const FenwickPairs::Pair up_to = left_.sum(last);
      const double overlap = up_to.first + c * (at_risk_ - up_to.second);
      variance_ += w * (criterion_.slope_[row.up_to] - w * c - 2.0 * overlap);
      left_.add(last, w * c, w);
      at_risk_ += w;
    }
    double weight() const { return weight_; }
    double score() const {
      // Below this it is what rounding has left of zero.
      const double least = 1e-12 * criterion_.slope_.back() * criterion_.weight();
      return variance_ > least ? sum_ * sum_ / variance_ : kNoScore;
    }
    bool may_reach(double) const { return true; }

   private:
    const LogRankCriterion& criterion_;
    FenwickPairs left_;  // by last event time: w c, w
    double weight_ = 0.0, sum_ = 0.0, variance_ = 0.0, at_risk_ = 0.0;
  };

  // Levels are ordered by their mean score.
  size_t n_moments() const { return 2; }
  void add_moments(double* cell, const RowStats& stats) const {
    cell[0] += stats.weight;
    cell[1] += stats.score;
  }
  double moments_weight(const double* cell) const { return cell[0]; }
  void order_keys(const std::vector<double>& cells, size_t n, std::vector<double>& keys) const {
    for (size_t g = 0; g < n; ++g) keys[g] = cells[2 * g + 1] / cells[2 * g];
  }

 private:
  double factor(size_t k) const {
    const double n = sets_.at_risk(k), d = sets_.deaths(k);
    if (whole_) return n > 1.0 ? d * (n - d) / (n * n * (n - 1.0)) : 0.0;
    // The same for weights of one, and alike for all multiples of the weights.
    const auto rows = static_cast<double>(sets_.n_at_risk(k));
    return rows > 1.0 ? d * std::max(0.0, n - d) * rows / (n * n * n * (rows - 1.0)) : 0.0;
  }

  bool whole_;
  std::vector<RowStats> stats_;
  std::vector<double> curvature_, slope_;  // sums of c_k and c_k n_k over the first event times
};

class LogRankScoreCriterion : public SurvivalNode, public WideCriterion {
 public:
  // A score is at most 1, and H of up to 2^31 rows at least -23.
  static constexpr double kLargestScore = 32.0;

  // Grids of weights and of weights times scores; whole: the weights are whole numbers.
  LogRankScoreCriterion(double weight_scale, double score_scale, bool whole)
      : WideCriterion(1.0, true),
        weight_scale_(weight_scale),
        score_scale_(score_scale),
        whole_(whole) {}

  void begin_node(const SurvivalRow* rows, size_t n) {
    sets_.fill(rows, n);
    scores_.resize(n);
    squares_ = 0.0;
    for (size_t i = 0; i < n; ++i) {
      const double score = sets_.score(rows, i), weight = rows[i].weight;
      squares_ += weight * (score * score);
      if (whole_) {
        const auto times = static_cast<int64_t>(weight);
        scores_[i] = {times, times * std::llround(score * score_scale_)};
      } else {
        scores_[i] = {std::max<int64_t>(1, std::llround(weight * weight_scale_)),
                      std::llround(weight * score * score_scale_)};
      }
    }
    WideCriterion::begin_node(scores_.data(), n);
  }
  // All rows have the same score when none is left.
  bool pure() const { return SurvivalNode::pure() || !(squares_ > 0.0); }
  // The statistic, with the scores' variance per unit of weight.
  double gain(double score) const {
    const double unit = weight_scale_ / (score_scale_ * score_scale_);
    const double removed = WideCriterion::gain(score) * unit;
    return std::max(0.0, removed * (sets_.total_weight() / squares_));
  }

 private:
  double weight_scale_, score_scale_;
  bool whole_;
  double squares_ = 0.0;
  std::vector<WidePair> scores_;
};

}  // namespace bevel
