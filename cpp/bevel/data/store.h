// Copies the user's table into the column-major float32 matrix that the core reads, and summarises
// its columns in the same pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bevel/data/medians.h"

namespace bevel {

// A table with any strides, in entries.
template <class Number>
struct StridedTable {
  const Number* values;
  size_t n_rows, n_columns;
  int64_t row_stride, column_stride;
};

struct TablePlace {
  size_t row, column;
};

// Fills target (n_rows each column) and the summary of its columns, while they are in a cache.
// Returns the position of a number beyond the limit in size, including infinities, if there is one:
// the rest is then left undone. NaN is allowed.
template <class Number>
std::optional<TablePlace> store_columns(const StridedTable<Number>& table, double limit,
                                        int n_threads, float* target, ColumnSummary& summary);

extern template std::optional<TablePlace> store_columns(const StridedTable<float>&, double, int,
                                                        float*, ColumnSummary&);
extern template std::optional<TablePlace> store_columns(const StridedTable<double>&, double, int,
                                                        float*, ColumnSummary&);

}  // namespace bevel
