// An exponential made of basic operations only: see logarithm.h.
#pragma once

#include <bit>
#include <cstdint>

namespace bevel {

// exp(x), accurate to about one unit in the last place; 0 below -708 and exp(709) above 709.
// x = k ln 2 + r with |r| <= ln(2) / 2; exp r by its series.
inline double fixed_exp(double x) {
  constexpr double kInvLn2 = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  if (!(x > -708.0)) return 0.0;
  if (x > 709.0) x = 709.0;
  const double scaled = x * kInvLn2;
  const auto k = static_cast<int64_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const auto whole = static_cast<double>(k);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double series = 1.0;
  for (int i = 14; i >= 1; --i) series = 1.0 + series * r * (1.0 / i);
  return series * std::bit_cast<double>(static_cast<uint64_t>(k + 1023) << 52);
}

}  // namespace bevel
