// Gradients and hessians of rows on a grid of whole numbers, by stochastic rounding: the mean
// rounding error is zero (Shi et al. 2022). The random number depends on the key and on the
// position of the row among those of the tree, so that rows without weight have no effect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/losses/loss.h"
#include "bevel/boosting/row_statistics.h"
#include "bevel/boosting/team.h"

namespace bevel {

struct Quantised {
  StatisticScales scales;
  int32_t largest_hessian = 1;  // of a row
  bool equal_hessians = false;  // of all rows: each has 1
};

// gradients: by row of the data; stats: in the order of rows.
Quantised quantise(const std::vector<Gradient>& gradients, std::span<const uint32_t> rows,
                   uint64_t key, Team& team, std::vector<PackedSum>& stats);

}  // namespace bevel
