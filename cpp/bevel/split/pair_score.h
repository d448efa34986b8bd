// Scores of a cut that leaves a pair (weight w, weighted target a) on the left, of totals (W, A).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "bevel/split/entropy_table.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/support/arithmetic/logarithm.h"

namespace bevel {

constexpr double kNoScore = -std::numeric_limits<double>::infinity();

// D^2 / (w (W - w)) with D = a W - w A: for two classes half of, for squared error exactly, W times
// the weighted impurity that the cut removes.
inline double pair_score(double w, double a, PairTotals totals) {
  const double d = a * totals.weight - w * totals.sum;
  const double denominator = w * (totals.weight - w);
  return denominator > 0.0 ? d * d / denominator : kNoScore;
}

inline WidePair widen(uint64_t stats) {
  return {static_cast<int64_t>(stats >> 32), static_cast<int64_t>(stats & 0xffffffffULL)};
}
inline WidePair widen(WidePair stats) { return stats; }

inline WidePair operator+(WidePair a, WidePair b) { return {a.weight + b.weight, a.sum + b.sum}; }

// The Gini gain and squared error.
class SquareScore {
 public:
  static constexpr bool kIsEntropy = false;
  static constexpr bool kHasOwnBound = false;
  static constexpr bool kIsCount = false;

  void begin_node(WidePair total, size_t) {
    totals_ = {static_cast<double>(total.weight), static_cast<double>(total.sum)};
  }
  double operator()(WidePair left) const {
    return pair_score(static_cast<double>(left.weight), static_cast<double>(left.sum), totals_);
  }
  // Score of two pure sides.
  double perfect() const { return totals_.sum * (totals_.weight - totals_.sum); }
  // The weighted impurity that the cut removes, up to a factor of the criterion.
  double removed(double score) const { return score / totals_.weight; }
  // A cut of at least this score has at least this pair_score().
  double least_square(double score) const { return score; }

 private:
  PairTotals totals_{0.0, 0.0};
};

// Minus the weighted entropy of both sides. With F(x) = x log2 x that is
// F(a) + F(w - a) - F(w) for the left side and similarly for the right one.
class EntropyScore {
 public:
  static constexpr bool kIsEntropy = true;
  static constexpr bool kHasOwnBound = true;
  static constexpr bool kIsCount = false;

  explicit EntropyScore(const EntropyTable* table) : table_(table) {}

  void begin_node(WidePair total, size_t n_rows) {
    total_ = total;
    parent_ = side(total);
    weight_ = static_cast<double>(total.weight);
    slack_ = table_->slack(weight_);
    // Small nodes use networks, which score every cut.
    per_square_ = n_rows > kFewRows ? gain_per_square() : std::numeric_limits<double>::infinity();
  }
  double operator()(WidePair left) const {
    const WidePair right{total_.weight - left.weight, total_.sum - left.sum};
    if (left.weight <= 0 || right.weight <= 0) return kNoScore;
    return side(left) + side(right);
  }
  double perfect() const { return 0.0; }
  double removed(double score) const {
    return score == kNoScore ? score : std::max(0.0, score - parent_);
  }
  double least_square(double score) const {
    if (score == kNoScore) return score;
    return (score - parent_ - slack_) * weight_ / per_square_ * (1.0 - 1e-9);
  }
  double slack() const { return slack_; }
  // Upper bound on cuts that leave `before` on the left and some of the rows up to `after`. The
  // entropy is convex as well, so the corners of pair_bounds (kernels) bound it; they are whole.
  double bound_inside(WidePair before, WidePair after, double, double) const {
    const int64_t ones = after.sum - before.sum;
    const double corners = std::max((*this)({before.weight + ones, before.sum + ones}),
                                    (*this)({after.weight - ones, after.sum - ones}));
    return corners + slack_;
  }
  const EntropyTable& table() const { return *table_; }
  WidePair total() const { return total_; }

 private:
  static constexpr size_t kFewRows = 32;

  double side(WidePair p) const { return term(p.sum) + term(p.weight - p.sum) - term(p.weight); }
  double term(int64_t x) const { return table_->whole(static_cast<size_t>(x)); }

  // With p the shares of class one on either side and q that of the node, the gain is the weighted
  // sum of the divergences KL(p, q), and the pair_score W times that of (p - q)^2. Their ratio is
  // an average of second derivatives of KL between q and p. These are convex, and so is
  // the ratio: it is largest at p = 0 or p = 1.
  double gain_per_square() const {
    constexpr double kInvLn2 = 1.4426950408889634074;
    const double q = static_cast<double>(total_.sum) / weight_;
    if (!(q > 0.0 && q < 1.0)) return std::numeric_limits<double>::infinity();
    const double at_zero = -fixed_log(1.0 - q) / (q * q);
    const double at_one = -fixed_log(q) / ((1.0 - q) * (1.0 - q));
    return std::max(at_zero, at_one) * kInvLn2;
  }

  const EntropyTable* table_;
  WidePair total_{0, 0};
  double parent_ = 0.0, weight_ = 0.0, slack_ = 0.0;
  double per_square_ = 0.0;  // no cut has more gain per unit of pair_score() / W
};

// Half of the Poisson deviance that a cut removes: a log(m / M) of both sides, where m = a / w is
// the mean of a side and M that of the node. A side without any count would have mean zero, under
// which no count is possible; such cuts are rejected, as in scikit-learn.
class PoissonScore {
 public:
  static constexpr bool kIsEntropy = false;
  static constexpr bool kHasOwnBound = true;
  static constexpr bool kIsCount = true;  // and a side without any is no cut

  void begin_node(WidePair total, size_t) {
    total_ = total;
    weight_ = static_cast<double>(total.weight);
    sum_ = static_cast<double>(total.sum);
    per_mean_ = total.sum > 0 ? weight_ / sum_ : 0.0;
  }
  double operator()(WidePair left) const {
    const WidePair right{total_.weight - left.weight, total_.sum - left.sum};
    if (left.weight <= 0 || right.weight <= 0 || left.sum <= 0 || right.sum <= 0) return kNoScore;
    return side(static_cast<double>(left.weight), static_cast<double>(left.sum)) +
           side(static_cast<double>(right.weight), static_cast<double>(right.sum));
  }
  double perfect() const { return std::numeric_limits<double>::infinity(); }
  double removed(double score) const { return score == kNoScore ? score : std::max(0.0, score); }
  // A side gains w (m log(m / M) - m + M), which is (m - M)^2 w times an average of 1 / (2 x)
  // between M and m: at most 1 / M, at m = 0.
  double least_square(double score) const {
    return score == kNoScore ? score : (score - slack()) * sum_ * (1.0 - 1e-9);
  }
  // Bound on rounding, and on that of the corners of bound_inside().
  double slack() const { return 1e-11 * sum_; }
  // The score is convex in (w, a): the corners of pair_bounds (kernels) bound it. low, high: of the
  // targets of the node.
  double bound_inside(WidePair before, WidePair after, double low, double high) const {
    const auto w0 = static_cast<double>(before.weight), w1 = static_cast<double>(after.weight);
    const auto a0 = static_cast<double>(before.sum), a1 = static_cast<double>(after.sum);
    const double b = w1 - w0, s = a1 - a0;
    const double t = high > low ? std::clamp((s - low * b) / (high - low), 0.0, b) : 0.0;
    return std::max(at(w0 + t, a0 + high * t), at(w1 - t, a1 - high * t)) + slack();
  }

 private:
  double side(double w, double a) const {
    return w > 0.0 && a > 0.0 ? a * fixed_log(a / w * per_mean_) : 0.0;
  }
  double at(double w, double a) const { return side(w, a) + side(weight_ - w, sum_ - a); }

  WidePair total_{0, 0};
  double weight_ = 0.0, sum_ = 0.0;
  double per_mean_ = 0.0;  // 1 / M
};

}  // namespace bevel
