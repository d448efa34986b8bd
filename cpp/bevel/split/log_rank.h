// Survival: difference of the event times of the two sides of a cut.
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
//
// Rows that enter late are at risk from then on. With several causes the statistics of all causes
// are added up, each with the other events as censoring: it is large where the hazard of any cause
// differs (chi-squared, one degree of freedom for each cause).
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

// Base of both criteria.
class SurvivalNode {
 public:
  using Carried = SurvivalRow;

  // Without an event rows cannot be distinguished.
  bool pure() const { return sets_.size() == 0; }
  size_t n_causes() const { return sets_.n_causes(); }
  // Jumps of the hazards, for a leaf: calls emit(number of the event time, cause, jump).
  template <class Emit>
  void hazard_jumps(Emit emit) const {
    for (size_t k = 0; k < sets_.size(); ++k)
      for (size_t cause = 0; cause < sets_.n_causes(); ++cause)
        if (sets_.deaths(k, cause) > 0.0)
          emit(static_cast<int32_t>(sets_.rank(k)) - 1, cause, sets_.jump(k, cause));
  }

 protected:
  RiskSets sets_;
};

class LogRankCriterion : public SurvivalNode {
 public:
  struct RowStats {
    double weight;
    double score;  // times the weight; with several causes the number of the row's event
    uint32_t up_to, entered;
  };
  // Sums of c_k and c_k n_k over the first event times, for one cause.
  struct FactorSums {
    std::vector<double> curvature, slope;
  };

  static constexpr bool kIsPair = false;
  static constexpr bool kIsEntropy = false;
  static constexpr bool kPreciseGain = true;
  static constexpr bool kRejectsCuts = false;
  static constexpr bool kWeightsOnGrid = false;
  static constexpr bool kIsCount = false;

  // whole: weights are multiplicities of rows. Otherwise they are real.
  explicit LogRankCriterion(bool whole, size_t n_causes = 1) : whole_(whole), sums_(n_causes) {}

  void begin_node(const SurvivalRow* rows, size_t n) {
    sets_.fill(rows, n, sums_.size());
    stats_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const double score = sums_.size() > 1 ? rows[i].event : rows[i].weight * sets_.score(rows, i);
      stats_[i] = {rows[i].weight, score, sets_.up_to(i), sets_.entered(i)};
    }
    for (size_t cause = 0; cause < sums_.size(); ++cause) {
      FactorSums& sums = sums_[cause];
      sums.curvature.assign(1, 0.0);
      sums.slope.assign(1, 0.0);
      for (size_t k = 0; k < sets_.size(); ++k) {
        const double c = factor(k, cause);
        sums.curvature.push_back(sums.curvature.back() + c);
        sums.slope.push_back(sums.slope.back() + c * sets_.at_risk(k));
      }
    }
  }
  const RowStats* stats() const { return stats_.data(); }
  double weight() const { return sets_.total_weight(); }
  bool is_regression() const { return true; }
  double perfect_score() const { return std::numeric_limits<double>::infinity(); }
  double gain(double score) const { return std::max(score, 0.0); }

  class Accumulator {
   public:
    explicit Accumulator(const LogRankCriterion& criterion)
        : criterion_(criterion), parts_(criterion.sums_.size()) {}
    void begin() {
      weight_ = 0.0;
      for (Part& part : parts_) {
        part.left.clear(criterion_.sets_.size());
        part.sum = part.variance = part.at_risk = 0.0;
      }
    }
    void add(const RowStats& row) {
      weight_ += row.weight;
      if (parts_.size() == 1) return add(parts_[0], criterion_.sums_[0], row, row.score);
      for (size_t cause = 0; cause < parts_.size(); ++cause)
        add(parts_[cause], criterion_.sums_[cause], row, criterion_.cause_score(row, cause));
    }
    double weight() const { return weight_; }
    double score() const {
      double total = kNoScore;
      for (size_t cause = 0; cause < parts_.size(); ++cause) {
        const Part& part = parts_[cause];
        // Smaller values are rounding errors of zero.
        const double least = 1e-12 * criterion_.sums_[cause].slope.back() * criterion_.weight();
        if (!(part.variance > least)) continue;
        const double statistic = part.sum * part.sum / part.variance;
        total = total == kNoScore ? statistic : total + statistic;
      }
      return total;
    }
    bool may_reach(double) const { return true; }

   private:
    // Sums over the rows on the left for one cause.
    struct Part {
      FenwickPairs left;  // by last event time: w c, w; by that before the entry: the negatives
      double sum = 0.0, variance = 0.0, at_risk = 0.0;
    };

    static void add(Part& part, const FactorSums& sums, const RowStats& row, double score) {
      part.sum += score;
      if (row.up_to == 0) return;  // censored before the first event
      const double w = row.weight, c = sums.curvature[row.up_to];
      const size_t last = row.up_to - 1;
      // Sum over the row's event times of c_k n1_k, before the row is added.
      const FenwickPairs::Pair up_to = part.left.sum(last);
      double overlap = up_to.first + c * (part.at_risk - up_to.second);
      if (row.entered == 0) {
        part.variance += w * (sums.slope[row.up_to] - w * c - 2.0 * overlap);
        part.left.add(last, w * c, w);
        part.at_risk += w;
        return;
      }
      const double before = sums.curvature[row.entered];
      const FenwickPairs::Pair early = part.left.sum(row.entered - 1);
      overlap -= early.first + before * (part.at_risk - early.second);
      const double slope = sums.slope[row.up_to] - sums.slope[row.entered];
      part.variance += w * (slope - w * (c - before) - 2.0 * overlap);
      part.left.add(last, w * c, w);
      part.left.add(row.entered - 1, -w * before, -w);
    }

    const LogRankCriterion& criterion_;
    std::vector<Part> parts_;  // one for each cause
    double weight_ = 0.0;
  };

  // Levels are ordered by their mean score.
  size_t n_moments() const { return 2; }
  void add_moments(double* cell, const RowStats& stats) const {
    cell[0] += stats.weight;
    cell[1] += sums_.size() > 1 ? all_causes_score(stats) : stats.score;
  }
  double moments_weight(const double* cell) const { return cell[0]; }
  void order_keys(const std::vector<double>& cells, size_t n, std::vector<double>& keys) const {
    for (size_t g = 0; g < n; ++g) keys[g] = cells[2 * g + 1] / cells[2 * g];
  }

 private:
  double factor(size_t k, size_t cause) const {
    const double n = sets_.at_risk(k), d = sets_.deaths(k, cause);
    if (whole_) return n > 1.0 ? d * (n - d) / (n * n * (n - 1.0)) : 0.0;
    // Invariant to multiples of the weights, and equal to the unweighted value for weights of one.
    const auto rows = static_cast<double>(sets_.n_at_risk(k));
    return rows > 1.0 ? d * std::max(0.0, n - d) * rows / (n * n * n * (rows - 1.0)) : 0.0;
  }
  // Score of a row for one of several causes, times its weight.
  double cause_score(const RowStats& row, size_t cause) const {
    const double seen = row.score == static_cast<double>(cause + 1) ? 1.0 : 0.0;
    return row.weight * (seen - sets_.cause_hazard(cause, row.entered, row.up_to));
  }
  double all_causes_score(const RowStats& row) const {
    double sum = 0.0;
    for (size_t cause = 0; cause < sums_.size(); ++cause) sum += cause_score(row, cause);
    return sum;
  }

  bool whole_;
  std::vector<RowStats> stats_;
  std::vector<FactorSums> sums_;  // one for each cause
};

class LogRankScoreCriterion : public SurvivalNode, public WideCriterion {
 public:
  // A score is at most 1, and at least -23 where H is of up to 2^31 rows that are seen from the
  // start. With late entries it is unbounded, and clipped.
  static constexpr double kMaxScore = 32.0;

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
      const double score = std::max(sets_.score(rows, i), -kMaxScore);
      const double weight = rows[i].weight;
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
  // Whether no row has a score that differs from the others.
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
