// Columns in one byte per value, a quarter of their size: for screening candidates where the
// columns themselves do not fit in the cache. A code gives bounds on the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/support/huge_pages.h"

namespace bevel {

// A value with code q lies in [low + (q - kSlack) step, low + (q + 1 + kSlack) step], where low is
// the smallest value of the column.
struct CodeScale {
  static constexpr double kSlack = 1e-3;  // rounding error

  float step = 0.0f;
  float size = 0.0f;  // bound on the absolute values
};

class ColumnCodes {
 public:
  // Codes numeric features and level terms; missing values count as the median.
  ColumnCodes(const DatasetView& data, int n_threads);
  ~ColumnCodes();
  ColumnCodes(const ColumnCodes&) = delete;
  ColumnCodes& operator=(const ColumnCodes&) = delete;

  const uint8_t* column(int32_t feature) const {
    return codes_ + static_cast<size_t>(feature) * stride_;
  }
  const CodeScale& scale(int32_t feature) const { return scales_[static_cast<size_t>(feature)]; }

 private:
  void code(const float* values, size_t n_rows, int32_t feature);

  size_t stride_;  // bytes from column to column: whole cache lines
  size_t n_bytes_;
  uint8_t* codes_;  // not cleared: every thread touches its own pages first
  std::vector<CodeScale> scales_;
};

}  // namespace bevel
