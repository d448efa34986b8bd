// Gradient and hessian of a row as whole numbers in one word, so that sums do not depend on the
// order of rows: hessian * 2^32 + gradient. Both sums stay below 2^31 in size.
#pragma once

#include <cstdint>

namespace bevel {

using PackedSum = int64_t;

constexpr PackedSum pack(int64_t gradient, int64_t hessian) {
  return hessian * (int64_t{1} << 32) + gradient;
}
constexpr int32_t gradient_of(PackedSum sum) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum)));
}
constexpr int32_t hessian_of(PackedSum sum) {
  // A negative gradient borrows one from the upper half, which the addition returns.
  return static_cast<int32_t>((sum + (int64_t{1} << 31)) >> 32);
}

// Whole numbers per unit, and the penalty and the limits in whole numbers.
struct StatisticScales {
  double gradient = 1.0, hessian = 1.0;

  // Turns a score of whole numbers into the decrease of the loss.
  double gain(double score) const { return 0.5 * score * hessian / (gradient * gradient); }
};

}  // namespace bevel
