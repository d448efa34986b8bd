// The t-tests of LinearModel: computed only when p-values are recorded, from all eigenvalues.
#include <algorithm>
#include <cmath>

#include "bevel/models/linear_model.h"
#include "bevel/support/arithmetic/student_t.h"
#include "bevel/support/cancellation.h"

namespace bevel {

// Fills variance_ with diag((G + alpha)^-1 G (G + alpha)^-1); gives n - 1 - tr H, as a sum in which
// nothing cancels.
double LinearModel::standard_variances(double alpha) {
  const auto& eigen = tridiagonal_.eigen();
  const size_t side = tridiagonal_.size();
  // Eigenvalues that are only the rounding of the Gram matrix would be divided by alpha^2.
  const double cutoff = alpha > 0.0 ? smallest_alpha() : smallest_eigenvalue();
  double freedom = static_cast<double>(rows_.n - 1 - side);
  std::vector<double> filter(side, 0.0);
  block_.resize(side * side);
  for (size_t k = 0; k < side; ++k) {
    poll_cancellation(side);
    const auto column = static_cast<Eigen::Index>(k);
    const double value = eigen.eigenvalues()[column];
    if (value > cutoff) filter[k] = (by_rows_ ? 1.0 : std::sqrt(value)) / (value + alpha);
    freedom += value > cutoff ? alpha / (value + alpha) : 1.0;
    for (size_t i = 0; i < side; ++i)
      block_[i * side + k] = eigen.eigenvectors()(static_cast<Eigen::Index>(i), column);
  }
  tridiagonal_.from_basis(block_.data(), side);
  variance_.assign(rows_.size, 0.0);
  column_.resize(side);
  for (size_t k = 0; k < side; ++k) {
    for (size_t i = 0; i < side; ++i) column_[i] = block_[i * side + k];
    poll_cancellation(side * rows_.size);
    const double* right = coefficients(column_.data());
    for (size_t j = 0; j < rows_.size; ++j) {
      const double entry = filter[k] * right[j];
      variance_[j] += entry * entry;
    }
  }
  return freedom;
}

// RSS of the regression of the k-th scores with these coefficients. Rows and responses that have
// been reflected have lost their row 0.
double LinearModel::residual_square(size_t k, const double* coefficient) {
  fitted_.resize(rows_.n);
  times(rows_.matrix(), coefficient, rows_.size, fitted_.data());
  std::vector<double> y(rows_.n);
  responses_.column(*sample_, rows_, score_.data() + k * responses_.width(), y.data());
  if (by_rows_) reflect_rows(y.data(), 1);
  double sum = 0.0;
  for (size_t i = by_rows_ ? 1 : 0; i < rows_.n; ++i)
    sum += (y[i] - fitted_[i]) * (y[i] - fitted_[i]);
  return sum;
}

void LinearModel::p_values(double alpha, ModelDirections& out, std::vector<double>& p) {
  out.clear(sample_->m);
  p.clear();
  if (empty_) return;
  if (alpha > 0.0) {
    choose_shifts({&alpha, 1});
    alpha = shifts_.alpha[0];
    solve(0);
  } else {
    solve_lda();
  }
  tridiagonal_.from_basis(solution_.data(), n_solutions_);
  const double freedom = standard_variances(alpha);
  for (size_t k = 0; k < n_solutions_; ++k) {
    for (size_t i = 0; i < column_.size(); ++i) column_[i] = solution_[i * n_solutions_ + k];
    const double* coefficient = coefficients(column_.data());
    if (!rows_.add_direction(coefficient, out)) continue;
    const size_t start = p.size();
    p.resize(start + sample_->m, 1.0);
    if (!(freedom > kMinFreedom)) continue;
    const double s = std::sqrt(residual_square(k, coefficient) / freedom);
    for (size_t j = 0; j < rows_.size; ++j) {
      const double error = s * std::sqrt(variance_[j]);
      if (coefficient[j] != 0.0)
        p[start + rows_.features[j]] = two_sided_p_value(coefficient[j] / error, freedom);
    }
  }
}

}  // namespace bevel
