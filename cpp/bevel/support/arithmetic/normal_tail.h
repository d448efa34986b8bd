// Tail of the normal distribution by the incomplete gamma function.
#pragma once

#include <cmath>

#include "bevel/support/arithmetic/exponential.h"

namespace bevel {

// P(|Z| > |z|) for a standard normal Z: the regularised incomplete gamma function Q(1/2, x) at
// x = z^2 / 2, by its continued fraction, or for small x by the series of 1 - Q; both are taken as
// the precision of a double at x = 2. 0 where it is below 1e-308.
inline double two_sided_normal_p_value(double z) {
  constexpr double kInverseRootPi = 0.56418958354775628695;
  const double x = 0.5 * z * z;
  if (!(x < 708.0)) return 0.0;
  const double front = kInverseRootPi * std::sqrt(x) * fixed_exp(-x);
  if (x < 2.0) {
    double term = 2.0, series = term;
    for (int k = 1; k <= 32; ++k) {
      term *= x / (k + 0.5);
      series += term;
    }
    return 1.0 - front * series;
  }
  double fraction = 0.0;
  for (int k = 50; k >= 1; --k) fraction = k * (k - 0.5) / (x + 2.0 * k + 0.5 - fraction);
  return front / (x + 0.5 - fraction);
}

}  // namespace bevel
