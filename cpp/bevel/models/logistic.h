// Logistic regression of the label on the features of a node, by a few Newton steps:
//
//   sum over rows of w log(1 + exp(-+ (b0 + x b))) + alpha / 2 |b|^2,  x standardised, b0 free.
//
// More than two classes: each against the others, K directions. A multinomial model would need
// Newton systems of (K - 1) m unknowns at every node; and a split divides the classes in two
// anyway, for which "this class or not" is a natural family of candidates.
#pragma once

#include "bevel/models/algebra/pivoted_qr.h"
#include "bevel/models/node_sample.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class LogisticModel {
 public:
  // Classification only. Takes at most n_steps steps, fewer on convergence. alpha below 1e-10 of
  // the total weight counts as that: separable classes have no finite solution without it.
  //
  // p_values: null, or set to the two-sided p-values of the Wald tests that the directions' m
  // coefficients are 0, at the b that the steps ended with:
  //
  //   z = b / se,  se^2 = W / n diag((F + alpha I)^-1 F (F + alpha I)^-1)
  //
  // with F = X' diag(w q (1 - q)) X, q the fitted probabilities; X has a column of ones, for which
  // I has a 0. W / n is the mean weight: weights are taken as scaled to a mean of 1, since a row
  // drawn twice is one observation. p is 1 for constant features, and for all features where
  // F + alpha I is too flat to be factorised.
  void directions(const NodeSample& sample, double alpha, size_t n_steps, ModelDirections& out,
                  std::vector<double>* p_values = nullptr);

 private:
  void set_design();
  bool fit_class(const NodeSample& sample, int32_t positive, double alpha, size_t n_steps);
  double newton_step(double alpha);
  double try_step(double share, double alpha);
  bool factorise_hessian(double alpha);
  const double* on_features(const double* coordinates);
  void set_inverse();
  void set_variances(double alpha);
  void add_p_values(const double* coefficient, std::vector<double>& p) const;

  StandardRows rows_;
  // The rows in a minimal number of coordinates, with sqrt(weight) as last column.
  size_t n_coordinates_ = 0, stride_ = 0;
  bool reduced_ = false;  // coordinates are those of the rows' span: rows_ = R' Q'
  PivotedQr qr_;
  std::vector<double> transposed_, design_, scaled_, hessian_, gradient_, step_;
  std::vector<double> weight_, inverse_root_weight_, indicator_;
  std::vector<double> linear_, probability_, residual_, move_;
  std::vector<double> coefficient_, back_;
  // Used when coefficients are tested.
  std::vector<double> inverse_, variance_;
};

}  // namespace bevel
