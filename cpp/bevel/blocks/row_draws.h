// Bags by the number of the row: how often a tree has drawn a row depends on seed, tree and row
// alone, so blocks of rows draw their part of a bag without knowing the others.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/random/stream.h"

namespace bevel {

// Number `row` of the tree's stream of bags decides on a row. With replacement its draws have a
// Poisson distribution, the limit of a bootstrap of very many rows; without,
// the row is in or out. The size of a bag is random and equals the requested one in expectation.
class RowDraws {
 public:
  static constexpr int32_t kMax = 15;  // draws of a row; more have a probability below 1e-13

  // Every row once.
  RowDraws() = default;
  // rate: expected draws of a row, at most 1.
  RowDraws(double rate, bool replace) : draws_(true) {
    if (!replace) {
      bounds_.push_back(as_bound(1.0 - rate));
      return;
    }
    double term = exp_minus(rate), sum = 0.0;
    for (int32_t k = 0; k < kMax; ++k) {
      sum += term;
      bounds_.push_back(as_bound(sum));
      term *= rate / (k + 1);
    }
  }

  int32_t operator()(NodeKey root, uint64_t row) const {
    if (!draws_) return 1;
    const uint64_t state = mix(root ^ (static_cast<uint64_t>(Purpose::bag) * kStep));
    const uint64_t draw = mix(state + (row + 1) * kStep);
    int32_t n = 0;
    for (const uint64_t bound : bounds_) {
      if (draw < bound) break;
      ++n;
    }
    return n;
  }

  const std::vector<uint64_t>& bounds() const { return bounds_; }
  bool draws() const { return draws_; }
  static RowDraws from_bounds(bool draws, std::vector<uint64_t> bounds) {
    RowDraws result;
    result.draws_ = draws;
    result.bounds_ = std::move(bounds);
    return result;
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;  // of Stream

  // Own implementation, since that of the C library may differ between machines.
  static double exp_minus(double x) {
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 30; ++k) {
      term *= -x / k;
      sum += term;
    }
    return sum;
  }
  static uint64_t as_bound(double probability) {
    if (probability >= 1.0) return ~uint64_t{0};
    return probability <= 0.0 ? 0 : static_cast<uint64_t>(std::ldexp(probability, 64));
  }

  bool draws_ = false;
  std::vector<uint64_t> bounds_;  // of the stream: a row is drawn once for each that it reaches
};

}  // namespace bevel
