#include <cmath>

#include "bevel/split/criterion.h"

namespace bevel {

void principal_order(const std::vector<double>& cells, size_t n_groups, size_t n_classes,
                     std::vector<double>& keys) {
  const size_t m = n_classes;
  std::vector<double> mean(m, 0.0), direction(m), next(m), weight(n_groups, 0.0);
  double total = 0.0;
  for (size_t g = 0; g < n_groups; ++g) {
    for (size_t k = 0; k < m; ++k) {
      weight[g] += cells[g * m + k];
      mean[k] += cells[g * m + k];
    }
    total += weight[g];
  }
  for (double& x : mean) x /= total;
  // Any start that is not orthogonal to the component will do; unequal entries rarely are.
  for (size_t k = 0; k < m; ++k) direction[k] = 1.0 + static_cast<double>(k % 7);
  auto score = [&](size_t g) {
    double sum = 0.0;
    for (size_t k = 0; k < m; ++k) sum += (cells[g * m + k] / weight[g] - mean[k]) * direction[k];
    return sum;
  };
  constexpr int kIterations = 20;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    std::fill(next.begin(), next.end(), 0.0);
    for (size_t g = 0; g < n_groups; ++g) {
      const double s = weight[g] * score(g);
      for (size_t k = 0; k < m; ++k) next[k] += s * (cells[g * m + k] / weight[g] - mean[k]);
    }
    double norm = 0.0;
    for (double x : next) norm += x * x;
    norm = std::sqrt(norm);
    if (!(norm > 0.0)) break;  // all levels have the same shares: any order is as good
    for (size_t k = 0; k < m; ++k) direction[k] = next[k] / norm;
  }
  for (size_t g = 0; g < n_groups; ++g) keys[g] = score(g);
}

}  // namespace bevel
