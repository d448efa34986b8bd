// Householder QR with column pivoting: a P = Q R. It stops where the remaining columns are shorter
// than 1e-5 of the longest column at the start, which gives the rank.
#pragma once

#include <vector>

#include "bevel/models/algebra/dense.h"

namespace bevel {

class PivotedQr {
 public:
  // Factorises the first n_columns columns of a, which is overwritten: R in rows 0 to rank - 1, on
  // and to the right of the diagonal; entries to its left are undefined. Padding must be zero.
  void factorise(Matrix a, size_t n_columns);

  size_t rank() const { return rank_; }
  // Column of a at each position of R.
  const std::vector<size_t>& order() const { return order_; }
  double r(size_t i, size_t j) const { return a_.data[i * a_.stride + j]; }
  // b = Q (b, 0): b has rank entries on entry, as many as a has rows on return.
  void apply_q(double* b) const;

 private:
  void bring_to_front(size_t k, size_t column);
  void eliminate(size_t k);

  Matrix a_{};
  size_t n_columns_ = 0, rank_ = 0;
  std::vector<size_t> order_;
  std::vector<double> square_, s_;  // for the remaining part of each column
  std::vector<double> v_, tau_;     // reflections, one after another
};

}  // namespace bevel
