// The Wald tests of LogisticModel: computed only when p-values are recorded.
#include <cmath>

#include "bevel/models/logistic.h"
#include "bevel/support/arithmetic/normal_tail.h"
#include "bevel/support/cancellation.h"

namespace bevel {

// (F + alpha I)^-1 from the factor in hessian_.
void LogisticModel::set_inverse() {
  const size_t size = n_coordinates_ + 1;
  inverse_.assign(size * stride_, 0.0);
  for (size_t k = 0; k < size; ++k) {
    double* column = inverse_.data() + k * stride_;
    column[k] = 1.0;
    solve_factorised({hessian_.data(), size, stride_}, column);
  }
}

// Fills variance_, or leaves it empty if there is none. F is the Gram matrix of the rows s of
// scaled_, so that the variance of a coefficient is a sum of squares, of the entries of
// (F + alpha I)^-1 s: none is negative, for any rank of the features.
void LogisticModel::set_variances(double alpha) {
  variance_.clear();
  if (!factorise_hessian(alpha)) return;
  set_inverse();
  variance_.resize(rows_.size, 0.0);
  const double scale = std::sqrt(rows_.total_weight / static_cast<double>(rows_.n));
  for (size_t i = 0; i < rows_.n; ++i) {
    poll_cancellation(stride_ * stride_);
    const ConstMatrix inverse{inverse_.data(), n_coordinates_ + 1, stride_};
    transposed_times(inverse, scaled_.data() + i * stride_, step_.data());
    const double* influence = on_features(step_.data());
    for (size_t j = 0; j < rows_.size; ++j) {
      const double entry = scale * influence[j];
      variance_[j] += entry * entry;
    }
  }
}

void LogisticModel::add_p_values(const double* coefficient, std::vector<double>& p) const {
  const size_t start = p.size();
  p.resize(start + rows_.n_features, 1.0);
  for (size_t j = 0; j < variance_.size(); ++j) {
    const double z = coefficient[j] / std::sqrt(variance_[j]);
    // A variance of 0 is the rounding of a flat loss and is not informative.
    if (std::isfinite(z)) p[start + rows_.features[j]] = two_sided_normal_p_value(z);
  }
}

}  // namespace bevel
