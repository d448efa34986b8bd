// What is summed over rows and how a cut is scored. A criterion owns the totals of the current
// node; its Accumulator adds rows to the left side one by one. criterion_concept.h has the
// contract. These cover everything:
//
//   PackedCriterion              Gini, two classes, whole weights      one 64-bit add per row
//   PackedEntropyCriterion       the same with entropy
//   WideCriterion                squared error; Gini, two classes, real weights
//   WideEntropyCriterion         entropy, two classes, real weights
//   ClassCriterion<uint16_t, ..> three classes and more, whole weights
//   ClassCriterion<double, ..>   the same with real weights
//   PoissonCriterion             Poisson deviance, any weights
//   AbsoluteCriterion            absolute error (absolute_error.h)
//
// Sums that decide a split are whole numbers (real weights and targets are rounded to a grid of
// 2^-52 of their total), so any order of adding gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bevel/split/entropy_table.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/pair_score.h"
#include "bevel/support/check.h"

namespace bevel {

// Two classes, or one real target: a pair (weight, weighted target) is sufficient.
template <class P, class Score>
class PairCriterion {
 public:
  using RowStats = P;
  static constexpr bool kIsPair = true;
  static constexpr bool kIsEntropy = Score::kIsEntropy;
  static constexpr bool kHasOwnBound = Score::kHasOwnBound;
  static constexpr bool kIsPacked = sizeof(RowStats) == 8;
  static constexpr bool kRejectsCuts = Score::kIsCount;
  static constexpr bool kWeightsOnGrid = !kIsPacked;
  static constexpr bool kIsCount = Score::kIsCount;

  // gain_factor turns what the score calls removed into the weighted impurity removed.
  explicit PairCriterion(double gain_factor, bool is_regression, Score score = Score())
      : score_(score), gain_factor_(gain_factor), is_regression_(is_regression) {}

  void begin_node(const RowStats* stats, size_t n) {
    stats_ = stats;
    total_ = {0, 0};
    if constexpr (kIsPacked) {
      uint64_t sum = 0;
      for (size_t i = 0; i < n; ++i) sum += stats[i];
      total_ = widen(sum);
    } else {
      for (size_t i = 0; i < n; ++i) total_ = total_ + stats[i];
    }
    totals_ = {static_cast<double>(total_.weight), static_cast<double>(total_.sum)};
    score_.begin_node(total_, n);
    BEVEL_CHECK(n == 0 || total_.weight > 0);
  }
  const RowStats* stats() const { return stats_; }
  PairTotals totals() const { return totals_; }
  const Score& score() const { return score_; }
  double weight() const { return totals_.weight; }
  bool is_regression() const { return is_regression_; }
  // One class only. A regression node is pure when its targets are equal, which the caller checks.
  bool pure() const { return !is_regression_ && (total_.sum == 0 || total_.sum == total_.weight); }
  // Score of a cut that leaves both sides pure: no other can beat it.
  // With real weights rounding may make equal scores differ, so all cuts have to be searched.
  double perfect_score() const {
    return kIsPacked ? score_.perfect() : std::numeric_limits<double>::infinity();
  }
  double gain(double score) const { return gain_factor_ * score_.removed(score); }
  // Whether gain(score) is as precise as the weights: if not, the caller uses gain_of_left().
  static constexpr bool kPreciseGain = true;

  class Accumulator {
   public:
    explicit Accumulator(const PairCriterion& criterion)
        : score_(criterion.score_), totals_(criterion.totals_) {}
    void begin() { left_ = {0, 0}; }
    void add(RowStats stats) { left_ = left_ + widen(stats); }
    void add_sum(WidePair sum) { left_ = left_ + sum; }
    double weight() const { return static_cast<double>(left_.weight); }
    double score() const { return score_(left_); }
    // False only when score() is below best: a look without a division or a logarithm.
    bool may_reach(double best) const {
      best = score_.least_square(best);
      const double w = weight();
      const double d = static_cast<double>(left_.sum) * totals_.weight - w * totals_.sum;
      return d * d * (1.0 + 1e-12) >= best * (w * (totals_.weight - w));
    }

   private:
    const Score& score_;
    PairTotals totals_;
    WidePair left_{0, 0};
  };

  // Moments of a group of rows, for nominal levels: (w, a), ordered by their mean a / w, in which
  // order the best subset is a prefix (Fisher 1958; Breiman et al. 1984).
  size_t n_moments() const { return 2; }
  void add_moments(double* cell, RowStats stats) const {
    const WidePair pair = widen(stats);
    cell[0] += static_cast<double>(pair.weight);
    cell[1] += static_cast<double>(pair.sum);
  }
  double moments_weight(const double* cell) const { return cell[0]; }
  double moments_score(const double* left) const {
    return score_({static_cast<int64_t>(left[0]), static_cast<int64_t>(left[1])});
  }
  void order_keys(const std::vector<double>& cells, size_t n, std::vector<double>& keys) const {
    for (size_t g = 0; g < n; ++g) keys[g] = cells[2 * g + 1] / cells[2 * g];
  }

  // Shares of the classes, for a leaf: calls emit(class, share).
  template <class Emit>
  void class_shares(Emit emit) const {
    const double one = totals_.sum / totals_.weight;
    if (total_.sum != total_.weight) emit(0, 1.0 - one);
    if (total_.sum != 0) emit(1, one);
  }

 private:
  const RowStats* stats_ = nullptr;
  WidePair total_{0, 0};
  PairTotals totals_{0.0, 0.0};
  Score score_;
  double gain_factor_;
  bool is_regression_;
};

using PackedCriterion = PairCriterion<uint64_t, SquareScore>;
using WideCriterion = PairCriterion<WidePair, SquareScore>;
using PackedEntropyCriterion = PairCriterion<uint64_t, EntropyScore>;
using WideEntropyCriterion = PairCriterion<WidePair, EntropyScore>;
using PoissonCriterion = PairCriterion<WidePair, PoissonScore>;

template <class Weight>
struct ClassRowStats {
  std::conditional_t<sizeof(Weight) == 2, uint16_t, uint32_t> label;
  Weight weight;
};

// First principal component of the levels' class shares (Coppersmith, Hong, Hosking 1999), by a
// fixed number of power iterations: orders nominal levels when there are three classes or more.
void principal_order(const std::vector<double>& cells, size_t n_groups, size_t n_classes,
                     std::vector<double>& keys);

// S_L / w_L + S_R / w_R with one division: of whole numbers it is the rounded value of an exact
// quotient, so equal scores are equal and the networks may compare them without dividing.
inline double gini_score(double left_term, double left, double right_term, double right) {
  return (left_term * right + right_term * left) / (left * right);
}

// Classes by their counts. The classes present in a node are renumbered 0 .. m - 1, so that work
// and memory depend on m, not on the number of classes of the data.
template <class Weight, bool kEntropy>
class ClassCriterion {
 public:
  using RowStats = ClassRowStats<Weight>;
  static constexpr bool kIsPair = false;
  static constexpr bool kIsEntropy = kEntropy;
  static constexpr bool kWholeGini = !kEntropy && sizeof(Weight) == 2;
  static constexpr bool kRejectsCuts = false;
  static constexpr bool kWeightsOnGrid = false;
  static constexpr bool kIsCount = false;

  ClassCriterion(int32_t n_classes, double gain_factor, const EntropyTable* table)
      : gain_factor_(gain_factor), table_(table), local_(static_cast<size_t>(n_classes), -1) {}

  void begin_node(const RowStats* stats, size_t n) {
    for (int32_t label : classes_) local_[label] = -1;
    classes_.clear();
    counts_.clear();
    stats_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      int32_t& id = local_[stats[i].label];
      if (id < 0) {
        id = static_cast<int32_t>(classes_.size());
        classes_.push_back(stats[i].label);
        counts_.push_back(0.0);
      }
      counts_[id] += static_cast<double>(stats[i].weight);
      stats_[i] = {static_cast<decltype(RowStats::label)>(id), stats[i].weight};
    }
    weight_ = 0.0;
    for (double c : counts_) weight_ += c;
    right_term_ = 0.0;
    for (double c : counts_) right_term_ += term(c);
    BEVEL_CHECK(n == 0 || (weight_ > 0.0 && std::isfinite(right_term_)));
  }
  const RowStats* stats() const { return stats_.data(); }
  size_t n_present() const { return classes_.size(); }
  const std::vector<double>& counts() const { return counts_; }
  double weight() const { return weight_; }
  bool is_regression() const { return false; }
  bool pure() const { return classes_.size() == 1; }
  double perfect_score() const {
    return kWholeGini && classes_.size() == 2 ? weight_ : std::numeric_limits<double>::infinity();
  }
  double gain(double score) const { return gain_factor_ * (score - side(right_term_, weight_)); }
  static constexpr bool kPreciseGain = kWholeGini || kEntropy;
  // The Gini gain from the left counts, free of the cancellation that real weights of many sizes
  // bring into running sums: sum_k D_k^2 / (W w (W - w)), D_k = l_k W - w c_k.
  double gain_of_left(const std::vector<double>& left) const {
    double w = 0.0, squares = 0.0;
    for (double l : left) w += l;
    for (size_t k = 0; k < left.size(); ++k) {
      const double d = left[k] * weight_ - w * counts_[k];
      squares += d * d;
    }
    // One side may outweigh the other beyond rounding.
    const double denominator = weight_ * w * (weight_ - w);
    return denominator > 0.0 ? gain_factor_ * squares / denominator : 0.0;
  }
  // Sum over classes of c^2, or of c log2 c.
  double total_term() const { return right_term_; }
  const EntropyTable& table() const { return *table_; }

  class Accumulator {
   public:
    explicit Accumulator(const ClassCriterion& criterion)
        : criterion_(criterion),
          left_(criterion.counts_.size()),
          right_(criterion.counts_.size()) {}
    void begin() {
      std::fill(left_.begin(), left_.end(), 0.0);
      right_ = criterion_.counts_;
      weight_ = left_term_ = 0.0;
      right_term_ = criterion_.right_term_;
    }
    // Starts with these counts on the left.
    void begin_with(const double* counts) {
      weight_ = left_term_ = right_term_ = 0.0;
      for (size_t k = 0; k < left_.size(); ++k) {
        left_[k] = counts[k];
        right_[k] = criterion_.counts_[k] - counts[k];
        weight_ += counts[k];
        left_term_ += criterion_.term(left_[k]);
        right_term_ += criterion_.term(right_[k]);
      }
    }
    void add(RowStats stats) { move(stats.label, static_cast<double>(stats.weight)); }
    void move(size_t id, double w) {
      double& l = left_[id];
      double& r = right_[id];
      if constexpr (kEntropy) {
        left_term_ += criterion_.term(l + w) - criterion_.term(l);
        right_term_ += criterion_.term(r - w) - criterion_.term(r);
      } else {
        left_term_ += w * (2.0 * l + w);
        right_term_ -= w * (2.0 * r - w);
      }
      l += w;
      r -= w;
      weight_ += w;
    }
    double weight() const { return weight_; }
    bool may_reach(double) const { return true; }
    double score() const {
      return criterion_.combine(left_term_, weight_, right_term_, criterion_.weight_ - weight_);
    }

   private:
    const ClassCriterion& criterion_;
    std::vector<double> left_, right_;
    double weight_ = 0.0, left_term_ = 0.0, right_term_ = 0.0;
  };

  size_t n_moments() const { return counts_.size(); }
  void add_moments(double* cell, RowStats stats) const {
    cell[stats.label] += static_cast<double>(stats.weight);
  }
  double moments_weight(const double* cell) const {
    double sum = 0.0;
    for (size_t k = 0; k < counts_.size(); ++k) sum += cell[k];
    return sum;
  }
  double moments_score(const double* left) const {
    double w = 0.0, left_term = 0.0, right_term = 0.0;
    for (size_t k = 0; k < counts_.size(); ++k) {
      w += left[k];
      left_term += term(left[k]);
      right_term += term(counts_[k] - left[k]);
    }
    return combine(left_term, w, right_term, weight_ - w);
  }
  void order_keys(const std::vector<double>& cells, size_t n, std::vector<double>& keys) const {
    const size_t m = counts_.size();
    if (m > 2) return principal_order(cells, n, m, keys);
    for (size_t g = 0; g < n; ++g) keys[g] = cells[m * g] / moments_weight(&cells[m * g]);
  }

  template <class Emit>
  void class_shares(Emit emit) const {
    std::vector<std::pair<int32_t, double>> shares;
    for (size_t k = 0; k < classes_.size(); ++k)
      shares.emplace_back(classes_[k], counts_[k] / weight_);
    std::sort(shares.begin(), shares.end());
    for (auto [label, share] : shares) emit(label, share);
  }

 private:
  double term(double count) const {
    if constexpr (kEntropy && sizeof(Weight) == 2) return table_->whole(static_cast<size_t>(count));
    if constexpr (kEntropy) return (*table_)(count);
    return count * count;
  }
  double side(double term_sum, double w) const {
    if constexpr (kEntropy) return term_sum - term(w);
    return term_sum / w;
  }
  double combine(double left_term, double left, double right_term, double right) const {
    if (!(left > 0.0 && right > 0.0)) return kNoScore;
    if constexpr (kEntropy) return side(left_term, left) + side(right_term, right);
    return gini_score(left_term, left, right_term, right);
  }

  double gain_factor_;
  const EntropyTable* table_;
  std::vector<int32_t> local_;    // class -> id in the node, -1 when absent
  std::vector<int32_t> classes_;  // id -> class
  std::vector<double> counts_;
  std::vector<RowStats> stats_;
  double weight_ = 0.0, right_term_ = 0.0;
};

using CountCriterion = ClassCriterion<uint16_t, false>;
using CountEntropyCriterion = ClassCriterion<uint16_t, true>;
using WeightCriterion = ClassCriterion<double, false>;
using WeightEntropyCriterion = ClassCriterion<double, true>;

}  // namespace bevel
