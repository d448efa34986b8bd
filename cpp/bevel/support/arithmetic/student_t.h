// Tail of Student's t distribution by the incomplete beta function, for real degrees of freedom.
#pragma once

#include <cmath>

#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"

namespace bevel {

// log Gamma(x) for x > 0: Stirling's series beyond 10, reached by the recurrence.
inline double log_gamma(double x) {
  double product = 1.0;
  for (; x < 10.0; x += 1.0) product *= x;
  const double z = 1.0 / (x * x);
  const double series =
      (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188))))) / x;
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  return (x - 0.5) * fixed_log(x) - x + kHalfLog2Pi + series - fixed_log(product);
}

// Regularised incomplete beta function I_x(a, b) for x below (a + 1) / (a + b + 2), by Lentz's
// evaluation of its continued fraction; `rest` is 1 - x.
inline double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0.0) return 0.0;
  constexpr double kTiny = 1e-300;
  auto away_from_zero = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), fraction = d;
  for (int step = 1; step <= 500; ++step) {
    const double k = step;
    const double even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    fraction *= c * d;
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    const double change = c * d;
    fraction *= change;
    if (std::fabs(change - 1.0) < 1e-15) break;
  }
  const double log_front = a * fixed_log(x) + b * fixed_log(rest) + log_gamma(a + b) -
                           log_gamma(a) - log_gamma(b) - fixed_log(a);
  return fixed_exp(log_front) * fraction;
}

// P(|T| > |t|) for T with `freedom` > 0 degrees of freedom: I_x(freedom / 2, 1 / 2) at
// x = freedom / (freedom + t^2). An infinite t has p = 0.
inline double two_sided_p_value(double t, double freedom) {
  const double square = t * t;
  if (!std::isfinite(square)) return 0.0;
  if (square == 0.0) return 1.0;
  const double x = freedom / (freedom + square), rest = square / (freedom + square);
  const double a = 0.5 * freedom, b = 0.5;
  if (x < (a + 1.0) / (a + b + 2.0)) return incomplete_beta(a, b, x, rest);
  return 1.0 - incomplete_beta(b, a, rest, x);
}

}  // namespace bevel
