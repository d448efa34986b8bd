#include "bevel/models/algebra/pivoted_qr.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bevel/support/cancellation.h"

namespace bevel {

void PivotedQr::factorise(Matrix a, size_t n_columns) {
  constexpr double kMin = 1e-10;  // squared length relative to the longest
  a_ = a;
  n_columns_ = n_columns;
  order_.resize(n_columns);
  std::iota(order_.begin(), order_.end(), size_t{0});
  square_.resize(a.stride);
  s_.resize(a.stride);
  column_squares(a, square_.data());
  const size_t most = std::min(a.n_rows, n_columns);
  v_.resize(most * a.n_rows);
  tau_.resize(most);
  const double longest = n_columns > 0 ? *std::max_element(square_.begin(), square_.end()) : 0.0;
  for (rank_ = 0; rank_ < most; ++rank_) {
    size_t pivot = rank_;
    for (size_t j = rank_ + 1; j < n_columns; ++j)
      if (square_[j] > square_[pivot]) pivot = j;
    if (!(square_[pivot] > kMin * longest)) return;
    poll_cancellation((a.n_rows - rank_) * a.stride);
    bring_to_front(rank_, pivot);
    eliminate(rank_);
  }
}

void PivotedQr::bring_to_front(size_t k, size_t column) {
  if (column == k) return;
  for (size_t i = 0; i < a_.n_rows; ++i)
    std::swap(a_.data[i * a_.stride + k], a_.data[i * a_.stride + column]);
  std::swap(order_[k], order_[column]);
  std::swap(square_[k], square_[column]);
}

void PivotedQr::eliminate(size_t k) {
  const size_t n_left = a_.n_rows - k;
  const Matrix rest{a_.data + k * a_.stride, n_left, a_.stride};
  double* v = v_.data() + k * a_.n_rows;
  for (size_t i = 0; i < n_left; ++i) v[i] = rest.data[i * a_.stride + k];
  const double head = v[0];
  const double norm = std::sqrt(dot(v, v, n_left));
  const double diagonal = head > 0.0 ? -norm : norm;
  const double inverse = 1.0 / (head - diagonal);
  tau_[k] = (diagonal - head) / diagonal;
  v[0] = 1.0;
  for (size_t i = 1; i < n_left; ++i) v[i] *= inverse;
  transposed_times(rest, v, s_.data(), k + 1);
  for (size_t j = (k + 1) / kBlock * kBlock; j < a_.stride; ++j) s_[j] *= tau_[k];
  subtract_outer(rest, v, s_.data(), k + 1);
  rest.data[k] = diagonal;
  for (size_t j = k + 1; j < n_columns_; ++j)
    square_[j] = std::max(square_[j] - rest.data[j] * rest.data[j], 0.0);
}

void PivotedQr::apply_q(double* b) const {
  std::fill(b + rank_, b + a_.n_rows, 0.0);
  for (size_t k = rank_; k-- > 0;) {
    const double* v = v_.data() + k * a_.n_rows;
    const double sum = tau_[k] * dot(v, b + k, a_.n_rows - k);
    for (size_t i = k; i < a_.n_rows; ++i) b[i] -= sum * v[i - k];
  }
}

}  // namespace bevel
