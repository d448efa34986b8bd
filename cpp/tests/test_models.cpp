#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bevel/models/algebra/dense.h"
#include "bevel/models/algebra/pivoted_qr.h"
#include "bevel/models/algebra/singular_vectors.h"
#include "bevel/models/algebra/symmetric_eigen.h"
#include "bevel/models/algebra/tridiagonal.h"
#include "bevel/models/cca.h"
#include "bevel/models/linear_model.h"
#include "bevel/models/logistic.h"
#include "bevel/models/pls.h"
#include "bevel/models/standard_rows.h"
#include "bevel/random/stream.h"
#include "bevel/support/cancellation.h"
#include "check.h"

using namespace bevel;

namespace {

// A row-major matrix with padding, as the loops read it.
struct Dense {
  Dense(size_t n_rows, size_t n_columns)
      : n_rows(n_rows),
        n_columns(n_columns),
        stride(padded(n_columns)),
        values(n_rows * stride, 0.0) {}
  double& operator()(size_t i, size_t j) { return values[i * stride + j]; }
  double operator()(size_t i, size_t j) const { return values[i * stride + j]; }
  Matrix matrix() { return {values.data(), n_rows, stride}; }

  size_t n_rows, n_columns, stride;
  std::vector<double> values;
};

Dense random_dense(size_t n_rows, size_t n_columns, uint64_t seed) {
  Dense a(n_rows, n_columns);
  Stream stream(root_key(seed, 0), Purpose::candidates);
  for (size_t i = 0; i < n_rows; ++i)
    for (size_t j = 0; j < n_columns; ++j) a(i, j) = stream.normal();
  return a;
}

Dense gram_of(const Dense& a) {
  Dense g(a.n_columns, a.n_columns);
  for (size_t i = 0; i < a.n_columns; ++i)
    for (size_t j = 0; j < a.n_columns; ++j)
      for (size_t k = 0; k < a.n_rows; ++k) g(i, j) += a(k, i) * a(k, j);
  return g;
}

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

// b - (a + alpha I) x
std::vector<double> residual(const Dense& a, double alpha, const std::vector<double>& x,
                             const std::vector<double>& b) {
  std::vector<double> left = b;
  for (size_t i = 0; i < a.n_rows; ++i) {
    for (size_t j = 0; j < a.n_columns; ++j) left[i] -= a(i, j) * x[j];
    left[i] -= alpha * x[i];
  }
  return left;
}

// Two classes whose means differ along (3, -1, 0, 0); the last feature is constant.
NodeSample two_classes(size_t n) {
  NodeSample sample;
  sample.resize(n, 4);
  sample.n_classes = 2;
  Stream stream(root_key(6, 0), Purpose::candidates);
  for (size_t i = 0; i < n; ++i) {
    const auto label = static_cast<int32_t>(i % 2);
    sample.label.push_back(label);
    sample.weight[i] = 1.0 + static_cast<double>(i % 3);
    for (size_t j = 0; j < 3; ++j) sample.row(i)[j] = stream.normal();
    sample.row(i)[0] += 3.0 * label;
    sample.row(i)[1] -= label;
    sample.row(i)[3] = 7.0;
  }
  return sample;
}

// Angle-free likeness of two directions: |cosine|.
double likeness(std::span<const double> a, std::span<const double> b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (size_t j = 0; j < a.size(); ++j) {
    ab += a[j] * b[j];
    aa += a[j] * a[j];
    bb += b[j] * b[j];
  }
  return std::fabs(ab) / std::sqrt(aa * bb);
}

}  // namespace

TEST_CASE("loops over matrices agree with naive ones") {
  Dense a = random_dense(13, 6, 1);
  std::vector<double> v(13), s(a.stride), got(a.stride), wanted(a.stride), g(a.stride * a.stride);
  for (size_t i = 0; i < 13; ++i) v[i] = static_cast<double>(i) - 5.0;
  for (size_t j = 0; j < 6; ++j)
    for (size_t i = 0; i < 13; ++i) wanted[j] += v[i] * a(i, j);
  transposed_times(a.matrix(), v.data(), got.data());
  for (size_t j = 0; j < 6; ++j) CHECK(std::fabs(got[j] - wanted[j]) < 1e-12);
  gram(a.matrix(), g.data());
  column_squares(a.matrix(), s.data());
  const Dense naive = gram_of(a);
  for (size_t i = 0; i < 6; ++i) {
    CHECK(std::fabs(s[i] - naive(i, i)) < 1e-12);
    for (size_t j = 0; j < 6; ++j) CHECK(std::fabs(g[i * a.stride + j] - naive(i, j)) < 1e-12);
  }
}

TEST_CASE("a positive definite system is solved by its factors, an indefinite one refused") {
  Dense a = gram_of(random_dense(20, 5, 2)), factor = a;
  std::vector<double> b{1.0, -2.0, 0.5, 3.0, 0.0}, x = b;
  REQUIRE(factorise_positive(factor.matrix()));
  solve_factorised(factor.matrix(), x.data());
  CHECK(largest(residual(a, 0.0, x, b)) < 1e-12);
  a(2, 2) = -1.0;
  CHECK(!factorise_positive(a.matrix()));
}

TEST_CASE("a pivoted QR gives the matrix back, and its pivots fall") {
  const Dense a = random_dense(9, 5, 3);
  Dense work = a;
  PivotedQr qr;
  qr.factorise(work.matrix(), 5);
  REQUIRE(qr.rank() == 5);
  for (size_t j = 0; j < 5; ++j) {
    std::vector<double> column(9, 0.0);
    for (size_t i = 0; i <= j; ++i) column[i] = qr.r(i, j);
    qr.apply_q(column.data());
    for (size_t i = 0; i < 9; ++i) CHECK(std::fabs(column[i] - a(i, qr.order()[j])) < 1e-13);
    if (j > 0) CHECK(std::fabs(qr.r(j, j)) <= std::fabs(qr.r(j - 1, j - 1)) * (1.0 + 1e-12));
  }
}

TEST_CASE("a pivoted QR finds the rank of dependent columns") {
  Dense a = random_dense(12, 6, 4);
  for (size_t i = 0; i < 12; ++i) {
    a(i, 3) = a(i, 0) - 2.0 * a(i, 1);
    a(i, 5) = 0.0;
  }
  PivotedQr qr;
  qr.factorise(a.matrix(), 6);
  CHECK_EQ(qr.rank(), size_t{4});
}

TEST_CASE("left singular vectors are eigenvectors of A A', of tall and of wide matrices") {
  for (const size_t n_columns : {4, 12}) {
    Dense a = random_dense(8, n_columns, 5);
    SingularVectors singular;
    singular.compute(a.matrix(), n_columns, 3);
    REQUIRE(singular.count() == 3);
    for (size_t k = 0; k < 3; ++k) {
      std::vector<double> u(8), back(n_columns), image(8);
      for (size_t i = 0; i < 8; ++i) u[i] = singular.left()[i * 3 + k];
      for (size_t i = 0; i < 8; ++i)
        for (size_t j = 0; j < n_columns; ++j) back[j] += a(i, j) * u[i];
      for (size_t i = 0; i < 8; ++i)
        for (size_t j = 0; j < n_columns; ++j) image[i] += a(i, j) * back[j];
      const double square = singular.value(k) * singular.value(k);
      for (size_t i = 0; i < 8; ++i) CHECK(std::fabs(image[i] - square * u[i]) < 1e-10);
      if (k > 0) CHECK(singular.value(k) <= singular.value(k - 1));
    }
  }
}

TEST_CASE("a tridiagonal form solves shifted systems for all alphas at once") {
  const Dense a = gram_of(random_dense(15, 7, 6));
  Dense work = a;
  Tridiagonal t;
  t.factorise(work.matrix());
  double trace = 0.0;
  for (size_t i = 0; i < 7; ++i) trace += a(i, i);
  CHECK(std::fabs(t.trace() - trace) < 1e-11);
  const std::vector<double> alphas{0.01, 1.0, 100.0}, b{1.0, 0.0, -1.0, 2.0, 0.5, 3.0, -2.0};
  std::vector<double> right = b;
  t.to_basis(right.data(), 1);
  Tridiagonal::Shifts shifts;
  t.shift(alphas, shifts);
  std::vector<double> out(7 * shifts.stride);
  t.solve(shifts, right.data(), out.data());
  for (size_t lane = 0; lane < alphas.size(); ++lane) {
    std::vector<double> x(7);
    for (size_t i = 0; i < 7; ++i) x[i] = out[i * shifts.stride + lane];
    t.from_basis(x.data(), 1);
    CHECK(largest(residual(a, alphas[lane], x, b)) < 1e-11);
  }
}

TEST_CASE("the eigenvalues of the tridiagonal form add up to the trace and bound each other") {
  Dense a = gram_of(random_dense(10, 5, 7));
  Tridiagonal t;
  t.factorise(a.matrix());
  const auto& eigen = t.eigen();
  double sum = 0.0;
  for (int i = 0; i < 5; ++i) sum += eigen.eigenvalues()[i];
  CHECK(std::fabs(sum - t.trace()) < 1e-11);
  const double smallest = eigen.eigenvalues()[0];
  CHECK(!t.has_eigenvalue_below(smallest * (1.0 - 1e-9)));
  CHECK(t.has_eigenvalue_below(smallest * (1.0 + 1e-9)));
}

TEST_CASE("standard rows have weighted mean 0 and variance 1, without constant features") {
  const NodeSample sample = two_classes(60);
  StandardRows rows;
  rows.standardise(sample);
  CHECK(rows.features == std::vector<size_t>{0, 1, 2});
  for (size_t j = 0; j < rows.size; ++j) {
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < rows.n; ++i) {
      mean += rows.root_weight[i] * rows.z[i * rows.stride + j];
      square += rows.z[i * rows.stride + j] * rows.z[i * rows.stride + j];
    }
    CHECK(std::fabs(mean / rows.total_weight) < 1e-13);
    CHECK(std::fabs(square / rows.total_weight - 1.0) < 1e-12);
  }
}

TEST_CASE("eigenvalues and eigenvectors are those of Eigen to the last bit") {
  Stream stream(root_key(7, 0), Purpose::rotation);
  for (const Eigen::Index n : {1, 2, 3, 7, 33, 60}) {
    Eigen::MatrixXd rows(n + 2, n);
    for (double& x : rows.reshaped()) x = stream.normal();
    if (n > 2) rows.col(0) = rows.col(n - 1);  // an eigenvalue of 0
    const Eigen::MatrixXd square = rows.transpose() * rows;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> wanted(square);
    SymmetricEigen got;
    got.compute(square);
    CHECK(got.converged());
    CHECK(got.eigenvalues() == wanted.eigenvalues());
    CHECK(got.eigenvectors() == wanted.eigenvectors());
  }
}

TEST_CASE("a large eigenvalue problem can be cancelled half-way") {
  Stream stream(root_key(8, 0), Purpose::rotation);
  Eigen::MatrixXd square(200, 200);
  for (double& x : square.reshaped()) x = stream.normal();
  CancellationToken token;
  token.cancel();
  const CancellationScope scope(token);
  SymmetricEigen solver;
  CHECK_THROWS_AS(solver.compute(square), Cancelled);
  CHECK_THROWS_AS(solver.compute_tridiagonal(square.col(0), square.col(1).head(199)), Cancelled);
}

TEST_CASE("ridge with a tiny penalty, LDA and CCA agree on two classes") {
  const NodeSample sample = two_classes(200);
  LinearModel linear;
  linear.fit(sample);
  std::vector<ModelDirections> path(1);
  linear.ridge_path(std::vector<double>{1e-9}, path);
  ModelDirections lda, cca;
  linear.lda(lda);
  CanonicalCorrelation().directions(sample, cca);
  REQUIRE(path[0].count() == 1 && lda.count() == 1 && cca.count() == 1);
  CHECK(likeness(path[0][0], lda[0]) > 1.0 - 1e-12);
  CHECK(likeness(cca[0], lda[0]) > 1.0 - 1e-12);
  CHECK_EQ(lda[0][3], 0.0);
}

TEST_CASE("the normal equations of ridge hold") {
  const NodeSample sample = two_classes(80);
  const double alpha = 5.0;
  LinearModel linear;
  linear.fit(sample);
  std::vector<ModelDirections> path(1);
  linear.ridge_path(std::vector<double>{alpha}, path);
  StandardRows rows;
  rows.standardise(sample);
  // (Z'Z + alpha I) b is proportional to Z'y, with y the weighted and centred label.
  double share = 0.0;
  for (size_t i = 0; i < sample.n; ++i) share += sample.weight[i] * sample.label[i];
  share /= rows.total_weight;
  std::vector<double> left(3), right(3);
  for (size_t j = 0; j < 3; ++j) {
    const double bj = path[0][0][j] * rows.sd[j];
    left[j] += alpha * bj;
    for (size_t i = 0; i < sample.n; ++i) {
      double fitted = 0.0;
      for (size_t k = 0; k < 3; ++k)
        fitted += rows.z[i * rows.stride + k] * path[0][0][k] * rows.sd[k];
      left[j] += rows.z[i * rows.stride + j] * fitted;
      right[j] += rows.z[i * rows.stride + j] * rows.root_weight[i] * (sample.label[i] - share);
    }
  }
  CHECK(likeness(left, right) > 1.0 - 1e-12);
}

TEST_CASE("PLS and logistic regression find the features that separate two classes") {
  const NodeSample sample = two_classes(300);
  ModelDirections pls, logistic;
  PartialLeastSquares().directions(sample, 1, pls);
  LogisticModel().directions(sample, 1.0, 10, logistic);
  REQUIRE(pls.count() == 1 && logistic.count() == 1);
  for (const ModelDirections& found : {pls, logistic}) {
    CHECK(std::fabs(found[0][0]) > 5.0 * std::fabs(found[0][2]));
    CHECK(found[0][0] * found[0][1] < 0.0);
    CHECK_EQ(found[0][3], 0.0);
  }
}

TEST_CASE("a sample of one class has no direction") {
  NodeSample sample = two_classes(40);
  std::fill(sample.label.begin(), sample.label.end(), 1);
  LinearModel linear;
  linear.fit(sample);
  ModelDirections lda, cca;
  linear.lda(lda);
  CanonicalCorrelation().directions(sample, cca);
  CHECK_EQ(lda.count(), size_t{0});
  CHECK_EQ(cca.count(), size_t{0});
}
