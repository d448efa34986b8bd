// The arithmetic of scaling, over values in memory at any stride. Bounds are indexed by the
// position of a value: an array along a row, one number along a column. Loops have no branches, so
// that compilers vectorise them, and contain no call of the C library, so that a table is scaled to
// the same bits on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/support/inlining.h"

namespace bevel::scaling {

// Values per loop, whose memory on the stack fits in the innermost cache.
constexpr size_t kBlock = 128;

// One number for all positions.
struct ConstantBound {
  double value;
  double operator[](size_t) const { return value; }
};

template <class Number>
struct Strided {
  const Number* values;
  ptrdiff_t stride;
  double operator[](size_t i) const { return values[static_cast<ptrdiff_t>(i) * stride]; }
};

// Calls loop(source) with a constant stride of one where it applies.
template <class Number, class Loop>
void over(const Number* source, ptrdiff_t stride, Loop loop) {
  if (stride == 1)
    loop(source);
  else
    loop(Strided<Number>{source, stride});
}

// Keeps NaN, and the sign of zeros.
inline double cut(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

inline float stored(double scaled, double limit) {
  return static_cast<float>(cut(scaled, -limit, limit));
}

template <class Source>
void pass(Source source, size_t n, float* target) {
  for (size_t i = 0; i < n; ++i) target[i] = static_cast<float>(source[i]);
}

template <class Source, class Bound>
void linear(Source source, size_t n, Bound shift, Bound span, double limit, float* target) {
  for (size_t i = 0; i < n; ++i) {
    const double value = source[i];
    target[i] = stored((value - shift[i]) / span[i], limit);
  }
}

template <class Source, class Bound>
void linear_cut(Source source, size_t n, Bound shift, Bound span, float* target) {
  for (size_t i = 0; i < n; ++i) {
    const double value = source[i];
    target[i] = static_cast<float>(cut((value - shift[i]) / span[i], 0.0, 1.0));
  }
}

// log(x) for finite x >= 1 by a fixed series: 2 artanh((m - 1) / (m + 1)) + e log 2 with x = m 2^e
// and m in [sqrt(1/2), sqrt(2)). It is the series by which saved forests were grown: not to be
// replaced by another logarithm, even a more accurate one.
inline double log_series(double x) {
  constexpr uint64_t kFraction = 0x000fffffffffffffULL;
  constexpr uint64_t kHalf = 0x3fe0000000000000ULL;     // exponent of [1/2, 1)
  constexpr uint64_t kTwoTo52 = 0x4330000000000000ULL;  // exponent whose last bit is one unit
  constexpr uint64_t kRoot = std::bit_cast<uint64_t>(0.7071067811865476) & kFraction;
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t fraction = bits & kFraction;
  const uint64_t small = (fraction - kRoot) >> 63;  // one below sqrt(1/2), which is then doubled
  const double mantissa = std::bit_cast<double>(fraction | (kHalf + (small << 52)));
  const double biased = std::bit_cast<double>(((bits >> 52) - small) | kTwoTo52);
  const double exponent = biased - (0x1p52 + 1022.0);
  const double ratio = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = ratio * ratio;
  double series = 1.0 / 21.0;
  series = series * square + 1.0 / 19.0;
  series = series * square + 1.0 / 17.0;
  series = series * square + 1.0 / 15.0;
  series = series * square + 1.0 / 13.0;
  series = series * square + 1.0 / 11.0;
  series = series * square + 1.0 / 9.0;
  series = series * square + 1.0 / 7.0;
  series = series * square + 1.0 / 5.0;
  series = series * square + 1.0 / 3.0;
  series = series * square + 1.0;
  return exponent * 0.6931471805599453 + 2.0 * ratio * series;
}

inline double dampen(double distance) {
  return 0.01 * log_series(1.0 + log_series(1.0 + distance));
}

// At most kBlock values, from position `first` on: all as if between the bounds, then the few
// beyond, gathered so that their logarithms are vectorised.
template <class Source, class Bound>
void quantile_block(Source source, size_t first, size_t last, Bound low, Bound high, Bound span,
                    double limit, float* target) {
  for (size_t i = first; i < last; ++i) {
    const double value = source[i];
    target[i] = stored((cut(value, low[i], high[i]) - low[i]) / span[i], limit);
  }
  size_t beyond[kBlock];
  size_t n_beyond = 0;
  for (size_t i = first; i < last; ++i) {
    const double value = source[i];
    beyond[n_beyond] = i;
    n_beyond += static_cast<size_t>(value < low[i]) | static_cast<size_t>(value > high[i]);
  }
  double dampened[kBlock];
  for (size_t k = 0; k < n_beyond; ++k) {
    const size_t i = beyond[k];
    const double value = source[i];
    dampened[k] = value > high[i] ? value - high[i] : low[i] - value;
  }
  for (size_t k = 0; k < n_beyond; ++k) dampened[k] = dampen(dampened[k]);
  for (size_t k = 0; k < n_beyond; ++k) {
    const size_t i = beyond[k];
    const bool over = source[i] > high[i];
    target[i] = stored(over ? 1.0 + dampened[k] : -dampened[k], limit);
  }
}

template <class Source, class Bound>
void quantile(Source source, size_t n, Bound low, Bound high, Bound span, double limit,
              float* target) {
  for (size_t first = 0; first < n; first += kBlock)
    quantile_block(source, first, std::min(n, first + kBlock), low, high, span, limit, target);
}

// Scales a column in longer blocks, so that the few values beyond the bounds fill whole registers.
// No limit is needed: all results are near [0, 1].
template <class Source>
BEVEL_ALWAYS_INLINE void quantile_column(Source source, size_t n, double low, double high,
                                         double span, float* target) {
  constexpr size_t kLong = 512, kLanes = 8;
  double values[kLong], outer[kLong + kLanes];
  uint64_t is_beyond[kLong];
  uint32_t beyond[kLong];
  float dampened[kLong + kLanes];
  for (size_t first = 0; first < n; first += kLong) {
    const size_t n_block = std::min(n - first, kLong);
    float* block = target + first;
    for (size_t i = 0; i < n_block; ++i) values[i] = source[first + i];
    for (size_t i = 0; i < n_block; ++i)
      block[i] = static_cast<float>((cut(values[i], low, high) - low) / span);
    for (size_t i = 0; i < n_block; ++i)
      is_beyond[i] =
          static_cast<uint64_t>(values[i] < low) | static_cast<uint64_t>(values[i] > high);
    size_t n_beyond = 0;
    for (size_t i = 0; i < n_block; ++i) {
      beyond[n_beyond] = static_cast<uint32_t>(i);
      n_beyond += is_beyond[i];
    }
    for (size_t k = 0; k < n_beyond; ++k) outer[k] = values[beyond[k]];
    std::fill_n(outer + n_beyond, kLanes, high);
    for (size_t start = 0; start < n_beyond; start += kLanes)
      for (size_t k = start; k < start + kLanes; ++k) {
        const double above = outer[k] - high, below = low - outer[k];
        const bool over = above >= 0.0;
        const double rest = dampen(over ? above : below);
        dampened[k] = static_cast<float>(over ? 1.0 + rest : -rest);
      }
    for (size_t k = 0; k < n_beyond; ++k) block[beyond[k]] = dampened[k];
  }
}

// Knots of one column, an infinity at either end, and their ranks.
struct Ranks {
  std::span<const double> knots;
  const double* ranks;
  bool relative, complete;
};

// The first knot that is not below each value, any for NaN: the same number of steps for all values
// and no branches, so that several searches run side by side.
template <size_t kLanes>
void search(std::span<const double> knots, const double* values, size_t* above) {
  size_t first[kLanes] = {};
  for (size_t left = knots.size(); left > 1;) {
    const size_t half = left / 2;
    const double* middle = knots.data() + half - 1;
    for (size_t i = 0; i < kLanes; ++i)
      first[i] += half & -static_cast<size_t>(middle[first[i]] < values[i]);
    left -= half;
  }
  std::copy(first, first + kLanes, above);
}

inline void search(std::span<const double> knots, const double* values, size_t n, size_t* above) {
  constexpr size_t kLanes = 8;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) search<kLanes>(knots, values + i, above + i);
  for (; i < n; ++i) search<1>(knots, values + i, above + i);
}

// Fraction of the way of a value from the knot below it to the knot above it, 0 to 1.
inline double share(const Ranks& r, double value, size_t below, size_t above) {
  if (r.relative && r.complete) return 0.5;
  if (above == r.knots.size() - 1) return r.relative ? 0.5 : 1.0;
  if (below == 0) return r.relative ? 0.5 : 0.0;
  return (value - r.knots[below]) / (r.knots[above] - r.knots[below]);
}

inline double rank_of(const Ranks& r, double value, size_t above) {
  if (value != value) return value;
  if (r.knots[above] == value) return r.ranks[above];
  const size_t below = above - (above > 0);
  return r.ranks[below] + share(r, value, below, above) * (r.ranks[above] - r.ranks[below]);
}

template <class Source>
void rank(Source source, size_t n, const Ranks& ranks, double limit, float* target) {
  double values[kBlock];
  size_t above[kBlock];
  for (size_t first = 0; first < n; first += kBlock) {
    const size_t n_block = std::min(n - first, kBlock);
    for (size_t i = 0; i < n_block; ++i) values[i] = source[first + i];
    search(ranks.knots, values, n_block, above);
    for (size_t i = 0; i < n_block; ++i)
      target[first + i] = stored(rank_of(ranks, values[i], above[i]), limit);
  }
}

}  // namespace bevel::scaling
