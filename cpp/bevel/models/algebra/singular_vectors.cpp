#include "bevel/models/algebra/singular_vectors.h"

#include <algorithm>
#include <cmath>

#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr double kMin = 1e-10;       // squared singular value relative to the largest
constexpr double kTieWeight = 1e-9;  // weight of the tie's Gram matrix, both scaled to trace 1

using Map = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

Map square(const std::vector<double>& gram, size_t size, size_t stride) {
  const auto n = static_cast<Eigen::Index>(size);
  return {gram.data(), n, n, Eigen::OuterStride<>(static_cast<Eigen::Index>(stride))};
}

double trace(const std::vector<double>& gram, size_t size, size_t stride) {
  double sum = 0.0;
  for (size_t k = 0; k < size; ++k) sum += gram[k * stride + k];
  return sum;
}

}  // namespace

void SingularVectors::keep(size_t limit) {
  const auto& squares = solver_.eigenvalues();  // ascending
  const Eigen::Index n = squares.size();
  const double bound = std::max(kMin * squares[n - 1], 0.0);
  values_.clear();
  for (Eigen::Index k = n; k-- > 0 && values_.size() < limit && squares[k] > bound;)
    values_.push_back(std::sqrt(squares[k]));
  count_ = values_.size();
}

void SingularVectors::by_columns(ConstMatrix a, size_t n_columns, size_t limit, const double* tie) {
  gram_.resize(a.stride * a.stride);
  gram(a, gram_.data());
  if (tie) {
    tie_gram_.resize(a.stride * a.stride);
    gram({tie, a.n_rows, a.stride}, tie_gram_.data());
    const double total = trace(tie_gram_, n_columns, a.stride);
    const double factor = kTieWeight * trace(gram_, n_columns, a.stride) / total;
    if (total > 0.0)
      for (size_t i = 0; i < gram_.size(); ++i) gram_[i] += factor * tie_gram_[i];
  }
  solver_.compute(square(gram_, n_columns, a.stride));
  keep(limit);
  left_.resize(a.n_rows * count_);
  for (size_t k = 0; k < count_; ++k) {
    const double* right = solver_.eigenvectors()
                              .col(solver_.eigenvalues().size() - 1 - static_cast<Eigen::Index>(k))
                              .data();
    poll_cancellation(a.n_rows * n_columns);
    double squares = 0.0;
    for (size_t i = 0; i < a.n_rows; ++i) {
      const double* row = a.data + i * a.stride;
      double sum = 0.0;
      for (size_t j = 0; j < n_columns; ++j) sum += row[j] * right[j];
      left_[i * count_ + k] = sum;
      squares += sum * sum;
    }
    const double length = std::sqrt(squares);
    for (size_t i = 0; i < a.n_rows && length > 0.0; ++i) left_[i * count_ + k] /= length;
  }
}

void SingularVectors::by_rows(ConstMatrix a, size_t n_columns, size_t limit) {
  const size_t stride = padded(a.n_rows);
  transposed_.resize(n_columns * stride);
  transpose(a, n_columns, transposed_.data());
  gram_.resize(stride * stride);
  gram({transposed_.data(), n_columns, stride}, gram_.data());
  solver_.compute(square(gram_, a.n_rows, stride));
  keep(limit);
  left_.resize(a.n_rows * count_);
  for (size_t k = 0; k < count_; ++k) {
    const auto column = solver_.eigenvalues().size() - 1 - static_cast<Eigen::Index>(k);
    for (size_t i = 0; i < a.n_rows; ++i)
      left_[i * count_ + k] = solver_.eigenvectors()(static_cast<Eigen::Index>(i), column);
  }
}

void SingularVectors::compute(ConstMatrix a, size_t n_columns, size_t limit, const double* tie) {
  // K columns of responses have rank K - 1: with as many rows the columns are still preferred,
  // since only they are used with the tie.
  if (n_columns <= a.n_rows + 1)
    by_columns(a, n_columns, limit, tie);
  else
    by_rows(a, n_columns, limit);
}

}  // namespace bevel
