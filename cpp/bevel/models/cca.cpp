#include "bevel/models/cca.h"

#include <algorithm>

namespace bevel {

// block = R^-T block, for rank rows of `width` columns.
void CanonicalCorrelation::solve_transposed(double* block, size_t width) const {
  for (size_t i = 0; i < qr_.rank(); ++i) {
    double* row = block + i * width;
    for (size_t k = 0; k < i; ++k)
      for (size_t j = 0; j < width; ++j) row[j] -= qr_.r(k, i) * block[k * width + j];
    const double inverse = 1.0 / qr_.r(i, i);
    for (size_t j = 0; j < width; ++j) row[j] *= inverse;
  }
}

void CanonicalCorrelation::directions(const NodeSample& sample, Directions& out) {
  out.clear(sample.m);
  rows_.standardise(sample);
  responses_.set(sample, rows_);
  if (sample.n < 2 || rows_.size == 0 || responses_.total_square() == 0.0) return;
  responses_.cross_products(sample, rows_, cross_);
  qr_.factorise(rows_.matrix(), rows_.size);
  const size_t rank = qr_.rank(), width = responses_.width(), stride = responses_.stride();

  // Q' Y = R^-T (rows' Y), both sides in the order of the pivots.
  tie_.resize(rank * stride);
  for (size_t i = 0; i < rank; ++i)
    std::copy_n(cross_.data() + qr_.order()[i] * stride, stride, tie_.data() + i * stride);
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
    column_.assign(rows_.size, 0.0);
    for (size_t i = rank; i-- > 0;) {
      double value = left_[i * count + k];
      for (size_t j = i + 1; j < rank; ++j) value -= qr_.r(i, j) * column_[qr_.order()[j]];
      column_[qr_.order()[i]] = value / qr_.r(i, i);
    }
    rows_.add_direction(column_.data(), out);
  }
}

}  // namespace bevel
