// Rows in the user's layout, read a block at a time into the form that nodes read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "bevel/data/scaler.h"
#include "bevel/data/store.h"
#include "bevel/predict/packed_forest.h"

namespace bevel {

// Rows in memory, at a distance of `stride` floats from each other.
struct RowBlock {
  const float* rows = nullptr;
  size_t stride = 0;
  size_t n = 0;
  bool is_plain = true;  // no number is missing, and no sum at a split overflows

  const float* row(size_t i) const { return rows + i * stride; }
};

// Scratch memory for a block, kept from one block to the next.
struct BlockScratch {
  std::vector<float> rows;
  std::vector<float> complete;  // one row with medians for missing values
  std::vector<int32_t> leaf;
};

// A number that is too large, infinities included; NaN is allowed.
struct NumberBeyondLimit {
  TablePlace place;
};

// Writes the negatives of places [first, last).
inline void negate(const RowLayout& layout, int32_t first, int32_t last, float* row) {
  for (int32_t i = first; i < last; ++i) row[layout.negative(i)] = -row[i];
}

// Writes the values that nodes read besides the features: level terms, a zero, and negatives if
// needed.
inline void write_rest(const PackedForest& forest, float* row) {
  const RowLayout& layout = forest.layout;
  forest.write_levels(row);
  row[layout.zero()] = 0.0f;
  if (layout.has_negatives) negate(layout, 0, layout.zero() + 1, row);
}

// Writes the values of the tree's axes after a row. `complete` is memory for the row with medians
// for missing values; a plain row needs none.
inline void write_axes(const PackedForest& forest, size_t tree, bool is_plain, float* row,
                       std::vector<float>& complete) {
  const RowLayout& layout = forest.layout;
  const float* features = row;
  if (!is_plain) {
    complete.resize(static_cast<size_t>(layout.n_features));
    for (size_t f = 0; f < complete.size(); ++f)
      complete[f] = row[f] != row[f] ? forest.medians[f] : row[f];
    features = complete.data();
  }
  forest.axes[tree].apply(features, row + layout.axis(0));
  if (layout.has_negatives) negate(layout, layout.axis(0), layout.n_positive(), row);
}

struct RowSource {
  std::variant<StridedTable<float>, StridedTable<double>> table;
  const Scaler& scaler;
  double limit;  // on the absolute value of numbers; infinity for none

  size_t n_rows() const {
    return std::visit([](const auto& t) { return t.n_rows; }, table);
  }
  // Rows [first, last), laid out for a forest. Rows that need no conversion are not
  // copied, unless the forest writes after them. Throws NumberBeyondLimit.
  RowBlock read(size_t first, size_t last, const PackedForest& forest, BlockScratch& scratch) const;
};

}  // namespace bevel
