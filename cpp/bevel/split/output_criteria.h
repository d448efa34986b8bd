// Criteria of several outputs: the impurity is summed over them. Rows carry their number; targets
// are read from one table that all threads share.
//
//   OutputErrorCriterion          squared error of targets in units of their standard deviations
//   OutputClassCriterion<false>   Gini; the classes of all outputs are numbered consecutively
//   OutputClassCriterion<true>    entropy
//
// Weights are whole numbers (real ones are rounded to a grid), and so are sums of weights and of
// weighted targets: any order of adding gives the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "bevel/split/criterion.h"
#include "bevel/split/entropy_table.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/pair_score.h"
#include "bevel/support/check.h"

namespace bevel {

// The targets of all rows, rows x outputs.
struct OutputTargets {
  size_t n_outputs = 0;
  const int32_t* labels = nullptr;  // classification
  size_t n_classes = 0;             // of all outputs together
  const double* values = nullptr;   // regression: in the user's units
  std::vector<double> standard;     // regression: in the units of criteria

  std::span<const double> values_of(size_t row) const {
    return {values + row * n_outputs, n_outputs};
  }
  const double* standard_of(size_t row) const { return standard.data() + row * n_outputs; }
  std::span<const int32_t> labels_of(size_t row) const {
    return {labels + row * n_outputs, n_outputs};
  }
};

struct OutputRowStats {
  double weight;  // a whole number
  uint32_t row;   // of the data
};

// Work space of an accumulator, one for each candidate, reused by the thread.
class BorrowedDoubles {
 public:
  explicit BorrowedDoubles(size_t n) {
    auto& kept = kept_by_thread();
    if (!kept.empty()) {
      values_ = std::move(kept.back());
      kept.pop_back();
    }
    if (values_.size() < n) values_.resize(n);
  }
  BorrowedDoubles(const BorrowedDoubles&) = delete;
  BorrowedDoubles& operator=(const BorrowedDoubles&) = delete;
  ~BorrowedDoubles() { kept_by_thread().push_back(std::move(values_)); }

  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }

 private:
  static std::vector<std::vector<double>>& kept_by_thread() {
    static thread_local std::vector<std::vector<double>> kept;
    return kept;
  }
  std::vector<double> values_;
};

// Principal order for groups of means: cells hold a weight and then a sum for each output.
void principal_order_of_means(const std::vector<double>& cells, size_t n_groups, size_t n_outputs,
                              std::vector<double>& keys);

// A cut with sums l on the left of totals s, weights w of W, has the score
// sum_j (l_j W - w s_j)^2 / (w (W - w)).
class OutputErrorCriterion {
 public:
  using RowStats = OutputRowStats;
  static constexpr bool kIsPair = false;
  static constexpr bool kIsEntropy = false;
  static constexpr bool kPreciseGain = true;
  static constexpr bool kRejectsCuts = false;
  static constexpr bool kWeightsOnGrid = true;
  static constexpr bool kIsCount = false;

  OutputErrorCriterion(const OutputTargets& targets, const Kernels& kernels, double gain_factor)
      : targets_(&targets),
        kernels_(&kernels),
        gain_factor_(gain_factor),
        total_(targets.n_outputs) {}

  void begin_node(const RowStats* stats, size_t n) {
    stats_ = {stats, n};
    weight_ = 0.0;
    std::fill(total_.begin(), total_.end(), 0.0);
    for (const RowStats& row : stats_) {
      weight_ += row.weight;
      add(row, total_.data());
    }
    BEVEL_CHECK(n == 0 || weight_ > 0.0);
  }
  const RowStats* stats() const { return stats_.data(); }
  double weight() const { return weight_; }
  // Nodes have no value of their own: leaves append theirs.
  bool is_regression() const { return false; }
  // Whether all rows have the targets of the first.
  bool pure() const {
    const auto first = targets_->values_of(stats_[0].row);
    return std::all_of(stats_.begin(), stats_.end(), [&](const RowStats& row) {
      return std::ranges::equal(targets_->values_of(row.row), first);
    });
  }
  double perfect_score() const { return std::numeric_limits<double>::infinity(); }
  double gain(double score) const { return gain_factor_ * score / weight_; }

  class Accumulator {
   public:
    explicit Accumulator(const OutputErrorCriterion& criterion)
        : criterion_(criterion), left_(criterion.total_.size()) {}
    void begin() {
      weight_ = 0.0;
      std::fill_n(left_.data(), criterion_.total_.size(), 0.0);
    }
    void add(const RowStats& stats) {
      weight_ += stats.weight;
      criterion_.add(stats, left_.data());
    }
    double weight() const { return weight_; }
    bool may_reach(double) const { return true; }
    double score() const { return criterion_.score(weight_, left_.data()); }

   private:
    const OutputErrorCriterion& criterion_;
    BorrowedDoubles left_;
    double weight_ = 0.0;
  };

  // Sums of a group of rows: the weight, then a sum for each output.
  size_t n_moments() const { return 1 + total_.size(); }
  void add_moments(double* cell, const RowStats& stats) const {
    cell[0] += stats.weight;
    add(stats, cell + 1);
  }
  double moments_weight(const double* cell) const { return cell[0]; }
  double moments_score(const double* left) const { return score(left[0], left + 1); }
  void order_keys(const std::vector<double>& cells, size_t n, std::vector<double>& keys) const {
    principal_order_of_means(cells, n, total_.size(), keys);
  }

  // Appends the mean of each output, by differences from the first row: a leaf of equal targets has
  // exactly their value.
  void append_means(std::vector<double>& out) const {
    const auto first = targets_->values_of(stats_[0].row);
    const size_t begin = out.size();
    out.resize(begin + first.size(), 0.0);
    for (const RowStats& row : stats_) {
      const auto values = targets_->values_of(row.row);
      for (size_t k = 0; k < first.size(); ++k)
        out[begin + k] += row.weight * (values[k] - first[k]);
    }
    for (size_t k = 0; k < first.size(); ++k) out[begin + k] = first[k] + out[begin + k] / weight_;
  }
  size_t n_leaf_values() const { return total_.size(); }

 private:
  void add(const RowStats& stats, double* sums) const {
    kernels_->add_outputs(stats.weight, targets_->standard_of(stats.row), total_.size(), sums);
  }
  double score(double left_weight, const double* left) const {
    const double denominator = left_weight * (weight_ - left_weight);
    if (!(denominator > 0.0)) return kNoScore;
    return kernels_->output_squares(left, total_.data(), left_weight, weight_, total_.size()) /
           denominator;
  }

  const OutputTargets* targets_;
  const Kernels* kernels_;
  double gain_factor_;
  std::span<const RowStats> stats_;
  std::vector<double> total_;
  double weight_ = 0.0;
};

// Each output adds its sum over classes of c^2, or of c log2 c, as in ClassCriterion.
template <bool kEntropy>
class OutputClassCriterion {
 public:
  using RowStats = OutputRowStats;
  static constexpr bool kIsPair = false;
  static constexpr bool kIsEntropy = kEntropy;
  static constexpr bool kPreciseGain = true;
  static constexpr bool kRejectsCuts = false;
  static constexpr bool kWeightsOnGrid = true;
  static constexpr bool kIsCount = false;

  OutputClassCriterion(const OutputTargets& targets, double gain_factor, const EntropyTable* table)
      : targets_(&targets),
        gain_factor_(gain_factor),
        table_(table),
        counts_(targets.n_classes, 0.0),
        local_(targets.n_classes, 0) {}

  void begin_node(const RowStats* stats, size_t n) {
    stats_ = stats;
    for (int32_t label : present_) counts_[label] = 0.0;
    present_.clear();
    weight_ = total_term_ = 0.0;
    for (size_t i = 0; i < n; ++i) {
      weight_ += stats[i].weight;
      for (int32_t label : targets_->labels_of(stats[i].row)) {
        if (counts_[label] == 0.0) {
          local_[label] = static_cast<int32_t>(present_.size());
          present_.push_back(label);
        }
        counts_[label] += stats[i].weight;
      }
    }
    for (int32_t label : present_) total_term_ += term(counts_[label]);
    BEVEL_CHECK(n == 0 || weight_ > 0.0);
  }
  const RowStats* stats() const { return stats_; }
  double weight() const { return weight_; }
  bool is_regression() const { return false; }
  bool pure() const { return present_.size() == targets_->n_outputs; }
  double perfect_score() const { return std::numeric_limits<double>::infinity(); }
  double gain(double score) const {
    return gain_factor_ * std::max(0.0, score - side(total_term_, weight_));
  }

  class Accumulator {
   public:
    explicit Accumulator(const OutputClassCriterion& criterion)
        : criterion_(criterion), left_(criterion.counts_.size()) {}
    void begin() {
      for (int32_t label : criterion_.present_) left_.data()[label] = 0.0;
      weight_ = left_term_ = 0.0;
      right_term_ = criterion_.total_term_;
    }
    void add(const RowStats& stats) {
      const double w = stats.weight;
      double* left = left_.data();
      for (int32_t label : criterion_.targets_->labels_of(stats.row)) {
        const double l = left[label], r = criterion_.counts_[label] - l;
        if constexpr (kEntropy) {
          left_term_ += criterion_.term(l + w) - criterion_.term(l);
          right_term_ += criterion_.term(r - w) - criterion_.term(r);
        } else {
          left_term_ += w * (2.0 * l + w);
          right_term_ -= w * (2.0 * r - w);
        }
        left[label] = l + w;
      }
      weight_ += w;
    }
    double weight() const { return weight_; }
    bool may_reach(double) const { return true; }
    double score() const { return criterion_.combine(left_term_, weight_, right_term_); }

   private:
    const OutputClassCriterion& criterion_;
    BorrowedDoubles left_;  // by class; only those of the node's classes are set
    double weight_ = 0.0, left_term_ = 0.0, right_term_ = 0.0;
  };

  // Sums of a group of rows: the weight of each class of the node.
  size_t n_moments() const { return present_.size(); }
  void add_moments(double* cell, const RowStats& stats) const {
    for (int32_t label : targets_->labels_of(stats.row)) cell[local_[label]] += stats.weight;
  }
  double moments_weight(const double* cell) const {
    double sum = 0.0;
    for (size_t k = 0; k < present_.size(); ++k) sum += cell[k];
    return sum / static_cast<double>(targets_->n_outputs);
  }
  double moments_score(const double* left) const {
    double left_term = 0.0, right_term = 0.0;
    for (size_t k = 0; k < present_.size(); ++k) {
      left_term += term(left[k]);
      right_term += term(counts_[present_[k]] - left[k]);
    }
    return combine(left_term, moments_weight(left), right_term);
  }
  void order_keys(const std::vector<double>& cells, size_t n, std::vector<double>& keys) const {
    principal_order(cells, n, present_.size(), keys);
  }

  template <class Emit>
  void class_shares(Emit emit) const {
    std::vector<int32_t> sorted = present_;
    std::sort(sorted.begin(), sorted.end());
    for (int32_t label : sorted) emit(label, counts_[label] / weight_);
  }

 private:
  double term(double count) const {
    if constexpr (kEntropy) return (*table_)(count);
    return count * count;
  }
  double side(double term_sum, double w) const {
    if constexpr (kEntropy) return term_sum - static_cast<double>(targets_->n_outputs) * term(w);
    return term_sum / w;
  }
  double combine(double left_term, double left, double right_term) const {
    const double right = weight_ - left;
    if (!(left > 0.0 && right > 0.0)) return kNoScore;
    if constexpr (kEntropy) return side(left_term, left) + side(right_term, right);
    return gini_score(left_term, left, right_term, right);
  }

  const OutputTargets* targets_;
  double gain_factor_;
  const EntropyTable* table_;
  const RowStats* stats_ = nullptr;
  std::vector<double> counts_;    // by class; 0 except for those present
  std::vector<int32_t> local_;    // class -> position in present_
  std::vector<int32_t> present_;  // classes of the node
  double weight_ = 0.0, total_term_ = 0.0;
};

}  // namespace bevel
