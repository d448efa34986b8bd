// Linear regression of the labels on the features of a node, with or without a ridge penalty:
// Menze's oRF-ridge and oRF-lda.
//
//   sum over rows of w (y - b0 - x b)^2 + alpha |b|^2,  x standardised in the node, b0 free.
//
// One factorisation serves all alphas. It uses the smaller side: the features' Gram
// matrix, or the rows' when there are no more rows than features.
//
// More than two classes: scores theta are given to the classes and regressed on the features, those
// that can be predicted best first (optimal scoring; with a penalty, Hastie, Buja & Tibshirani
// 1995, penalised discriminant analysis). This gives up to K - 1 directions for any order of
// the classes, and Fisher's discriminants at alpha = 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bevel/models/algebra/singular_vectors.h"
#include "bevel/models/algebra/tridiagonal.h"
#include "bevel/models/responses.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class LinearModel {
 public:
  // `sample` must outlive the calls below.
  void fit(const NodeSample& sample);

  // Directions of every alpha: one for two classes and regression, at most K - 1 for K classes. An
  // alpha below 1e-14 of the trace of the features' Gram matrix (which is size * total weight)
  // counts as that.
  void ridge_path(std::span<const double> alphas, std::vector<ModelDirections>& out);

  // Generalised cross-validation, index of the best alpha, ties to the larger one:
  //
  //   score = n RSS / (n - 1 - tr H)^2,  H = W^1/2 X (X'WX + alpha I)^-1 X'W^1/2
  //
  // with n rows (not their weight: a row drawn twice is one observation), RSS the weighted
  // squared error of all responses (see responses.h; their total square is 1, or K - 1), and one
  // degree of freedom for b0. RSS below 1e-10 of the total is rounding and counts as that.
  size_t gcv(std::span<const double> alphas, std::vector<double>& score);

  // alpha = 0: the solution of least length in standardised units, where eigenvalues below 1e-13 of
  // their sum count as 0.
  void lda(ModelDirections& out);

  // The directions of one alpha (0: lda) and, for each of their m coefficients, the two-sided
  // p-value of the t-test that it is 0 in the regression of the direction's scores on the features:
  //
  //   t = b / se,  se^2 = s^2 diag((G + alpha I)^-1 G (G + alpha I)^-1),  s^2 = RSS / nu
  //
  // with nu = n - 1 - tr H degrees of freedom; G = X'WX. With alpha = 0 this is the usual t-test.
  // It takes the scores of more than two classes as given. Constant features, and all features when
  // nothing is left to estimate s^2 from, have p = 1.
  void p_values(double alpha, ModelDirections& out, std::vector<double>& p);

 private:
  void factorise_features();
  void factorise_rows();
  void reflect_rows(double* matrix, size_t stride) const;
  void choose_shifts(std::span<const double> alphas);
  double smallest_alpha() const;
  double smallest_eigenvalue() const;
  void solve(size_t lane);
  void solve_one(size_t lane);
  void solve_classes(size_t lane);
  void solve_classes_by_rows(size_t lane);
  void solve_lda();
  void solve_lda_deficient(double cutoff);
  void add_solutions(ModelDirections& out);
  const double* coefficients(const double* column);
  double standard_variances(double alpha);
  double residual_square(size_t k, const double* coefficient);

  static constexpr double kMinFreedom = 1e-6;

  const NodeSample* sample_ = nullptr;
  uint64_t rows_number_ = 0;  // of the last sample
  StandardRows rows_;
  Responses responses_;
  bool empty_ = true;     // nothing varies, or there is nothing to predict
  bool by_rows_ = false;  // which side was factorised
  double trace_ = 0.0;
  std::vector<double> gram_, transposed_;
  Tridiagonal tridiagonal_;
  std::vector<double> right_side_;  // side x stride of the responses, in the basis of T
  Tridiagonal::Shifts shifts_;
  SingularVectors singular_;
  SymmetricEigen class_solver_;
  std::vector<double> block_;
  // The regressions for one alpha: side x count in the basis of T, and the scores theta of the
  // classes, count x width.
  size_t n_solutions_ = 0;
  std::vector<double> solution_, score_;
  std::vector<double> column_, coefficient_, variance_, fitted_;
};

}  // namespace bevel
