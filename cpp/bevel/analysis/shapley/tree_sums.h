// Values of a row in one tree, added up over background rows, with the variance of the sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bevel {

class TreeSums {
 public:
  // Whether the background rows are drawn: then their spread estimates the variance.
  explicit TreeSums(bool is_drawn) : is_drawn_(is_drawn) {}

  void begin(size_t size) {
    pair_.assign(size, 0.0);
    pair_variance_.assign(size, 0.0);
    sums_.assign(size, 0.0);
    spread_.assign(size, 0.0);
    n_ = 0;
  }
  // Values of the current pair of rows; to be filled before add().
  std::vector<double>& pair() { return pair_; }
  std::vector<double>& pair_variance() { return pair_variance_; }

  void add(double weight) {
    for (size_t i = 0; i < pair_.size(); ++i) {
      sums_[i] += weight * pair_[i];
      spread_[i] += is_drawn_ ? pair_[i] * pair_[i] : weight * weight * pair_variance_[i];
    }
    std::fill(pair_.begin(), pair_.end(), 0.0);
    std::fill(pair_variance_.begin(), pair_variance_.end(), 0.0);
    ++n_;
  }
  double sum(size_t i) const { return sums_[i]; }
  double variance(size_t i) const {
    if (!is_drawn_) return spread_[i];
    const auto n = static_cast<double>(n_);
    return std::max(0.0, spread_[i] - sums_[i] * sums_[i] / n) * n / (n - 1.0);
  }

 private:
  bool is_drawn_;
  size_t n_ = 0;
  std::vector<double> pair_, pair_variance_, sums_, spread_;
};

}  // namespace bevel
