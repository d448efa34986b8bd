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
  constexpr double kInverseFactorial[] = {1.0,
                                          1.0,
                                          1.0 / 2,
                                          1.0 / 6,
                                          1.0 / 24,
                                          1.0 / 120,
                                          1.0 / 720,
                                          1.0 / 5040,
                                          1.0 / 40320,
                                          1.0 / 362880,
                                          1.0 / 3628800,
                                          1.0 / 39916800,
                                          1.0 / 479001600,
                                          1.0 / 6227020800.0};
  double series = kInverseFactorial[13];
  for (int i = 12; i >= 0; --i) series = series * r + kInverseFactorial[i];
  return series * std::bit_cast<double>(static_cast<uint64_t>(k + 1023) << 52);
}

}  // namespace bevel
