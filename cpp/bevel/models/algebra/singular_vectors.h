// Left singular vectors of a small matrix, from the eigenvectors of its smaller Gram matrix. Models
// of more than two classes use them to turn K columns of responses into at most K - 1 directions.
#pragma once

#include <vector>

#include "bevel/models/algebra/dense.h"
#include "bevel/models/algebra/symmetric_eigen.h"

namespace bevel {

class SingularVectors {
 public:
  // Uses the first n_columns columns of a; singular values below 1e-5 of the largest are dropped,
  // and at most `limit` are kept. Among singular values that tie, as canonical correlations do
  // where classes are perfectly separable, the directions along which `tie` (as many columns) is
  // longer come first.
  void compute(ConstMatrix a, size_t n_columns, size_t limit, const double* tie = nullptr);

  size_t count() const { return count_; }
  // n_rows x count, row-major without padding, columns of length 1.
  const std::vector<double>& left() const { return left_; }
  double value(size_t k) const { return values_[k]; }

 private:
  void by_columns(ConstMatrix a, size_t n_columns, size_t limit, const double* tie);
  void by_rows(ConstMatrix a, size_t n_columns, size_t limit);
  void keep(size_t limit);

  size_t count_ = 0;
  std::vector<double> left_, values_, gram_, tie_gram_, transposed_;
  SymmetricEigen solver_;
};

}  // namespace bevel
