// Medians of the numeric features, which replace missing values where features are combined,
// and flags for features with missing values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bevel {

struct ColumnSummary {
  std::vector<float> median;     // NaN left out; 0 for a nominal column or one without values
  std::vector<uint8_t> has_nan;  // 0 for a nominal column

  explicit ColumnSummary(size_t n_features = 0)
      : median(n_features, 0.0f), has_nan(n_features, 0) {}
  // Median of one column; keys is work space.
  void find(size_t feature, std::span<const float> values, std::vector<int32_t>& keys);
};

// values: column-major, n_rows each.
ColumnSummary summarise_columns(const float* values, size_t n_rows, std::span<const int32_t> levels,
                                int n_threads);

}  // namespace bevel
