// Training data most of whose entries are one value: each column has a common value, and
// exceptions in some rows. The numbers are those that a dense matrix would hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/data/medians.h"

namespace bevel {

struct SparseColumn {
  std::span<const int32_t> rows;  // ascending; all other rows have the common value
  const float* values;
  float common;
};

struct SparseColumns {
  size_t n_rows = 0, n_features = 0;
  const int64_t* offset = nullptr;  // where the exceptions of each column begin; n_features + 1
  const int32_t* rows = nullptr;
  const float* values = nullptr;
  const float* common = nullptr;  // by column

  SparseColumn column(size_t feature) const {
    const auto first = static_cast<size_t>(offset[feature]);
    const auto n = static_cast<size_t>(offset[feature + 1]) - first;
    return {{rows + first, n}, values + first, common[feature]};
  }
  size_t n_exceptions() const { return static_cast<size_t>(offset[n_features]); }
};

// As summarise_columns() of the dense matrix.
ColumnSummary summarise_columns(const SparseColumns& columns, int n_threads);

}  // namespace bevel
