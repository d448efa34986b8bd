#include "bevel/data/medians.h"

#include <algorithm>
#include <limits>

#include "bevel/support/crew.h"
#include "bevel/support/sortable.h"

namespace bevel {
namespace {

// Signed integers in the order of the floats, NaN above all: what SIMD of any kind can compare.
constexpr int32_t kMissing = std::numeric_limits<int32_t>::max();

int32_t to_key(float value) {
  return value == value ? static_cast<int32_t>(sortable(value) ^ 0x80000000u) : kMissing;
}
double from_key(int32_t key) { return from_sortable(static_cast<uint32_t>(key) ^ 0x80000000u); }

// Loops that compilers turn into lanes: counts of the width of the keys, no branches.
size_t count_up_to(std::span<const int32_t> keys, int32_t bound) {
  int32_t count = 0;
  for (int32_t key : keys) count += key <= bound;
  return static_cast<size_t>(count);
}
// Distances wrap around for keys on the other side of the bound, and are then the largest.
int32_t largest_up_to(std::span<const int32_t> keys, int32_t bound) {
  const auto from = static_cast<uint32_t>(bound);
  uint32_t distance = std::numeric_limits<uint32_t>::max();
  for (int32_t key : keys) distance = std::min(distance, from - static_cast<uint32_t>(key));
  return static_cast<int32_t>(from - distance);
}
int32_t smallest_above(std::span<const int32_t> keys, int32_t bound) {
  const uint32_t from = static_cast<uint32_t>(bound) + 1;
  uint32_t distance = std::numeric_limits<uint32_t>::max();
  for (int32_t key : keys) distance = std::min(distance, static_cast<uint32_t>(key) - from);
  return static_cast<int32_t>(from + distance);
}

// Narrows the interval that the middle is in, in turn by interpolation, which is quick, and by
// halving, which is sure. Counting is so fast that its ten rounds take a fraction of a selection.
float median(std::span<const int32_t> keys, size_t n_present) {
  if (n_present == 0) return 0.0f;
  const size_t n_lower = (n_present + 1) / 2;  // values up to and including the lower middle one
  // Always: n_low = count up to low < n_lower <= count up to high = n_high.
  int64_t low = int64_t{smallest_above(keys, std::numeric_limits<int32_t>::min())} - 1;
  int64_t high = largest_up_to(keys, kMissing - 1);
  size_t n_low = 0, n_high = n_present;
  for (bool interpolate = true; high - low > 1 && n_high != n_lower; interpolate = !interpolate) {
    int64_t middle = low + (high - low) / 2;
    if (interpolate) {
      const double from = from_key(static_cast<int32_t>(low + 1));
      const double share =
          static_cast<double>(n_lower - n_low) / static_cast<double>(n_high - n_low);
      const double guess = from + (from_key(static_cast<int32_t>(high)) - from) * share;
      middle = std::clamp<int64_t>(to_key(static_cast<float>(guess)), low + 1, high - 1);
    }
    const size_t count = count_up_to(keys, static_cast<int32_t>(middle));
    (count < n_lower ? low : high) = middle;
    (count < n_lower ? n_low : n_high) = count;
  }
  const auto bound = static_cast<int32_t>(high);
  const double lower = from_key(largest_up_to(keys, bound));
  if (n_present % 2 || n_high > n_lower) return static_cast<float>(lower);
  return static_cast<float>((lower + from_key(smallest_above(keys, bound))) / 2.0);
}

}  // namespace

ColumnFacts column_facts(const float* values, size_t n_rows, std::span<const int32_t> levels,
                         int n_threads) {
  constexpr size_t kColumnsPerJob = 64;
  ColumnFacts facts{std::vector<float>(levels.size(), 0.0f),
                    std::vector<uint8_t>(levels.size(), 0)};
  auto run = [&](int, size_t job) {
    std::vector<int32_t> keys(n_rows);
    const size_t last = std::min(levels.size(), (job + 1) * kColumnsPerJob);
    for (size_t f = job * kColumnsPerJob; f < last; ++f) {
      if (levels[f]) continue;
      std::transform(values + f * n_rows, values + (f + 1) * n_rows, keys.begin(), to_key);
      const size_t n_present = count_up_to(keys, kMissing - 1);
      facts.median[f] = median(keys, n_present);
      facts.has_nan[f] = n_present < n_rows;
    }
  };
  const size_t n_jobs = (levels.size() + kColumnsPerJob - 1) / kColumnsPerJob;
  if (n_jobs == 1) {
    run(0, 0);
    return facts;
  }
  Crew crew(n_jobs, run);
  crew.start(n_threads);
  crew.finish();
  return facts;
}

}  // namespace bevel
