// Large arrays are filled in steps, since the system takes time for each page.
#pragma once

#include <algorithm>
#include <cstddef>

#include "bevel/support/cancellation.h"

namespace bevel {

// `n` zeros in a vector; throws Cancelled within milliseconds when the call is to stop.
template <class Vector>
void fill_with_zeros(Vector& values, size_t n) {
  constexpr size_t kStep = size_t{1} << 20;
  values.clear();
  values.reserve(n);
  while (values.size() < n) {
    const size_t step = std::min(kStep, n - values.size());
    poll_cancellation(step * sizeof(values[0]) / 8);
    values.resize(values.size() + step);
  }
}

// As resize, where old values need not be kept.
template <class Vector>
void resize_in_steps(Vector& values, size_t n) {
  if (n <= values.capacity())
    values.resize(n);
  else
    fill_with_zeros(values, n);
}

}  // namespace bevel
