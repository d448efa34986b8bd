// Eigenvalues and eigenvectors of a symmetric matrix, bit for bit those of Eigen's
// SelfAdjointEigenSolver. The loops are reimplemented so that a large matrix can be cancelled.
#pragma once

#include <Eigen/Core>

namespace bevel {

class SymmetricEigen {
 public:
  // Decomposes a matrix given by its lower triangle.
  void compute(const Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>& matrix);
  // Decomposes a tridiagonal matrix with `diagonal` and, below and above it, `off`.
  void compute_tridiagonal(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& off);

  const Eigen::VectorXd& eigenvalues() const { return values_; }    // ascending
  const Eigen::MatrixXd& eigenvectors() const { return vectors_; }  // column by column
  bool converged() const { return converged_; }

 private:
  void tridiagonalise();
  void form_q();
  void iterate();

  Eigen::MatrixXd vectors_;
  Eigen::VectorXd values_, off_, reflection_;
  bool converged_ = false;
};

}  // namespace bevel
