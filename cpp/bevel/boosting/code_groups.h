// One-byte codes of columns, sixteen columns together: the codes of a row lie side by side, and the
// histograms of a group fit the innermost cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "bevel/support/cancellable_fill.h"
#include "bevel/support/huge_pages.h"

namespace bevel {

constexpr size_t kGroupColumns = 16;
constexpr size_t kCodes = 256;
constexpr int kMostBins = 255;  // of a column; the code after its bins is that of NaN

class CodeGroups {
 public:
  CodeGroups() = default;
  CodeGroups(size_t n_rows, size_t n_columns) { resize(n_rows, n_columns); }
  void resize(size_t n_rows, size_t n_columns) {
    n_rows_ = n_rows;
    n_columns_ = n_columns;
    resize_in_steps(codes_, n_groups() * n_rows * kGroupColumns);
  }

  size_t n_rows() const { return n_rows_; }
  size_t n_columns() const { return n_columns_; }
  size_t n_groups() const { return (n_columns_ + kGroupColumns - 1) / kGroupColumns; }
  // Columns of a group.
  size_t width(size_t group) const {
    return group + 1 < n_groups() ? kGroupColumns : n_columns_ - group * kGroupColumns;
  }
  const uint8_t* group(size_t group) const {
    return codes_.data() + group * n_rows_ * kGroupColumns;
  }
  // The code of row r is at [r * kGroupColumns].
  const uint8_t* column(size_t c) const { return group(c / kGroupColumns) + c % kGroupColumns; }
  uint8_t* column(size_t c) { return const_cast<uint8_t*>(std::as_const(*this).column(c)); }

 private:
  size_t n_rows_ = 0, n_columns_ = 0;
  HugeVector<uint8_t> codes_;
};

}  // namespace bevel
