// Payoffs of the features for the boxes of a tree, summed over boxes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/shapley/box_games.h"
#include "bevel/analysis/shapley/box_weights.h"

namespace bevel {

// Values of K columns of the prediction from `first_column` on. All features of A get the same for
// a box, and so do all of B: a feature gets the sum over the boxes below the decisions on it.
template <size_t K>
class ValuePayoffs {
 public:
  static constexpr size_t kWidth = K;
  struct Sums {
    double of_row[K] = {}, of_background[K] = {};
  };

  explicit ValuePayoffs(const BoxWeights& weights) : weights_(weights) {}

  // Sets the weight of boxes.
  void set_weight(double weight) { weight_ = weight; }
  void begin(size_t n_features, size_t first_column) {
    first_column_ = first_column;
    amounts_.assign(n_features * K, 0.0);
  }
  void add_leaf(const double* values, const Decisions& decisions, Sums& sums) const {
    const size_t a = decisions.n_of_row, b = decisions.n_of_background();
    const double gain = weight_ * weights_.of_row(a, b);
    const double loss = -weight_ * weights_.of_background(a, b);
    for (size_t k = 0; k < K; ++k) {
      sums.of_row[k] += gain * values[first_column_ + k];
      sums.of_background[k] += loss * values[first_column_ + k];
    }
  }
  void add_split(int32_t feature, const Sums& of_row, const Sums& of_background, Sums& sums) {
    double* amounts = &amounts_[static_cast<size_t>(feature) * K];
    for (size_t k = 0; k < K; ++k) {
      amounts[k] += of_row.of_row[k] + of_background.of_background[k];
      sums.of_row[k] += of_row.of_row[k] + of_background.of_row[k];
      sums.of_background[k] += of_row.of_background[k] + of_background.of_background[k];
    }
  }
  const double* of(size_t feature) const { return &amounts_[feature * K]; }

 private:
  const BoxWeights& weights_;
  size_t first_column_ = 0;
  double weight_ = 1.0;
  std::vector<double> amounts_;  // features x K
};

// Values and interactions of all pairs of features. Half of an interaction goes to each of its two
// places; diagonals get the values, from which the others of their row are to be taken away.
class PairPayoffs {
 public:
  static constexpr size_t kWidth = 1;
  struct Sums {};

  PairPayoffs(const BoxWeights& weights, size_t n_columns)
      : weights_(weights), n_columns_(n_columns) {}

  // Sets the weight of boxes.
  void set_weight(double weight) { weight_ = weight; }
  void begin(size_t n_features) {
    n_features_ = n_features;
    amounts_.assign(n_features * n_features * n_columns_, 0.0);
  }
  void add_leaf(const double* values, const Decisions& decisions, Sums&) {
    const size_t a = decisions.n_of_row, b = decisions.n_of_background();
    for (size_t i = 0; i < decisions.n; ++i) {
      const int32_t one = decisions.features[i];
      const size_t one_of_row = is_of_row(decisions, one);
      const double single = one_of_row ? weights_.of_row(a, b) : -weights_.of_background(a, b);
      add(one, one, weight_ * single, values);
      for (size_t j = 0; j < i; ++j) {
        const int32_t other = decisions.features[j];
        const size_t n_of_row = one_of_row + is_of_row(decisions, other);
        add(std::max(one, other), std::min(one, other),
            0.5 * weight_ * weights_.of_pair(n_of_row, a, b), values);
      }
    }
  }
  void add_split(int32_t, const Sums&, const Sums&, Sums&) {}

  // Amounts of two features, the first not less than the second.
  const double* of(size_t one, size_t other) const {
    return &amounts_[(one * n_features_ + other) * n_columns_];
  }

 private:
  static size_t is_of_row(const Decisions& decisions, int32_t feature) {
    return decisions.source[static_cast<size_t>(feature)] == Source::row;
  }
  void add(int32_t one, int32_t other, double share, const double* values) {
    const size_t at = static_cast<size_t>(one) * n_features_ + static_cast<size_t>(other);
    double* amounts = &amounts_[at * n_columns_];
    for (size_t k = 0; k < n_columns_; ++k) amounts[k] += share * values[k];
  }

  const BoxWeights& weights_;
  size_t n_columns_, n_features_ = 0;
  double weight_ = 1.0;
  std::vector<double> amounts_;  // features x features x columns
};

}  // namespace bevel
