// The training data in the core: one column-major float32 matrix, or sparse columns; checked and
// never written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/data/sparse_columns.h"

namespace bevel {

struct DatasetView {
  const float* values = nullptr;  // n_features columns of n_rows each; a nominal column holds codes
  size_t n_rows = 0;
  int32_t n_features = 0;
  const int32_t* levels = nullptr;  // per feature: 0 numeric, else the number of nominal levels
  const SparseColumns* sparse = nullptr;  // instead of values
  const float* medians = nullptr;         // per feature: replaces NaN where features are combined

  std::vector<int32_t> numeric;      // indices of numeric features
  std::vector<int32_t> categorical;  // indices of nominal features
  std::vector<uint8_t> has_nan;      // per feature

  DatasetView(const float* values, size_t n_rows, int32_t n_features, const int32_t* levels,
              const float* medians, const uint8_t* nan_in_column)
      : values(values),
        n_rows(n_rows),
        n_features(n_features),
        levels(levels),
        medians(medians),
        has_nan(static_cast<size_t>(n_features), 0) {
    for (int32_t f = 0; f < n_features; ++f) (levels[f] ? categorical : numeric).push_back(f);
    if (nan_in_column) has_nan.assign(nan_in_column, nan_in_column + n_features);
  }

  const float* column(int32_t feature) const {
    return values + static_cast<size_t>(feature) * n_rows;
  }
};

}  // namespace bevel
