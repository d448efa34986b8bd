// Amounts by feature and column, cheap to clear when only few features have any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bevel {

class Attribution {
 public:
  Attribution(size_t n_features, size_t n_columns)
      : n_columns_(n_columns), amounts_(n_features * n_columns, 0.0), touched_(n_features, 0) {}

  // Must be called before a feature's amounts are changed.
  double* touch(int32_t feature) {
    const auto f = static_cast<size_t>(feature);
    if (!touched_[f]) {
      touched_[f] = 1;
      features_.push_back(feature);
    }
    return of(feature);
  }
  double* of(int32_t feature) { return &amounts_[static_cast<size_t>(feature) * n_columns_]; }
  // Features touched since the last clear(), in that order.
  const std::vector<int32_t>& features() const { return features_; }
  size_t n_columns() const { return n_columns_; }

  void clear() {
    for (const int32_t feature : features_) {
      touched_[static_cast<size_t>(feature)] = 0;
      double* amounts = of(feature);
      for (size_t column = 0; column < n_columns_; ++column) amounts[column] = 0.0;
    }
    features_.clear();
  }

 private:
  size_t n_columns_;
  std::vector<double> amounts_;  // features x columns
  std::vector<uint8_t> touched_;
  std::vector<int32_t> features_;
};

}  // namespace bevel
