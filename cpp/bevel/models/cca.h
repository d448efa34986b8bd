// Canonical correlation of the features with the labels, as canonical correlation forests use it
// (Rainforth & Wood 2015; SPORF 3.2).
//
// A QR with column pivoting of the standardised rows finds their rank and a basis Q; the singular
// vectors of Q' Y, brought back through R, are the directions, by falling correlation. Y is the
// responses' matrix, orthonormal by construction, which is what a QR of the indicators would give.
// Features that depend on those chosen before them get coefficient 0, where LinearModel::lda
// spreads the weight over all; in nodes of full rank both give the same directions.
#pragma once

#include "bevel/models/pivoted_qr.h"
#include "bevel/models/responses.h"
#include "bevel/models/singular_vectors.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class CanonicalCorrelation {
 public:
  // At most min(rank, K - 1) directions; one for two classes and regression.
  void directions(const NodeSample& sample, Directions& out);

 private:
  void solve_transposed(double* block, size_t width) const;

  StandardRows rows_;
  Responses responses_;
  PivotedQr qr_;
  SingularVectors singular_;
  std::vector<double> cross_, projected_, tie_, left_, column_;
};

}  // namespace bevel
