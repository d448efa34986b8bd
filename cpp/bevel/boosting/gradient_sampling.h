// Rows of an iteration sampled by the size of their gradients: among samples of equal size, sums
// of gradients have the least variance in these (minimal variance sampling, Ibragimov and Gusev
// 2019). Sampled rows are weighted by the inverse of their probability.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/losses/loss.h"
#include "bevel/boosting/team.h"

namespace bevel {

class GradientSampling {
 public:
  // Starts with the training rows, before their gradients are added.
  void begin(size_t n_rows) { sizes_.assign(n_rows, 0.0); }
  // Adds the gradients of an output; gradients: by row of the data.
  void add(const std::vector<Gradient>& gradients, std::span<const uint32_t> rows, Team& team);
  // Divides rows into those that are drawn, `share` of them on average and at least one, and the
  // others. factors: by row of the data, set for rows that are drawn.
  void draw(std::span<const uint32_t> rows, double share, uint64_t key,
            std::vector<uint32_t>& drawn, std::vector<uint32_t>& others,
            std::vector<double>& factors);

 private:
  std::vector<double> sizes_;  // squares at first
};

// The size above which rows are certain to be drawn, such that `wanted` rows are drawn on average
// (at most one per cent fewer). sizes: from 0 to 1.
double certain_size(std::span<const double> sizes, double wanted);

}  // namespace bevel
