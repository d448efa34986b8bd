#include "bevel/predict/row_source.h"

#include <cmath>
#include <limits>

namespace bevel {
namespace {

template <class Number>
bool all_within(const Number* values, int64_t stride, size_t n, double limit) {
  const auto bound = static_cast<Number>(limit);
  int outside = 0;  // missing values count as outside: they need a second look
  if (stride == 1) {
    for (size_t i = 0; i < n; ++i) outside |= !(std::fabs(values[i]) <= bound);
  } else {
    for (size_t i = 0; i < n; ++i)
      outside |= !(std::fabs(values[static_cast<int64_t>(i) * stride]) <= bound);
  }
  return outside == 0;
}

// Whether all numbers are at most `safe` in size, and none is missing; throws on one beyond the
// limit.
template <class Number>
bool check_row(const StridedTable<Number>& table, size_t row, double limit, double safe) {
  const Number* values = table.values + static_cast<int64_t>(row) * table.row_stride;
  const double bound = std::fmin(limit, safe);
  if (all_within(values, table.column_stride, table.n_columns, bound)) return true;
  for (size_t c = 0; c < table.n_columns; ++c)
    if (std::fabs(values[static_cast<int64_t>(c) * table.column_stride]) > limit)
      throw NumberBeyondLimit{{row, c}};
  return false;
}

template <class Number>
RowBlock read_rows(const StridedTable<Number>& table, const Scaler& scaler, double limit,
                   size_t first, size_t last, const PackedForest& forest, BlockScratch& scratch) {
  RowBlock block;
  block.n = last - first;
  // Scaled numbers are added up; in most forests sums of any of them are finite.
  const double safe =
      scaler.is_identity() ? forest.largest_safe : double{std::numeric_limits<Number>::max()};
  const bool looks_again = !scaler.is_identity() && forest.largest_safe < kMaxStored;
  for (size_t i = first; i < last; ++i) block.is_plain &= check_row(table, i, limit, safe);
  if constexpr (std::is_same_v<Number, float>) {
    const bool as_it_is = scaler.is_identity() && table.column_stride == 1 && table.row_stride >= 0;
    if (as_it_is && std::holds_alternative<HugeVector<AxisNode>>(forest.nodes) &&
        forest.layout.n_axes == 0 && forest.level_terms.empty()) {
      block.stride = static_cast<size_t>(table.row_stride);
      block.rows = table.values + first * block.stride;
      return block;
    }
  }
  block.stride = static_cast<size_t>(forest.layout.width());
  scratch.rows.resize(block.n * block.stride);
  for (size_t i = 0; i < block.n; ++i) {
    const Number* source = table.values + static_cast<int64_t>(first + i) * table.row_stride;
    float* target = scratch.rows.data() + i * block.stride;
    scaler.apply_row(source, table.column_stride, target);
    if (looks_again)
      block.is_plain &=
          all_within(target, 1, static_cast<size_t>(forest.layout.n_columns), forest.largest_safe);
    write_rest(forest, target);
  }
  block.rows = scratch.rows.data();
  return block;
}

}  // namespace

RowBlock RowSource::read(size_t first, size_t last, const PackedForest& forest,
                         BlockScratch& scratch) const {
  return std::visit(
      [&](const auto& t) { return read_rows(t, scaler, limit, first, last, forest, scratch); },
      table);
}

}  // namespace bevel
