#include "bevel/boosting/quantiser.h"

#include <algorithm>
#include <cmath>

#include "bevel/random/stream.h"
#include "bevel/support/arithmetic/grid_scale.h"

namespace bevel {
namespace {

constexpr double kMinHessian = 1e-280;  // of which the reciprocal is finite
constexpr int kSumBits = 30;            // rounding up adds at most one for each row

struct BlockSums {
  double gradient = 0.0, hessian = 0.0;  // of sizes
  double lowest = 0.0, highest = 0.0;    // hessian
};

int64_t round_at_random(double value, uint32_t bits) {
  return static_cast<int64_t>(std::floor(value + static_cast<double>(bits) * 0x1.0p-32));
}

}  // namespace

Quantised quantise(const std::vector<Gradient>& gradients, std::span<const uint32_t> rows,
                   uint64_t key, Team& team, std::vector<PackedSum>& stats) {
  std::vector<BlockSums> blocks((rows.size() + kBlockRows - 1) / kBlockRows);
  team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
    BlockSums sums;
    sums.lowest = sums.highest = gradients[rows[first]].hessian;
    for (size_t i = first; i < last; ++i) {
      const Gradient& own = gradients[rows[i]];
      sums.gradient += std::fabs(own.gradient);
      sums.hessian += own.hessian;
      sums.lowest = std::min(sums.lowest, own.hessian);
      sums.highest = std::max(sums.highest, own.hessian);
    }
    blocks[first / kBlockRows] = sums;
  });
  BlockSums all = blocks[0];
  for (size_t b = 1; b < blocks.size(); ++b) {
    all.gradient += blocks[b].gradient;
    all.hessian += blocks[b].hessian;
    all.lowest = std::min(all.lowest, blocks[b].lowest);
    all.highest = std::max(all.highest, blocks[b].highest);
  }
  Quantised result;
  result.equal_hessians = all.lowest == all.highest && all.highest > kMinHessian;
  result.scales.gradient = grid_scale(all.gradient, kSumBits);
  result.scales.hessian =
      result.equal_hessians ? 1.0 / all.highest : grid_scale(all.hessian, kSumBits);
  if (!result.equal_hessians)
    result.largest_hessian = static_cast<int32_t>(all.highest * result.scales.hessian) + 1;
  stats.resize(rows.size());
  team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const Gradient& own = gradients[rows[i]];
      const uint64_t bits = mix(key + i * 0x9e3779b97f4a7c15ULL);
      const int64_t hessian =
          result.equal_hessians
              ? 1
              : round_at_random(own.hessian * result.scales.hessian, static_cast<uint32_t>(bits));
      stats[i] = pack(
          round_at_random(own.gradient * result.scales.gradient, static_cast<uint32_t>(bits >> 32)),
          hessian);
    }
  });
  return result;
}

}  // namespace bevel
