#include "bevel/models/algebra/symmetric_eigen.h"

#include <Eigen/Eigenvalues>

#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

using Eigen::Index;

size_t square(Index n) { return static_cast<size_t>(n) * static_cast<size_t>(n); }

// Eigen reads the diagonal once for each step of its QR iteration.
class PolledDiagonal : public Eigen::VectorXd {
 public:
  using Eigen::VectorXd::VectorXd;
  double* data() {
    poll_cancellation(square(size()));
    return Eigen::VectorXd::data();
  }
};

}  // namespace

// Entries are scaled to [-1, 1] to avoid overflow.
void SymmetricEigen::compute(
    const Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>& matrix) {
  const Index n = matrix.rows();
  if (n == 1) {
    values_ = matrix.col(0);
    vectors_.setOnes(1, 1);
    converged_ = true;
    return;
  }
  vectors_ = matrix.triangularView<Eigen::Lower>();
  const double largest = vectors_.cwiseAbs().maxCoeff();
  const double scale = largest == 0.0 ? 1.0 : largest;
  vectors_.triangularView<Eigen::Lower>() /= scale;
  tridiagonalise();
  form_q();
  iterate();
  values_ *= scale;
}

void SymmetricEigen::compute_tridiagonal(const Eigen::VectorXd& diagonal,
                                         const Eigen::VectorXd& off) {
  values_ = diagonal;
  off_ = off;
  vectors_.setIdentity(diagonal.size(), diagonal.size());
  iterate();
}

// Golub and Van Loan, algorithm 8.3.1: column i below the diagonal becomes (off, 0, ...) by the
// reflection H = I - h v v', and the rest A becomes H A H. v is kept in the column.
void SymmetricEigen::tridiagonalise() {
  const Index n = vectors_.rows();
  reflection_.resize(n - 1);
  for (Index i = 0; i < n - 1; ++i) {
    const Index rest = n - i - 1;
    poll_cancellation(square(rest));
    double h, off;
    auto v = vectors_.col(i).tail(rest);
    v.makeHouseholderInPlace(h, off);
    v[0] = 1.0;
    auto w = reflection_.tail(rest);
    auto corner = vectors_.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>();
    w.noalias() = corner * (h * v);
    w += (h * -0.5 * w.dot(v)) * v;
    corner.rankUpdate(v, w, -1.0);
    v[0] = off;
    reflection_[i] = h;
  }
  values_ = vectors_.diagonal();
  off_ = vectors_.diagonal<-1>();
}

// The product of the reflections, in place of their vectors.
void SymmetricEigen::form_q() {
  const Index n = vectors_.rows();
  Eigen::VectorXd room(n);
  vectors_.diagonal().setOnes();
  vectors_.triangularView<Eigen::StrictlyUpper>().setZero();
  for (Index k = n - 2; k >= 0; --k) {
    const Index rest = n - k - 1;
    poll_cancellation(square(rest));
    vectors_.bottomRightCorner(rest, rest)
        .applyHouseholderOnTheLeft(vectors_.col(k).tail(rest - 1), reflection_[k], room.data());
    vectors_.col(k).tail(rest).setZero();
  }
}

void SymmetricEigen::iterate() {
  constexpr Index kMaxIterations = 30;  // for each eigenvalue, as in Eigen
  PolledDiagonal diagonal(values_);
  converged_ = Eigen::internal::computeFromTridiagonal_impl(diagonal, off_, kMaxIterations, true,
                                                            vectors_) == Eigen::Success;
  values_ = diagonal;
}

}  // namespace bevel
