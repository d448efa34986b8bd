// Rows as whole numbers, so that sums do not depend on the division into blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bevel/support/arithmetic/grid_scale.h"

namespace bevel {

// Totals of a table that must be known before trees are grown.
struct TableTotals {
  uint64_t n_rows = 0;
  int32_t n_classes = 0;         // 0: regression
  bool whole_weights = true;     // small whole numbers
  double largest_weight = 1.0;   // of a row
  double low = 0.0, high = 0.0;  // regression: range of the targets
};

// Sums of one row with all its draws; value: its class, or weight times target.
struct RowSums {
  int64_t weight, value;
};

struct RowGrid {
  int32_t n_classes = 0;
  bool whole = true;    // weights are kept unchanged
  double weight = 1.0;  // whole units per unit of weight
  double target = 1.0;  // whole units per unit of weight times target
  double centre = 0.0;  // of the targets
  double gain = 1.0;    // stored gains per unit of gain

  RowGrid() = default;
  explicit RowGrid(const TableTotals& table)
      : n_classes(table.n_classes), whole(table.whole_weights) {
    // Bags by row number have a random size, which never reaches twice the rows.
    const double draws = 2.0 * static_cast<double>(table.n_rows) + 64.0;
    if (!whole) weight = grid_scale(draws * table.largest_weight, 52);
    if (n_classes > 0) return;
    centre = table.low + (table.high - table.low) / 2.0;
    const double reach = std::max(table.high - centre, centre - table.low);
    target = grid_scale(draws * table.largest_weight * reach, 61);
    // Gains are kept in float32; where that cannot hold them, in units of a power of two.
    const double largest_gain = draws * table.largest_weight * (reach * reach);
    if (largest_gain < 0x1p-100 || largest_gain > 0x1p127) gain = grid_scale(largest_gain, 0);
  }

  size_t n_moments() const { return n_classes > 0 ? static_cast<size_t>(n_classes) : 2; }
  // Numbers of a cell: distinct rows, then the weight of each class or weight and weighted target.
  size_t cell_size() const { return 1 + n_moments(); }

  RowSums of_class(int32_t label, double row_weight, int32_t draws) const {
    return {weight_of(row_weight, draws), label};
  }
  RowSums of_target(double y, double row_weight, int32_t draws) const {
    const int64_t w = weight_of(row_weight, draws);
    if (whole) return {w, w * std::llround((y - centre) * target)};
    return {w, std::llround(draws * row_weight * (y - centre) * target)};
  }

 private:
  // No weight may round to zero: a row must have some weight.
  int64_t weight_of(double row_weight, int32_t draws) const {
    const double real = draws * row_weight;
    return whole ? static_cast<int64_t>(real) : std::max<int64_t>(1, std::llround(real * weight));
  }
};

}  // namespace bevel
