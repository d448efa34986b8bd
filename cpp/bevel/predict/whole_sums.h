// Sums in whole numbers, to which threads may add in any order with the same result.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/support/arithmetic/grid_scale.h"
#include "bevel/support/memory.h"

namespace bevel {

class WholeSums {
 public:
  // Sums of at most n_terms terms each, none beyond +-largest.
  WholeSums(size_t n_sums, double largest, size_t n_terms)
      : scale_(grid_scale(largest * static_cast<double>(n_terms), 61)),
        whole_(allocate<int64_t>(n_sums, "sums for each row and class")) {}

  void add(size_t sum, double term) {
    std::atomic_ref<int64_t>(whole_[sum])
        .fetch_add(std::llround(term * scale_), std::memory_order_relaxed);
  }

  void copy_to(double* out) const {
    for (size_t i = 0; i < whole_.size(); ++i) out[i] = static_cast<double>(whole_[i]) / scale_;
  }

 private:
  double scale_;
  std::vector<int64_t> whole_;
};

}  // namespace bevel
