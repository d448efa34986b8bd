#include "bevel/support/arithmetic/many_values.h"

#include <bit>
#include <cstdint>

#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr uint64_t kRootOfTwo = std::bit_cast<uint64_t>(1.4142135623730951);

inline uint64_t all_bits_if_negative(double x) { return 0 - (std::bit_cast<uint64_t>(x) >> 63); }

}  // namespace

// The operations of fixed_exp() and fixed_log() without branches, and with whole numbers of 32
// bits, which all instruction sets can convert, so that compilers vectorise them.

BEVEL_WIDE_LOOP void exponentials(const double* x, size_t n, double* out) {
  constexpr double kInvLn2 = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t is_positive = all_bits_if_negative(-708.0 - x[i]);
    const uint64_t is_large = all_bits_if_negative(709.0 - x[i]);
    const uint64_t kept = std::bit_cast<uint64_t>(x[i]) & is_positive & ~is_large;
    const double value = std::bit_cast<double>(kept | (std::bit_cast<uint64_t>(709.0) & is_large));
    const double scaled = value * kInvLn2;
    const uint64_t sign = std::bit_cast<uint64_t>(scaled) & kSign;
    const double half = std::bit_cast<double>(sign | std::bit_cast<uint64_t>(0.5));
    const auto k = static_cast<int32_t>(scaled + half);
    const auto whole = static_cast<double>(k);
    const double r = (value - whole * kLn2High) - whole * kLn2Low;
    double series = 1.0 / 6227020800.0;
    series = series * r + 1.0 / 479001600;
    series = series * r + 1.0 / 39916800;
    series = series * r + 1.0 / 3628800;
    series = series * r + 1.0 / 362880;
    series = series * r + 1.0 / 40320;
    series = series * r + 1.0 / 5040;
    series = series * r + 1.0 / 720;
    series = series * r + 1.0 / 120;
    series = series * r + 1.0 / 24;
    series = series * r + 1.0 / 6;
    series = series * r + 1.0 / 2;
    series = series * r + 1.0;
    series = series * r + 1.0;
    const double power = std::bit_cast<double>(static_cast<uint64_t>(int64_t{k} + 1023) << 52);
    out[i] = std::bit_cast<double>(std::bit_cast<uint64_t>(series * power) & is_positive);
  }
}

BEVEL_WIDE_LOOP void logarithms(const double* x, size_t n, double* out) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t bits = std::bit_cast<uint64_t>(x[i]);
    const uint64_t mantissa = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
    // One where the mantissa is above the root of two: then it is halved.
    const uint64_t is_large = (kRootOfTwo - mantissa) >> 63;
    const double m = std::bit_cast<double>(mantissa - (is_large << 52));
    const auto whole = static_cast<double>(static_cast<int32_t>((bits >> 52) + is_large) - 1023);
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double tail = 1.0 / 23.0;
    tail = tail * z + 1.0 / 21;
    tail = tail * z + 1.0 / 19;
    tail = tail * z + 1.0 / 17;
    tail = tail * z + 1.0 / 15;
    tail = tail * z + 1.0 / 13;
    tail = tail * z + 1.0 / 11;
    tail = tail * z + 1.0 / 9;
    tail = tail * z + 1.0 / 7;
    tail = tail * z + 1.0 / 5;
    tail = tail * z + 1.0 / 3;
    const double log_m = 2.0 * s + 2.0 * s * z * tail;
    out[i] = whole * kLn2High + (log_m + whole * kLn2Low);
  }
}

}  // namespace bevel
