// Layout of the numbers of a table: column-major as trees read them, or the caller's layout,
// row-major or not scaled yet. A copy of a large table would dominate the memory of a fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/data/scaler.h"

namespace bevel {

struct TableValues {
  const float* values;
  size_t row_stride, column_stride;
  const Scaler* scaler = nullptr;  // null: values are scaled

  // Whether columns are in memory as trees read them.
  bool is_ready() const { return row_stride == 1 && !scaler; }
  const float* column(size_t feature) const { return values + feature * column_stride; }
  // The values of n rows from `first` on, one after the other: those of the table, or in `room`.
  const float* run(size_t feature, size_t first, size_t n, float* room) const {
    const float* own = column(feature) + first * row_stride;
    if (is_ready()) return own;
    if (scaler)
      scaler->apply_column(feature, own, static_cast<ptrdiff_t>(row_stride), n, room);
    else
      for (size_t i = 0; i < n; ++i) room[i] = own[i * row_stride];
    return room;
  }
  // The values of some rows.
  void gather(size_t feature, std::span<const uint32_t> rows, float* out) const {
    const float* own = column(feature);
    for (size_t i = 0; i < rows.size(); ++i) out[i] = own[rows[i] * row_stride];
    if (scaler) scaler->apply_column(feature, out, 1, rows.size(), out);
  }
};

}  // namespace bevel
