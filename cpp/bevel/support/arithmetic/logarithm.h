// A natural logarithm made of basic operations only. The C library's differs between platforms in
// the last bit, which would give different forests on different machines.
#pragma once

#include <bit>
#include <cstdint>

namespace bevel {

// log(x) for finite x > 0, accurate to about one unit in the last place.
// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh(s), s = (m - 1) / (m + 1).
inline double fixed_log(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  int exponent = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;  // 2^54 brings a denormal into the normal range
    exponent = -54;
  }
  uint64_t bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double tail = 1.0 / 23.0;
  for (int k = 21; k >= 3; k -= 2) tail = tail * z + 1.0 / k;
  const double log_m = 2.0 * s + 2.0 * s * z * tail;
  return exponent * kLn2High + (log_m + exponent * kLn2Low);
}

// x log2 x, with its limit 0 at 0: the term of the entropy.
inline double x_log2_x(double x) {
  constexpr double kInvLn2 = 1.4426950408889634074;
  return x > 0.0 ? x * (fixed_log(x) * kInvLn2) : 0.0;
}

}  // namespace bevel
