// Rows of an iteration drawn by the size of their gradients: of all samples of as many rows, sums
// of gradients vary least in these (minimal variance sampling, Ibragimov and Gusev 2019). Rows
// that are drawn count as many times as their chance is below one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/losses.h"
#include "bevel/boosting/team.h"

namespace bevel {

class GradientSampling {
 public:
  // Of the training rows, before their gradients are added.
  void begin(size_t n_rows) { sizes_.assign(n_rows, 0.0); }
  // Adds the gradients of an output; gradients: by row of the data.
  void add(const std::vector<Gradient>& gradients, std::span<const uint32_t> rows, Team& team);
  // Divides rows into those that are drawn, `share` of them on average and one at least, and the
  // others. factors: by row of the data, set for rows that are drawn.
  void draw(std::span<const uint32_t> rows, double share, uint64_t key,
            std::vector<uint32_t>& drawn, std::vector<uint32_t>& others,
            std::vector<double>& factors);

 private:
  std::vector<double> sizes_;  // squares at first
};

// The size from which on rows are certain to be drawn, such that `wanted` rows are drawn on average
// (a hundredth less at most). sizes: from 0 to 1.
double certain_size(std::span<const double> sizes, double wanted);

}  // namespace bevel
