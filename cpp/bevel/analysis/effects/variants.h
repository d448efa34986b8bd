// Variants of rows: a row with other values of some features.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bevel {

// Every row takes the values of a grid of one or two features. Variant g2 * n1 + g1 has value g1 of
// the first feature and g2 of the second. Values are ascending; a second axis of no values stands
// for a grid of one feature.
struct FeatureGrid {
  std::array<int32_t, 2> feature{-1, -1};
  std::array<std::span<const float>, 2> values;

  int n_axes() const { return values[1].empty() ? 1 : 2; }
  size_t size(int axis) const { return axis < n_axes() ? values[axis].size() : 1; }
  double beyond_first(int axis, size_t point) const {
    return static_cast<double>(values[axis][point]) - values[axis][0];
  }
  size_t n_variants() const { return size(0) * size(1); }
};

// Every row has its own values: n_rows x n_variants x number of features.
struct RowVariants {
  std::span<const int32_t> features;
  const float* values = nullptr;
  size_t n_variants_ = 0;

  size_t n_variants() const { return n_variants_; }
  const float* of(size_t row, size_t variant) const {
    return values + (row * n_variants_ + variant) * features.size();
  }
};

}  // namespace bevel
