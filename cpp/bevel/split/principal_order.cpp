#include <cmath>

#include "bevel/split/criterion.h"
#include "bevel/split/output_criteria.h"

namespace bevel {
namespace {

// Orders groups by the first principal component of their means, sums[g * stride + k] / weight[g].
void order_by_component(const double* sums, size_t stride, const std::vector<double>& weight,
                        size_t m, std::vector<double>& keys) {
  const size_t n_groups = weight.size();
  std::vector<double> mean(m, 0.0), direction(m), next(m);
  double total = 0.0;
  for (size_t g = 0; g < n_groups; ++g) {
    for (size_t k = 0; k < m; ++k) mean[k] += sums[g * stride + k];
    total += weight[g];
  }
  for (double& x : mean) x /= total;
  // Any start that is not orthogonal to the component works; unequal entries rarely are.
  for (size_t k = 0; k < m; ++k) direction[k] = 1.0 + static_cast<double>(k % 7);
  auto score = [&](size_t g) {
    double sum = 0.0;
    for (size_t k = 0; k < m; ++k)
      sum += (sums[g * stride + k] / weight[g] - mean[k]) * direction[k];
    return sum;
  };
  constexpr int kIterations = 20;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::fill(next.begin(), next.end(), 0.0);
    for (size_t g = 0; g < n_groups; ++g) {
      const double s = weight[g] * score(g);
      for (size_t k = 0; k < m; ++k) next[k] += s * (sums[g * stride + k] / weight[g] - mean[k]);
    }
    double norm = 0.0;
    for (double x : next) norm += x * x;
    norm = std::sqrt(norm);
    if (!(norm > 0.0)) break;  // all groups have the same means: any order is valid
    for (size_t k = 0; k < m; ++k) direction[k] = next[k] / norm;
  }
  for (size_t g = 0; g < n_groups; ++g) keys[g] = score(g);
}

}  // namespace

void principal_order(const std::vector<double>& cells, size_t n_groups, size_t n_classes,
                     std::vector<double>& keys) {
  std::vector<double> weight(n_groups, 0.0);
  for (size_t g = 0; g < n_groups; ++g)
    for (size_t k = 0; k < n_classes; ++k) weight[g] += cells[g * n_classes + k];
  order_by_component(cells.data(), n_classes, weight, n_classes, keys);
}

void principal_order_of_means(const std::vector<double>& cells, size_t n_groups, size_t n_outputs,
                              std::vector<double>& keys) {
  std::vector<double> weight(n_groups);
  for (size_t g = 0; g < n_groups; ++g) weight[g] = cells[g * (1 + n_outputs)];
  order_by_component(cells.data() + 1, 1 + n_outputs, weight, n_outputs, keys);
}

}  // namespace bevel
