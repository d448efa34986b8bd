// Medians of the numeric features, which stand in for missing values where features are combined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bevel {

// values: column-major, n_rows each. NaN is left out; 0 for a nominal column or one without values.
void medians(const float* values, size_t n_rows, std::span<const int32_t> levels, int n_threads,
             float* out);

}  // namespace bevel
