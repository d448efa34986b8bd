// Class shares raised to a power and renormalised: calibrated probabilities.
#pragma once

#include <cmath>
#include <cstddef>

namespace bevel {

constexpr int kMaxHalves = 16;  // of a power of 8

// x^(halves / 2) by products and a square root, which IEEE 754 rounds identically on all machines.
inline double half_power(double x, int halves) {
  double power = halves % 2 == 1 ? std::sqrt(x) : 1.0;
  for (int i = 0; i < halves / 2; ++i) power *= x;
  return power;
}

// Rows of NaN are unchanged. Shares of zero stay zero, and the largest stays the largest.
inline void raise_shares(double* shares, size_t n_rows, size_t n_classes, int halves) {
  for (double* row = shares; row != shares + n_rows * n_classes; row += n_classes) {
    double sum = 0.0;
    for (size_t k = 0; k < n_classes; ++k) sum += row[k] = half_power(row[k], halves);
    for (size_t k = 0; k < n_classes; ++k) row[k] /= sum;
  }
}

}  // namespace bevel
