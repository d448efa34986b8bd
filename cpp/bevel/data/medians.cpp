#include "bevel/data/medians.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/thread_pool.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

// Signed integers in the order of the floats, NaN above all, which any SIMD can compare.
constexpr int32_t kMissing = std::numeric_limits<int32_t>::max();

// By bits and without a branch: comparing floats would prevent vectorisation.
int32_t to_key(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto missing = -static_cast<int32_t>((bits & 0x7fffffffu) > 0x7f800000u);
  const auto key = static_cast<int32_t>(sortable(value) ^ 0x80000000u);
  return (key & ~missing) | (kMissing & missing);
}
double from_key(int32_t key) { return from_sortable(static_cast<uint32_t>(key) ^ 0x80000000u); }

// Loops that compilers vectorise: counts of the width of the keys, no branches.
struct KeyRange {
  int32_t low, high;
  size_t n_present;
};
BEVEL_WIDE_LOOP KeyRange to_keys(std::span<const float> values, int32_t* keys) {
  for (size_t i = 0; i < values.size(); ++i) keys[i] = to_key(values[i]);
  int32_t low = kMissing, high = std::numeric_limits<int32_t>::min(), n_missing = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const int32_t missing = -static_cast<int32_t>(keys[i] == kMissing);
    low = std::min(low, keys[i]);
    high = std::max(high, keys[i] ^ missing);  // missing values become the smallest number
    n_missing -= missing;
  }
  return {low, high, values.size() - static_cast<size_t>(n_missing)};
}
BEVEL_WIDE_LOOP size_t count_up_to(std::span<const int32_t> keys, int32_t bound) {
  int32_t count = 0;
  for (int32_t key : keys) count += key <= bound;
  return static_cast<size_t>(count);
}
// The largest key up to the bound and the smallest above it. Distances wrap around for keys on the
// other side, and are then the largest.
struct Neighbours {
  int32_t below, above;
};
BEVEL_WIDE_LOOP Neighbours neighbours(std::span<const int32_t> keys, int32_t bound) {
  const auto from = static_cast<uint32_t>(bound);
  uint32_t down = std::numeric_limits<uint32_t>::max(), up = down;
  for (int32_t key : keys) {
    const auto k = static_cast<uint32_t>(key);
    down = std::min(down, from - k);
    up = std::min(up, k - from - 1);
  }
  return {static_cast<int32_t>(from - down), static_cast<int32_t>(from + 1 + up)};
}

// Alternates interpolation of the ranks between the last two positions, which is fast, with
// bisection, which is certain, after some rounds. Counting is so fast that a handful of rounds take
// a fraction of the time of a selection.
float median(std::span<const int32_t> keys, const KeyRange& range) {
  constexpr int kGuesses = 8;
  constexpr double kBell = 2.6;  // density in the middle of a bell, in units of its range
  if (range.n_present == 0) return 0.0f;
  const auto n = static_cast<double>(range.n_present);
  const size_t n_lower = (range.n_present + 1) / 2;  // up to and including the lower middle one
  // Invariant: n_low = count up to low < n_lower <= count up to high = n_high.
  int64_t low = int64_t{range.low} - 1, high = range.high;
  size_t n_high = range.n_present;
  const double first = from_key(range.low), last = from_key(range.high);
  double guess = first + (last - first) / 2.0;
  double density = kBell * n / (last - first);
  double last_place = 0.0, last_count = 0.0;
  for (int round = 0; high - low > 1 && n_high != n_lower; ++round) {
    int64_t middle = low + (high - low) / 2;
    if (round < kGuesses || round % 2)
      middle = std::clamp<int64_t>(to_key(static_cast<float>(guess)), low + 1, high - 1);
    poll_cancellation(keys.size());
    const size_t count = count_up_to(keys, static_cast<int32_t>(middle));
    (count < n_lower ? low : high) = middle;
    if (count >= n_lower) n_high = count;
    const double place = from_key(static_cast<int32_t>(middle));
    const auto rank = static_cast<double>(count);
    if (round > 0 && rank != last_count && place != last_place)
      density = (rank - last_count) / (place - last_place);
    guess = place + (static_cast<double>(n_lower) - rank) / density;
    last_place = place;
    last_count = rank;
  }
  const Neighbours middle = neighbours(keys, static_cast<int32_t>(high));
  const double lower = from_key(middle.below);
  if (range.n_present % 2 || n_high > n_lower) return static_cast<float>(lower);
  return static_cast<float>((lower + from_key(middle.above)) / 2.0);
}

}  // namespace

void ColumnSummary::find(size_t feature, std::span<const float> values,
                         std::vector<int32_t>& keys) {
  keys.resize(values.size());
  const KeyRange range = to_keys(values, keys.data());
  median[feature] = bevel::median(keys, range);
  has_nan[feature] = range.n_present < values.size();
}

ColumnSummary summarise_columns(const float* values, size_t n_rows, std::span<const int32_t> levels,
                                int n_threads) {
  constexpr size_t kColumnsPerJob = 64;
  ColumnSummary summary(levels.size());
  auto run = [&](int, size_t job) {
    std::vector<int32_t> keys;
    const size_t last = std::min(levels.size(), (job + 1) * kColumnsPerJob);
    for (size_t f = job * kColumnsPerJob; f < last; ++f)
      if (!levels[f]) summary.find(f, {values + f * n_rows, n_rows}, keys);
  };
  const size_t n_jobs = (levels.size() + kColumnsPerJob - 1) / kColumnsPerJob;
  if (n_jobs == 1) {
    run(0, 0);
    return summary;
  }
  ThreadPool(n_threads, n_jobs, run).run();
  return summary;
}

}  // namespace bevel
