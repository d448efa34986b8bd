#include "bevel/boosting/direction_bins.h"

#include <cmath>
#include <vector>

#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/check.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

// The cells of values, as in DirectionBins::cell().
BEVEL_WIDE_LOOP void find_cells(const float* values, size_t n, float low, float scale,
                                int32_t* cells) {
  constexpr float kLast = DirectionBins::kCells - 1;
  for (size_t i = 0; i < n; ++i) {
    const float position = (values[i] - low) * scale;
    cells[i] = static_cast<int32_t>(std::min(std::max(position, 0.0f), kLast));
  }
}

// Widens a range to that of finite values, by whole numbers of the same order.
BEVEL_WIDE_LOOP void find_range(const float* values, size_t n, uint32_t& low, uint32_t& high) {
  uint32_t lowest = low, highest = high;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t value = sortable(values[i]);
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  low = lowest;
  high = highest;
}

}  // namespace

void DirectionBins::code_values(const float* values, size_t n, int32_t* cells, size_t stride,
                                uint8_t* out) const {
  find_cells(values, n, low_, scale_, cells);
  for (size_t i = 0; i < n; ++i) out[i * stride] = code_[static_cast<size_t>(cells[i])];
}

DirectionBins::DirectionBins(std::span<const float> sample, int max_bins, size_t n_common,
                             float common) {
  const size_t n_rows = sample.size() + n_common;
  if (n_rows == 0) return;
  uint32_t low = sortable(n_common ? common : sample[0]), high = low;
  find_range(sample.data(), sample.size(), low, high);
  low_ = from_sortable(low);
  high_ = from_sortable(high);
  scale_ = static_cast<float>(kCells) / (high_ - low_);
  if (!(low_ < high_) || !std::isfinite(scale_)) {  // one bin
    scale_ = 0.0f;
    return;
  }
  std::array<uint32_t, kCells> count{};
  std::vector<int32_t> cells(sample.size());
  find_cells(sample.data(), sample.size(), low_, scale_, cells.data());
  for (const int32_t each : cells) ++count[static_cast<size_t>(each)];
  if (n_common) count[static_cast<size_t>(cell(common))] += static_cast<uint32_t>(n_common);
  // A bin ends where it has its share of the remaining rows, in the middle of the empty cells
  // that follow.
  size_t taken = 0, in_bin = 0;
  int bin = 0, last_occupied = 0;
  for (int c = 0; c < kCells; ++c) {
    code_[static_cast<size_t>(c)] = static_cast<uint8_t>(bin);
    if (count[static_cast<size_t>(c)] == 0) continue;
    const auto bins_left = static_cast<size_t>(max_bins - bin);
    if (bins_left > 1 && in_bin > 0 && in_bin * bins_left >= n_rows - taken) {
      taken += in_bin;
      in_bin = 0;
      ++bin;
      for (int e = last_occupied + (c - last_occupied) / 2 + 1; e <= c; ++e)
        code_[static_cast<size_t>(e)] = static_cast<uint8_t>(bin);
    }
    in_bin += count[static_cast<size_t>(c)];
    last_occupied = c;
  }
  n_bins_ = bin + 1;
}

float DirectionBins::threshold(int bin) const {
  // By bisection over numbers in their order, from the lowest, whose bin is 0, to the highest.
  uint32_t inside = sortable(low_), outside = sortable(high_);
  BEVEL_CHECK(code(low_) <= bin && code(high_) > bin);
  while (outside - inside > 1) {
    const uint32_t middle = inside + (outside - inside) / 2;
    (code(from_sortable(middle)) <= bin ? inside : outside) = middle;
  }
  return from_sortable(inside);
}

}  // namespace bevel
