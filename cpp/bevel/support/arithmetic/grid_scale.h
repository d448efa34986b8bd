// Sums in whole numbers, which do not depend on the order of threads.
#pragma once

#include <algorithm>
#include <cmath>

namespace bevel {

// Largest power of two by which the values may be multiplied for their sum to stay below 2^bits.
inline double grid_scale(double largest_sum, int bits) {
  if (!(largest_sum > 0.0)) return 1.0;
  int exponent = 0;
  std::frexp(largest_sum, &exponent);
  return std::ldexp(1.0, std::clamp(bits - exponent, -1000, 1000));
}

}  // namespace bevel
