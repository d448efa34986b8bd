#include "bevel/forest/output_targets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bevel/support/arithmetic/grid_scale.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

struct Moments {
  std::vector<double> centre;  // relative to the first row
  std::vector<double> factor;  // 1 / standard deviation; 0 of a constant output
};

// Differences from the first row: those of a constant output are exactly zero.
Moments moments_of(const TrainingSet& training, const OutputTargets& targets) {
  const size_t n = training.data.n_rows, m = targets.n_outputs;
  const auto first = targets.values_of(0);
  Moments moments{std::vector<double>(m, 0.0), std::vector<double>(m, 0.0)};
  auto weight_of = [&](size_t row) { return training.weights ? training.weights[row] : 1.0; };
  double total = 0.0;
  for (size_t row = 0; row < n; ++row) {
    poll_cancellation(m);
    total += weight_of(row);
    for (size_t k = 0; k < m; ++k)
      moments.centre[k] += weight_of(row) * (targets.values_of(row)[k] - first[k]);
  }
  for (double& centre : moments.centre) centre /= total;
  for (size_t row = 0; row < n; ++row) {
    poll_cancellation(m);
    for (size_t k = 0; k < m; ++k) {
      const double d = targets.values_of(row)[k] - first[k] - moments.centre[k];
      moments.factor[k] += weight_of(row) * (d * d);
    }
  }
  for (double& factor : moments.factor) {
    const double deviation = std::sqrt(factor / total);
    factor = deviation > 0.0 && std::isfinite(1.0 / deviation) ? 1.0 / deviation : 0.0;
  }
  return moments;
}

}  // namespace

OutputTargets read_outputs(const TrainingSet& training) {
  OutputTargets targets;
  targets.n_outputs = training.output_classes.size();
  targets.labels = training.labels;
  targets.n_classes = static_cast<size_t>(training.n_classes);
  targets.values = training.targets;
  return targets;
}

double standardise(const TrainingSet& training, double largest_weight, bool whole_weights,
                   OutputTargets& targets) {
  const size_t n = training.data.n_rows, m = targets.n_outputs;
  const Moments moments = moments_of(training, targets);
  const auto first = targets.values_of(0);
  targets.standard.resize(n * m);
  double reach = 0.0;
  for (size_t row = 0; row < n; ++row) {
    poll_cancellation(m);
    for (size_t k = 0; k < m; ++k) {
      const double value =
          (targets.values_of(row)[k] - first[k] - moments.centre[k]) * moments.factor[k];
      // Rows of weight zero are ignored, and may have any target.
      const bool counts = !training.weights || training.weights[row] > 0.0;
      targets.standard[row * m + k] = counts ? value : 0.0;
      reach = std::max(reach, counts ? std::fabs(value) : 0.0);
    }
  }
  const double scale = grid_scale(largest_weight * reach, 51);
  for (double& value : targets.standard) {
    value *= scale;
    if (whole_weights) value = std::nearbyint(value);
  }
  return scale;
}

}  // namespace bevel
