// Sparse columns of a table in NumPy arrays, kept alive and checked.
#pragma once

#include <cmath>

#include "arrays.h"
#include "bevel/data/sparse_columns.h"
#include "bevel/support/check.h"

class SparseTable {
 public:
  SparseTable(size_t n_rows, Vector<int64_t> offset, Vector<int32_t> rows, Vector<float> values,
              Vector<float> common)
      : offset_(offset), rows_(rows), values_(values), common_(common) {
    const size_t p = common.shape(0), n = rows.shape(0);
    bevel::require(p > 0 && n_rows > 0 && n_rows < (size_t{1} << 31), "[sparse] shape");
    bevel::require(offset.shape(0) == p + 1 && offset(0) == 0 && values.shape(0) == n,
                   "[sparse] lengths of the arrays");
    for (size_t f = 0; f < p; ++f) {
      bevel::require(offset(f) <= offset(f + 1), "[sparse] offsets that do not ascend");
      bevel::require(!std::isinf(common(f)), "[sparse] value that is infinite");
    }
    bevel::require(offset(p) == static_cast<int64_t>(n), "[sparse] lengths of the arrays");
    for (size_t f = 0; f < p; ++f)
      for (auto i = static_cast<size_t>(offset(f)); i < static_cast<size_t>(offset(f + 1)); ++i) {
        const bool first = i == static_cast<size_t>(offset(f));
        bevel::require(rows(i) >= 0 && static_cast<size_t>(rows(i)) < n_rows &&
                           (first || rows(i - 1) < rows(i)),
                       "[sparse] rows that do not ascend");
        bevel::require(!std::isinf(values(i)), "[sparse] value that is infinite");
      }
    view_ = {n_rows, p, offset.data(), rows.data(), values.data(), common.data()};
  }

  const bevel::SparseColumns& view() const { return view_; }

 private:
  Vector<int64_t> offset_;
  Vector<int32_t> rows_;
  Vector<float> values_, common_;
  bevel::SparseColumns view_;
};
