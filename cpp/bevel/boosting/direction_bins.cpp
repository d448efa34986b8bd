#include "bevel/boosting/direction_bins.h"

#include <cmath>
#include <vector>

#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/check.h"

namespace bevel {

DirectionBins::DirectionBins(std::span<const float> sample, int max_bins) {
  if (sample.empty()) return;
  const auto [low, high] = std::minmax_element(sample.begin(), sample.end());
  low_ = *low;
  high_ = *high;
  scale_ = static_cast<float>(kCells) / (high_ - low_);
  if (!(low_ < high_) || !std::isfinite(scale_)) {  // one bin
    scale_ = 0.0f;
    return;
  }
  std::array<uint32_t, kCells> count{};
  for (const float value : sample) ++count[static_cast<size_t>(cell(value))];
  // A bin ends where it has its share of the rows that are left, in the middle of the empty cells
  // that follow.
  size_t taken = 0, in_bin = 0;
  int bin = 0, last_occupied = 0;
  for (int c = 0; c < kCells; ++c) {
    code_[static_cast<size_t>(c)] = static_cast<uint8_t>(bin);
    if (count[static_cast<size_t>(c)] == 0) continue;
    const auto bins_left = static_cast<size_t>(max_bins - bin);
    if (bins_left > 1 && in_bin > 0 && in_bin * bins_left >= sample.size() - taken) {
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
