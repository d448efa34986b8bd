// Linear models in leaves: the value of a leaf on a row, in training and in all predictors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bevel {

// A term of a leaf's model: the coefficient times the feature, clipped to the range of the rows
// that the leaf was grown on, so that no row is extrapolated to.
struct LeafTerm {
  int32_t feature;
  float weight, low, high;

  // A missing number counts as the median. The product of two numbers of 24 bits is exact.
  double value(float x, float median) const {
    if (x != x) x = median;
    return double{weight} * double{std::min(std::max(x, low), high)};
  }
  // Its value in the middle of the range.
  double middle() const { return double{weight} * ((double{low} + double{high}) / 2.0); }
  // The largest size of its values.
  double largest() const {
    return std::fabs(double{weight}) * std::max(std::fabs(double{low}), std::fabs(double{high}));
  }
  bool is_sound() const {
    return std::isfinite(weight) && std::isfinite(low) && std::isfinite(high) && low <= high;
  }
};

}  // namespace bevel
