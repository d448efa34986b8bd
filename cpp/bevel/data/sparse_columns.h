// Training data most of whose entries are one value: each column has a common value, and
// exceptions in some rows. The numbers are those that a dense matrix would hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// The values of columns in the rows of a node.
class SparseGather {
 public:
  // Sets the columns, and the rows, ascending, which must stay where they are.
  void begin_node(const SparseColumns& columns, std::span<const uint32_t> rows);
  // The values of a column, in the order of the rows.
  void read(size_t feature, float* out);

 private:
  void find_places();

  const SparseColumns* columns_ = nullptr;
  std::span<const uint32_t> rows_;
  bool has_places_ = false;
  std::vector<uint32_t>
      place_;  // by row of the data, of the node's rows that are marked; else none
  std::vector<uint32_t> marked_;
};

// As summarise_columns() of the dense matrix.
ColumnSummary summarise_columns(const SparseColumns& columns, int n_threads);

}  // namespace bevel
