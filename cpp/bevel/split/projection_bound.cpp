#include "bevel/split/projection_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "bevel/support/arithmetic/float_range.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

// Compares bits, which compilers vectorise; NaN is ignored.
BEVEL_WIDE_LOOP int32_t largest_bits(const float* values, size_t n) {
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t largest = 0;
  for (size_t i = 0; i < n; ++i) {
    const int32_t bits = std::bit_cast<int32_t>(values[i]) & 0x7fffffff;
    const int32_t missing = -static_cast<int32_t>(bits > kInfinity);
    largest = std::max(largest, bits & ~missing);
  }
  return largest;
}

double largest_in_columns(const DatasetView& data) {
  double largest = 0.0;
  if (data.sparse) {
    const SparseColumns& columns = *data.sparse;
    largest = largest_size_of(columns.values, columns.n_exceptions());
    for (size_t f = 0; f < columns.n_features; ++f)
      if (columns.column(f).rows.size() < columns.n_rows)
        largest = std::max<double>(largest, largest_size_of(columns.common + f, 1));
    return largest;
  }
  for (int32_t f : data.numbers())
    largest = std::max<double>(largest, largest_size_of(data.column(f), data.n_rows));
  return largest;
}

}  // namespace

float largest_size_of(const float* values, size_t n) {
  return std::bit_cast<float>(largest_bits(values, n));
}

ProjectionBound::ProjectionBound(const DatasetView& data)
    : ProjectionBound(data, largest_in_columns(data)) {}

ProjectionBound::ProjectionBound(const DatasetView& data, double largest_value)
    : largest_value_(std::max<double>(
          largest_value, largest_size_of(data.medians, static_cast<size_t>(data.n_features)))) {
  // An axis of a tree has length one: on a row it is at most as large as the row.
  largest_value_ *= std::sqrt(static_cast<double>(data.n_features));
}

bool ProjectionBound::may_overflow(const Candidates& candidates, size_t first, size_t last) const {
  const size_t begin = candidates.offset[first];
  const size_t n = candidates.offset[last] - begin;
  const double weight = largest_size_of(candidates.weight.data() + begin, n);
  return !(weight * static_cast<double>(n) * largest_value_ < kMaxSum);
}

}  // namespace bevel
