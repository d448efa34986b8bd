// A symmetric positive semidefinite matrix as Q T Q' with T tridiagonal, by Householder
// reflections. Once T is known, (A + alpha I) x = b costs O(size) for every further alpha in the
// basis of Q: a path of alphas needs no eigenvalues.
#pragma once

#include <span>
#include <vector>

#include "bevel/models/algebra/dense.h"
#include "bevel/models/algebra/symmetric_eigen.h"

namespace bevel {

class Tridiagonal {
 public:
  // Factorises the first n_rows columns of a, both halves of which are overwritten; `a` must
  // outlive this object's use, since it stores the reflections. Padding must be zero.
  void factorise(Matrix a);

  size_t size() const { return size_; }
  double trace() const;
  // block = Q' block and block = Q block, for size rows of `width` columns without padding.
  void to_basis(double* block, size_t width);
  void from_basis(double* block, size_t width);
  // Whether there is an eigenvalue below the bound.
  bool has_eigenvalue_below(double bound) const;
  // T = V diag(values) V', values ascending.
  const SymmetricEigen& eigen();

  // LDL' of T + alpha I, a lane per alpha. Row i of an array of solutions belongs to row i of T.
  struct Shifts {
    size_t n = 0;                       // alphas
    size_t stride = 0;                  // padded(n)
    std::vector<double> alpha;          // padded with ones
    std::vector<double> inverse_pivot;  // size x stride: 1 / D
    std::vector<double> lower;          // size x stride: L[i][i - 1]
  };
  void shift(std::span<const double> alphas, Shifts& shifts) const;
  // out[i][lane] solves (T + alpha I) out = b for every alpha; size x stride.
  void solve(const Shifts& shifts, const double* b, double* out) const;
  // Trace of (T + alpha I)^-1 for every alpha; stride entries.
  void inverse_trace(const Shifts& shifts, double* out) const;
  // For one lane, with T + alpha I = L D L': block = D^-1/2 L^-1 block, and its transpose.
  void half_solve(const Shifts& shifts, size_t lane, double* block, size_t width) const;
  void half_solve_transposed(const Shifts& shifts, size_t lane, double* block, size_t width) const;

 private:
  void reflect(size_t k, double* block, size_t width);

  size_t size_ = 0, stride_ = 0;
  const double* reflections_ = nullptr;
  std::vector<double> diagonal_, off_, tau_;  // off_[i] couples i and i + 1
  std::vector<double> v_, p_;
  Eigen::VectorXd eigen_diagonal_, eigen_off_;
  SymmetricEigen eigen_;
};

}  // namespace bevel
