// The training data in the core: one column-major float32 matrix, or sparse columns; checked and
// never written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bevel/data/sparse_columns.h"

namespace bevel {

// A level of a nominal feature as a number: 1 where a row has the level, else 0.
struct LevelTerm {
  int32_t feature = 0;
  int32_t level = 0;
};

// A column as directions combine it: a numeric feature, or one of the level terms of a nominal one.
struct CombinedColumn {
  int32_t first = 0;
  int32_t n_terms = 1;
};

struct DatasetView {
  const float* values = nullptr;  // n_features columns of n_rows each; a nominal column holds codes
  size_t n_rows = 0;
  int32_t n_features = 0;           // the columns of level terms included, which come last
  const int32_t* levels = nullptr;  // per feature: 0 numeric, else the number of nominal levels
  const SparseColumns* sparse = nullptr;  // instead of values
  const float* medians = nullptr;         // per feature: replaces NaN where features are combined

  std::vector<LevelTerm> level_terms;  // what the last columns are
  std::vector<int32_t> idle;           // numeric features that no direction uses
  std::vector<int32_t> numeric;        // indices of the other numeric features
  std::vector<CombinedColumn> combined;
  std::vector<int32_t> categorical;  // indices of nominal features
  std::vector<uint8_t> has_nan;      // per feature

  DatasetView(const float* values, size_t n_rows, int32_t n_features, const int32_t* levels,
              const float* medians, const uint8_t* nan_in_column, std::vector<LevelTerm> terms = {},
              const uint8_t* is_idle = nullptr)
      : values(values),
        n_rows(n_rows),
        n_features(n_features),
        levels(levels),
        medians(medians),
        level_terms(std::move(terms)),
        has_nan(static_cast<size_t>(n_features), 0) {
    for (int32_t f = 0; f < first_level_term(); ++f) {
      if (is_idle && is_idle[f])
        idle.push_back(f);
      else
        (levels[f] ? categorical : numeric).push_back(f);
    }
    for (const int32_t f : numeric) combined.push_back({f, 1});
    for (size_t t = 0; t < level_terms.size(); ++t) {
      if (t > 0 && level_terms[t].feature == level_terms[t - 1].feature)
        ++combined.back().n_terms;
      else
        combined.push_back({first_level_term() + static_cast<int32_t>(t), 1});
    }
    if (nan_in_column) has_nan.assign(nan_in_column, nan_in_column + n_features);
  }

  int32_t first_level_term() const { return n_features - static_cast<int32_t>(level_terms.size()); }
  // Numeric features and level terms, ascending.
  std::vector<int32_t> numbers() const {
    std::vector<int32_t> all = numeric;
    for (int32_t f = first_level_term(); f < n_features; ++f) all.push_back(f);
    return all;
  }
  const float* column(int32_t feature) const {
    return values + static_cast<size_t>(feature) * n_rows;
  }
};

}  // namespace bevel
