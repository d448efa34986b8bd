#include "bevel/models/algebra/tridiagonal.h"

#include <algorithm>
#include <cmath>

#include "bevel/support/cancellation.h"

namespace bevel {

// Column k is turned into (off, 0, ...) below the diagonal by H = I - tau v v', v[k + 1] = 1. By
// symmetry the column is read from row k, which keeps v; the rest becomes H A H.
void Tridiagonal::factorise(Matrix a) {
  size_ = a.n_rows;
  stride_ = a.stride;
  reflections_ = a.data;
  diagonal_.resize(size_);
  off_.assign(size_, 0.0);
  tau_.assign(size_, 0.0);
  v_.assign(stride_, 0.0);
  p_.resize(stride_);
  for (size_t k = 0; k < size_; ++k) {
    double* row = a.data + k * stride_;
    poll_cancellation((size_ - k) * stride_);
    diagonal_[k] = row[k];
    if (k + 1 == size_) break;
    double tail = 0.0;
    for (size_t j = k + 2; j < size_; ++j) tail += row[j] * row[j];
    const double head = row[k + 1];
    off_[k] = head;
    v_[k] = 0.0;
    if (tail == 0.0) continue;
    const double norm = std::sqrt(head * head + tail);
    const double off = head > 0.0 ? -norm : norm;
    const double tau = (off - head) / off;
    const double inverse = 1.0 / (head - off);
    off_[k] = off;
    tau_[k] = tau;
    row[k + 1] = 1.0;
    for (size_t j = k + 2; j < size_; ++j) row[j] *= inverse;
    std::copy(row + k + 1, row + size_, v_.begin() + static_cast<std::ptrdiff_t>(k + 1));

    // w = tau A v - tau / 2 (v' tau A v) v; A -= v w' + w v'. Columns up to k see zeros.
    const Matrix rest{a.data + (k + 1) * stride_, size_ - k - 1, stride_};
    const double* v = v_.data() + k + 1;
    transposed_times(rest, v, p_.data(), k + 1);
    double along = 0.0;
    for (size_t j = k + 1; j < size_; ++j) along += p_[j] * v_[j];
    const double half = 0.5 * tau * tau * along;
    for (size_t j = (k + 1) / kBlock * kBlock; j < k + 1; ++j) p_[j] = 0.0;
    for (size_t j = k + 1; j < stride_; ++j) p_[j] = tau * p_[j] - half * v_[j];
    subtract_outer(rest, v, p_.data(), k + 1);
    subtract_outer(rest, p_.data() + k + 1, v_.data(), k + 1);
  }
}

double Tridiagonal::trace() const {
  double sum = 0.0;
  for (double d : diagonal_) sum += d;
  return sum;
}

void Tridiagonal::reflect(size_t k, double* block, size_t width) {
  if (tau_[k] == 0.0) return;
  poll_cancellation_at(k, size_ * width);
  const double* v = reflections_ + k * stride_;
  p_.resize(std::max(p_.size(), width));
  std::fill_n(p_.begin(), width, 0.0);
  for (size_t i = k + 1; i < size_; ++i)
    for (size_t j = 0; j < width; ++j) p_[j] += v[i] * block[i * width + j];
  for (size_t j = 0; j < width; ++j) p_[j] *= tau_[k];
  for (size_t i = k + 1; i < size_; ++i)
    for (size_t j = 0; j < width; ++j) block[i * width + j] -= v[i] * p_[j];
}

void Tridiagonal::to_basis(double* block, size_t width) {
  for (size_t k = 0; k + 2 < size_; ++k) reflect(k, block, width);
}

void Tridiagonal::from_basis(double* block, size_t width) {
  for (size_t k = size_; k-- > 0;) reflect(k, block, width);
}

// Sylvester: T - bound I has as many negative pivots as T has eigenvalues below the bound.
bool Tridiagonal::has_eigenvalue_below(double bound) const {
  double pivot = 1.0;
  for (size_t i = 0; i < size_; ++i) {
    pivot = diagonal_[i] - bound - (i > 0 ? off_[i - 1] * off_[i - 1] / pivot : 0.0);
    if (!(pivot > 0.0)) return true;
  }
  return false;
}

const SymmetricEigen& Tridiagonal::eigen() {
  const auto n = static_cast<Eigen::Index>(size_);
  eigen_diagonal_ = Eigen::Map<const Eigen::VectorXd>(diagonal_.data(), n);
  eigen_off_ = Eigen::Map<const Eigen::VectorXd>(off_.data(), n - 1);
  eigen_.compute_tridiagonal(eigen_diagonal_, eigen_off_);
  return eigen_;
}

void Tridiagonal::shift(std::span<const double> alphas, Shifts& shifts) const {
  shifts.n = alphas.size();
  const size_t stride = shifts.stride = padded(shifts.n);
  shifts.alpha.assign(alphas.begin(), alphas.end());
  shifts.alpha.resize(stride, 1.0);
  shifts.inverse_pivot.resize(size_ * stride);
  shifts.lower.resize(size_ * stride);
  const double* alpha = shifts.alpha.data();
  double* inverse = shifts.inverse_pivot.data();
  double* lower = shifts.lower.data();
  for (size_t a = 0; a < stride; ++a) {
    lower[a] = 0.0;
    inverse[a] = 1.0 / (diagonal_[0] + alpha[a]);
  }
  for (size_t i = 1; i < size_; ++i) {
    const double off = off_[i - 1], diagonal = diagonal_[i];
    lower += stride;
    inverse += stride;
    for (size_t a = 0; a < stride; ++a) {
      lower[a] = off * inverse[a - stride];
      inverse[a] = 1.0 / (diagonal + alpha[a] - lower[a] * off);
    }
  }
}

void Tridiagonal::solve(const Shifts& shifts, const double* b, double* out) const {
  const size_t stride = shifts.stride;
  std::fill_n(out, stride, b[0]);
  for (size_t i = 1; i < size_; ++i) {
    const double* lower = shifts.lower.data() + i * stride;
    double* row = out + i * stride;
    for (size_t a = 0; a < stride; ++a) row[a] = b[i] - lower[a] * row[a - stride];
  }
  for (size_t i = size_; i-- > 0;) {
    const double* inverse = shifts.inverse_pivot.data() + i * stride;
    double* row = out + i * stride;
    for (size_t a = 0; a < stride; ++a) row[a] *= inverse[a];
    if (i + 1 == size_) continue;
    const double* lower = shifts.lower.data() + (i + 1) * stride;
    for (size_t a = 0; a < stride; ++a) row[a] -= lower[a] * row[a + stride];
  }
}

// The diagonal of the inverse from its end: g[i] = 1 / D[i] + L[i + 1][i]^2 g[i + 1]. Nothing
// cancels.
void Tridiagonal::inverse_trace(const Shifts& shifts, double* out) const {
  const size_t stride = shifts.stride;
  const double* last = shifts.inverse_pivot.data() + (size_ - 1) * stride;
  std::vector<double> g(last, last + stride);
  std::copy(g.begin(), g.end(), out);
  for (size_t i = size_ - 1; i-- > 0;) {
    const double* inverse = shifts.inverse_pivot.data() + i * stride;
    const double* lower = shifts.lower.data() + (i + 1) * stride;
    for (size_t a = 0; a < stride; ++a) {
      g[a] = inverse[a] + lower[a] * lower[a] * g[a];
      out[a] += g[a];
    }
  }
}

void Tridiagonal::half_solve(const Shifts& shifts, size_t lane, double* block, size_t width) const {
  const size_t stride = shifts.stride;
  for (size_t i = 1; i < size_; ++i) {
    const double lower = shifts.lower[i * stride + lane];
    for (size_t j = 0; j < width; ++j) block[i * width + j] -= lower * block[(i - 1) * width + j];
  }
  for (size_t i = 0; i < size_; ++i) {
    const double root = std::sqrt(shifts.inverse_pivot[i * stride + lane]);
    for (size_t j = 0; j < width; ++j) block[i * width + j] *= root;
  }
}

void Tridiagonal::half_solve_transposed(const Shifts& shifts, size_t lane, double* block,
                                        size_t width) const {
  const size_t stride = shifts.stride;
  for (size_t i = size_; i-- > 0;) {
    const double root = std::sqrt(shifts.inverse_pivot[i * stride + lane]);
    for (size_t j = 0; j < width; ++j) block[i * width + j] *= root;
    if (i + 1 == size_) continue;
    const double lower = shifts.lower[(i + 1) * stride + lane];
    for (size_t j = 0; j < width; ++j) block[i * width + j] -= lower * block[(i + 1) * width + j];
  }
}

}  // namespace bevel
