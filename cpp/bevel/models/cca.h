// Canonical correlation of the features with the labels, as canonical correlation forests use it
// (Rainforth & Wood 2015; SPORF 3.2).
//
// The triangle R of a QR with column pivoting of the standardised rows gives their rank; the
// singular vectors of Q' Y = R^-T rows' Y, brought back through R, are the directions, by falling
// correlation. Y is the responses' matrix, orthonormal by construction, which is what a QR of the
// indicators would give. With more rows than features R comes from a Cholesky decomposition of the
// Gram matrix, with the same pivots: a column counts as dependent when less than 1e-5 of its length
// is left, where the Gram matrix still has five digits. It takes two fifths of the time of a QR of
// 1000 x 10 rows.
//
// Features that depend on those chosen before them get coefficient 0, where LinearModel::lda
// spreads the weight over all; in nodes of full rank both give the same directions.
#pragma once

#include "bevel/models/algebra/pivoted_qr.h"
#include "bevel/models/algebra/singular_vectors.h"
#include "bevel/models/responses.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class CanonicalCorrelation {
 public:
  // At most min(rank, K - 1) directions; one for two classes and regression.
  void directions(const NodeSample& sample, ModelDirections& out);

 private:
  void factorise_rows();
  void factorise_gram();
  void bring_to_front(size_t k, size_t feature);
  void solve_transposed(double* block, size_t width) const;
  double r(size_t i, size_t j) const { return triangle_[i * rows_.stride + j]; }

  StandardRows rows_;
  Responses responses_;
  PivotedQr qr_;
  std::vector<double> triangle_;  // R in its first rank_ rows
  size_t rank_ = 0;
  std::vector<size_t> order_;  // feature at each position of R
  SingularVectors singular_;
  std::vector<double> cross_, projected_, tie_, left_, column_;
};

}  // namespace bevel
