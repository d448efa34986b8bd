#include "bevel/boosting/gradient_sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bevel/random/stream.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// How much the hessian counts beside the gradient, on the scale of a typical step: rows that are
// predicted well keep a chance.
constexpr double kCurvatureShare = 0.1;
// Sizes are sorted by their leading bits: eight of the exponent, seven of the mantissa.
constexpr int kDroppedBits = 16;
constexpr size_t kCells = size_t{1} << 15;

size_t cell_of(double size) {
  return std::bit_cast<uint32_t>(static_cast<float>(size)) >> kDroppedBits;
}

double lowest_of(size_t cell) {
  return std::bit_cast<float>(static_cast<uint32_t>(cell) << kDroppedBits);
}

}  // namespace

double certain_size(std::span<const double> sizes, double wanted) {
  std::vector<double> sum(kCells, 0.0);
  std::vector<size_t> count(kCells, 0);
  double rest = 0.0;
  for (const double size : sizes) {
    const size_t cell = cell_of(size);
    sum[cell] += size;
    ++count[cell];
    rest += size;
  }
  double n_certain = 0.0;
  for (size_t cell = kCells - 1; cell > 0; --cell) {  // the first: rows without gradient
    if (count[cell] == 0) continue;
    const double size = rest / (wanted - n_certain);
    if (wanted > n_certain && size >= lowest_of(cell)) return size;
    n_certain += static_cast<double>(count[cell]);
    rest -= sum[cell];
  }
  return lowest_of(1);  // fewer rows than wanted have a gradient: all of these
}

void GradientSampling::add(const std::vector<Gradient>& gradients, std::span<const uint32_t> rows,
                           Team& team) {
  std::vector<Gradient> blocks((rows.size() + kBlockRows - 1) / kBlockRows, {0.0, 0.0});
  team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
    Gradient& sums = blocks[first / kBlockRows];
    for (size_t i = first; i < last; ++i) {
      sums.gradient += std::fabs(gradients[rows[i]].gradient);
      sums.hessian += gradients[rows[i]].hessian;
    }
  });
  Gradient all{0.0, 0.0};
  for (const Gradient& block : blocks) {
    all.gradient += block.gradient;
    all.hessian += block.hessian;
  }
  const double step = all.gradient / all.hessian;
  const double curvature = std::isfinite(step * step) ? kCurvatureShare * step * step : 0.0;
  team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
    poll_cancellation((last - first) * 4);
    for (size_t i = first; i < last; ++i) {
      const Gradient& own = gradients[rows[i]];
      sizes_[i] += own.gradient * own.gradient + curvature * own.hessian * own.hessian;
    }
  });
}

void GradientSampling::draw(std::span<const uint32_t> rows, double share, uint64_t key,
                            std::vector<uint32_t>& drawn, std::vector<uint32_t>& others,
                            std::vector<double>& factors) {
  const auto largest = std::max_element(sizes_.begin(), sizes_.end());
  const auto place_of_largest = static_cast<size_t>(largest - sizes_.begin());
  const double most = *largest;
  // Without gradients all rows are alike.
  const bool is_even = !(most > 0.0) || !std::isfinite(most);
  for (double& size : sizes_) size = is_even ? 1.0 : std::sqrt(size / most);
  const double certain = certain_size(sizes_, share * static_cast<double>(rows.size()));
  drawn.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    const double chance = sizes_[i] / certain;
    const uint64_t bits = mix(key + i * 0x9e3779b97f4a7c15ULL);
    const bool is_drawn = static_cast<double>(bits >> 11) * 0x1.0p-53 < chance;
    (is_drawn ? drawn : others).push_back(rows[i]);
    if (is_drawn) factors[rows[i]] = chance < 1.0 ? 1.0 / chance : 1.0;
  }
  if (!drawn.empty()) return;
  const uint32_t row = rows[place_of_largest];
  drawn.push_back(row);
  factors[row] = 1.0;
  others.erase(std::find(others.begin(), others.end(), row));
}

}  // namespace bevel
