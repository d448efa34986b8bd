#include "bevel/models/cca.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bevel/support/cancellation.h"

namespace bevel {

// Moves rows and columns of the remaining features, and the columns of R.
void CanonicalCorrelation::bring_to_front(size_t k, size_t feature) {
  if (feature == k) return;
  const size_t stride = rows_.stride;
  double* a = triangle_.data();
  std::swap_ranges(a + k * stride, a + (k + 1) * stride, a + feature * stride);
  for (size_t i = 0; i < rows_.size; ++i) std::swap(a[i * stride + k], a[i * stride + feature]);
  std::swap(order_[k], order_[feature]);
}

void CanonicalCorrelation::factorise_rows() {
  qr_.factorise(rows_.matrix(), rows_.size);
  rank_ = qr_.rank();
  order_ = qr_.order();
  triangle_.assign(rows_.z.begin(),
                   rows_.z.begin() + static_cast<std::ptrdiff_t>(rank_ * rows_.stride));
}

void CanonicalCorrelation::factorise_gram() {
  constexpr double kMin = 1e-10;  // squared length, relative to the longest column
  const size_t size = rows_.size, stride = rows_.stride;
  triangle_.resize(stride * stride);
  gram(rows_.matrix(), triangle_.data());
  order_.resize(size);
  std::iota(order_.begin(), order_.end(), size_t{0});
  double longest = 0.0;
  for (rank_ = 0; rank_ < size; ++rank_) {
    size_t pivot = rank_;
    for (size_t j = rank_ + 1; j < size; ++j)
      if (r(j, j) > r(pivot, pivot)) pivot = j;
    longest = std::max(longest, r(pivot, pivot));
    if (!(r(pivot, pivot) > kMin * longest)) return;
    poll_cancellation((size - rank_) * stride);
    bring_to_front(rank_, pivot);
    double* row = triangle_.data() + rank_ * stride;
    const double inverse = 1.0 / std::sqrt(row[rank_]);
    for (size_t j = rank_; j < size; ++j) row[j] *= inverse;
    const size_t next = rank_ + 1;
    subtract_outer({row + stride, size - next, stride}, row + next, row, next);
  }
}

// block = R^-T block, for rank rows of `width` columns.
void CanonicalCorrelation::solve_transposed(double* block, size_t width) const {
  for (size_t i = 0; i < rank_; ++i) {
    poll_cancellation(i * width);
    double* row = block + i * width;
    for (size_t k = 0; k < i; ++k)
      for (size_t j = 0; j < width; ++j) row[j] -= r(k, i) * block[k * width + j];
    const double inverse = 1.0 / r(i, i);
    for (size_t j = 0; j < width; ++j) row[j] *= inverse;
  }
}

void CanonicalCorrelation::directions(const NodeSample& sample, ModelDirections& out) {
  out.clear(sample.m);
  rows_.standardise(sample);
  responses_.set(sample, rows_);
  if (sample.n < 2 || rows_.size == 0 || responses_.total_square() == 0.0) return;
  responses_.cross_products(sample, rows_, cross_);
  rows_.n > rows_.size ? factorise_gram() : factorise_rows();
  const size_t rank = rank_, width = responses_.width(), stride = responses_.stride();

  // Q' Y = R^-T (rows' Y), both sides in the order of the pivots.
  tie_.resize(rank * stride);
  for (size_t i = 0; i < rank; ++i)
    std::copy_n(cross_.data() + order_[i] * stride, stride, tie_.data() + i * stride);
  projected_ = tie_;
  solve_transposed(projected_.data(), stride);
  size_t count = 1;
  if (width == 1) {
    left_ = projected_;
  } else {
    singular_.compute({projected_.data(), rank, stride}, width, std::min(width - 1, rank),
                      tie_.data());
    count = singular_.count();
    left_ = singular_.left();
  }
  for (size_t k = 0; k < count; ++k) {
    poll_cancellation(rank * rank);
    column_.assign(rows_.size, 0.0);
    for (size_t i = rank; i-- > 0;) {
      double value = left_[i * count + k];
      for (size_t j = i + 1; j < rank; ++j) value -= r(i, j) * column_[order_[j]];
      column_[order_[i]] = value / r(i, i);
    }
    rows_.add_direction(column_.data(), out);
  }
}

}  // namespace bevel
