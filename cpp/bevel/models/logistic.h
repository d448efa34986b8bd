// Logistic regression of the label on the features of a node, by a few Newton steps:
//
//   sum over rows of w log(1 + exp(-+ (b0 + x b))) + alpha / 2 |b|^2,  x standardised, b0 free.
//
// More than two classes: each against the others, K directions. A multinomial model would need
// Newton systems of (K - 1) m unknowns at every node; and a split parts the classes in two anyway,
// for which "this class or not" is a natural family of candidates.
#pragma once

#include "bevel/models/node_sample.h"
#include "bevel/models/pivoted_qr.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class LogisticModel {
 public:
  // Classification only. Takes at most n_steps steps, fewer on convergence. alpha below 1e-10 of
  // the total weight counts as that: separable classes have no finite solution without it.
  void directions(const NodeSample& sample, double alpha, size_t n_steps, Directions& out);

 private:
  void set_design();
  void fit_class(const NodeSample& sample, int32_t positive, double alpha, size_t n_steps);
  double newton_step(double alpha);
  double try_step(double share, double alpha);

  StandardRows rows_;
  // The rows in as few coordinates as they have, with sqrt(weight) as last column.
  size_t n_coordinates_ = 0, stride_ = 0;
  bool reduced_ = false;  // coordinates are those of the rows' span: rows_ = R' Q'
  PivotedQr qr_;
  std::vector<double> transposed_, design_, scaled_, hessian_, gradient_, step_;
  std::vector<double> weight_, inverse_root_weight_, indicator_;
  std::vector<double> linear_, probability_, residual_, move_;
  std::vector<double> coefficient_, back_;
};

}  // namespace bevel
