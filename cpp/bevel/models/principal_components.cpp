#include "bevel/models/principal_components.h"

#include <algorithm>
#include <cmath>

namespace bevel {

void PrincipalComponents::fit(const NodeSample& sample) {
  rows_.centre(sample);
  size_ = rows_.size;
  const size_t stride = rows_.stride;
  gram_.resize(stride * stride);
  gram(rows_.matrix(), gram_.data());
  const auto n = static_cast<Eigen::Index>(size_);
  solver_.compute(Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>(
      gram_.data(), n, n, Eigen::OuterStride<>(static_cast<Eigen::Index>(stride))));
  variance_.resize(size_);
  components_.resize(size_ * size_);
  for (size_t k = 0; k < size_; ++k) {
    const auto from = n - 1 - static_cast<Eigen::Index>(k);
    variance_[k] = std::max(solver_.eigenvalues()[from] / rows_.total_weight, 0.0);
    const double* vector = solver_.eigenvectors().col(from).data();
    double largest = 0.0;
    for (size_t j = 0; j < size_; ++j)
      if (std::fabs(vector[j]) > std::fabs(largest)) largest = vector[j];
    for (size_t j = 0; j < size_; ++j)
      components_[k * size_ + j] = largest < 0.0 ? -vector[j] : vector[j];
  }
}

}  // namespace bevel
