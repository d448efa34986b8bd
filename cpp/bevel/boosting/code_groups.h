// One-byte codes of columns, in groups of up to sixteen: the codes of a row are adjacent,
// and the histograms of a group fit the innermost cache. Groups are of about the same width, so
// that threads get equal work. The codes are in their own memory, or in memory of the caller,
// which may be a mapped file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bevel/support/cancellable_fill.h"
#include "bevel/support/check.h"
#include "bevel/support/huge_pages.h"

namespace bevel {

constexpr size_t kGroupColumns = 16;
constexpr size_t kCodes = 256;
constexpr int kMaxCodedBins = 255;      // of a column; the code after its bins is that of NaN
constexpr uint8_t kUnknownLevel = 255;  // of a nominal column, that no training row has

class CodeGroups {
 public:
  // Bytes of the codes of n_columns columns.
  static size_t n_bytes(size_t n_rows, size_t n_columns) {
    return (n_columns + kGroupColumns - 1) / kGroupColumns * kGroupColumns * n_rows;
  }

  // room: memory for the codes; empty: allocated here.
  explicit CodeGroups(std::span<uint8_t> room) : room_(room) {}
  void resize(size_t n_rows, size_t n_columns) {
    n_rows_ = n_rows;
    n_columns_ = n_columns;
    width_ = n_columns == 0 ? 1 : (n_columns + n_groups() - 1) / n_groups();
    const size_t n = n_bytes(n_rows, n_columns);
    if (room_.empty())
      resize_in_steps(codes_, n);
    else
      require(n <= room_.size(), "[boost] room for codes");
  }

  size_t n_rows() const { return n_rows_; }
  size_t n_columns() const { return n_columns_; }
  size_t n_groups() const { return (n_columns_ + kGroupColumns - 1) / kGroupColumns; }
  // The first column of a group, and its number of columns.
  size_t first(size_t group) const { return group * width_; }
  size_t width(size_t group) const { return std::min(width_, n_columns_ - first(group)); }
  const uint8_t* group(size_t group) const {
    const uint8_t* codes = room_.empty() ? codes_.data() : room_.data();
    return codes + group * n_rows_ * kGroupColumns;
  }
  // The code of row r is at [r * kGroupColumns].
  const uint8_t* column(size_t c) const { return group(c / width_) + c % width_; }
  uint8_t* column(size_t c) { return const_cast<uint8_t*>(std::as_const(*this).column(c)); }

 private:
  size_t n_rows_ = 0, n_columns_ = 0;
  size_t width_ = 1;  // of all groups but the last
  std::span<uint8_t> room_;
  HugeVector<uint8_t> codes_;
};

}  // namespace bevel
