#include "bevel/models/linear_model.h"

#include <algorithm>
#include <cmath>

#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr double kMinRidgeAlpha = 1e-14;  // relative to the trace of the Gram matrix
constexpr double kMinEigenvalue = 1e-13;  // for lda: squared rounding error of float32 is below
constexpr double kMinResidual = 1e-10;    // relative to the responses' total square, for gcv
constexpr double kMinScore = 1e-10;       // squared correlation relative to the largest

using Index = Eigen::Index;

}  // namespace

void LinearModel::fit(const NodeSample& sample) {
  sample_ = &sample;
  const bool same_rows = sample.rows_number != 0 && sample.rows_number == rows_number_;
  rows_number_ = sample.rows_number;
  rows_.standardise(sample, same_rows);
  if (!same_rows) responses_.set(sample, rows_);
  empty_ = sample.n < 2 || rows_.size == 0 || responses_.total_square() == 0.0;
  if (empty_) return;
  by_rows_ = sample.n - 1 <= rows_.size;
  by_rows_ ? factorise_rows() : factorise_features();
  trace_ = tridiagonal_.trace();
  tridiagonal_.to_basis(right_side_.data(), responses_.stride());
}

void LinearModel::factorise_features() {
  gram_.resize(rows_.stride * rows_.stride);
  gram(rows_.matrix(), gram_.data());
  tridiagonal_.factorise({gram_.data(), rows_.size, rows_.stride});
  responses_.cross_products(*sample_, rows_, right_side_);
}

// The reflection that maps the unit vector s = sqrt(w / W) to -e_0 takes b0 out of the problem:
// rows and responses are orthogonal to s, so that their row 0 becomes 0 and row i loses s_i / (1 +
// s_0) times the old row 0. The remaining n - 1 rows have no component along the mean.
void LinearModel::reflect_rows(double* matrix, size_t stride) const {
  const double scale = 1.0 / (std::sqrt(rows_.total_weight) + rows_.root_weight[0]);
  for (size_t i = 1; i < rows_.n; ++i) {
    poll_cancellation_at(i, stride);
    for (size_t j = 0; j < stride; ++j)
      matrix[i * stride + j] -= rows_.root_weight[i] * scale * matrix[j];
  }
}

void LinearModel::factorise_rows() {
  const size_t side = rows_.n - 1;
  reflect_rows(rows_.z.data(), rows_.stride);
  const size_t stride = padded(side);
  transposed_.resize(rows_.size * stride);
  transpose({rows_.z.data() + rows_.stride, side, rows_.stride}, rows_.size, transposed_.data());
  gram_.resize(stride * stride);
  gram({transposed_.data(), rows_.size, stride}, gram_.data());
  tridiagonal_.factorise({gram_.data(), side, stride});

  const size_t width = responses_.width();
  right_side_.assign(side * responses_.stride(), 0.0);
  column_.resize(rows_.n);
  score_.assign(width, 0.0);
  for (size_t k = 0; k < width; ++k) {
    score_[k] = 1.0;
    responses_.column(*sample_, rows_, score_.data(), column_.data());
    score_[k] = 0.0;
    reflect_rows(column_.data(), 1);
    for (size_t i = 0; i < side; ++i) right_side_[i * responses_.stride() + k] = column_[i + 1];
  }
}

void LinearModel::choose_shifts(std::span<const double> alphas) {
  column_.assign(alphas.begin(), alphas.end());
  for (double& alpha : column_) alpha = std::max(alpha, smallest_alpha());
  tridiagonal_.shift(column_, shifts_);
}

double LinearModel::smallest_alpha() const { return kMinRidgeAlpha * trace_; }
double LinearModel::smallest_eigenvalue() const { return kMinEigenvalue * trace_; }

// Standardised coefficients of a solution on the factorised side.
const double* LinearModel::coefficients(const double* column) {
  if (!by_rows_) return column;
  coefficient_.resize(rows_.stride);
  transposed_times({rows_.z.data() + rows_.stride, rows_.n - 1, rows_.stride}, column,
                   coefficient_.data());
  return coefficient_.data();
}

void LinearModel::ridge_path(std::span<const double> alphas, std::vector<ModelDirections>& out) {
  out.resize(alphas.size());
  for (ModelDirections& directions : out) directions.clear(sample_->m);
  if (empty_ || alphas.empty()) return;
  choose_shifts(alphas);
  if (responses_.width() > 1) {
    for (size_t a = 0; a < alphas.size(); ++a) {
      solve(a);
      add_solutions(out[a]);
    }
    return;
  }
  const size_t side = tridiagonal_.size();
  block_.resize(side * shifts_.stride);
  tridiagonal_.solve(shifts_, right_side_.data(), block_.data());
  tridiagonal_.from_basis(block_.data(), shifts_.stride);
  column_.resize(side);
  for (size_t a = 0; a < alphas.size(); ++a) {
    for (size_t i = 0; i < side; ++i) column_[i] = block_[i * shifts_.stride + a];
    rows_.add_direction(coefficients(column_.data()), out[a]);
  }
}

void LinearModel::add_solutions(ModelDirections& out) {
  tridiagonal_.from_basis(solution_.data(), n_solutions_);
  column_.resize(tridiagonal_.size());
  for (size_t k = 0; k < n_solutions_; ++k) {
    for (size_t i = 0; i < column_.size(); ++i) column_[i] = solution_[i * n_solutions_ + k];
    rows_.add_direction(coefficients(column_.data()), out);
  }
}

void LinearModel::solve(size_t lane) {
  if (responses_.width() == 1)
    solve_one(lane);
  else
    by_rows_ ? solve_classes_by_rows(lane) : solve_classes(lane);
}

void LinearModel::solve_one(size_t lane) {
  n_solutions_ = 1;
  score_.assign(1, 1.0);
  solution_.assign(right_side_.begin(),
                   right_side_.begin() + static_cast<std::ptrdiff_t>(tridiagonal_.size()));
  tridiagonal_.half_solve(shifts_, lane, solution_.data(), 1);
  tridiagonal_.half_solve_transposed(shifts_, lane, solution_.data(), 1);
}

// Scores theta maximise theta' C' (T + alpha)^-1 C theta, C being the responses' products with the
// features: they are the right singular vectors of A = D^-1/2 L^-1 C, and u the left ones.
void LinearModel::solve_classes(size_t lane) {
  const size_t side = tridiagonal_.size(), stride = responses_.stride(), width = responses_.width();
  block_ = right_side_;
  tridiagonal_.half_solve(shifts_, lane, block_.data(), stride);
  singular_.compute({block_.data(), side, stride}, width, std::min(width - 1, side),
                    right_side_.data());
  n_solutions_ = singular_.count();
  solution_ = singular_.left();
  score_.assign(n_solutions_ * width, 0.0);
  for (size_t k = 0; k < n_solutions_; ++k) {
    const double value = singular_.value(k);
    for (size_t i = 0; i < side; ++i) {
      for (size_t j = 0; j < width; ++j)
        score_[k * width + j] += block_[i * stride + j] * solution_[i * n_solutions_ + k] / value;
      solution_[i * n_solutions_ + k] *= value;
    }
  }
  tridiagonal_.half_solve_transposed(shifts_, lane, solution_.data(), n_solutions_);
}

// On the side of the rows the scores leave a squared error of alpha^2 |(K + alpha)^-1 y theta|^2,
// and minimise alpha theta' E theta with E = y' (K + alpha)^-1 y: this stays exact when alpha is so
// small that all errors are. Scores that predict nothing by definition are excluded.
void LinearModel::solve_classes_by_rows(size_t lane) {
  const size_t side = tridiagonal_.size(), stride = responses_.stride(), width = responses_.width();
  block_ = right_side_;
  tridiagonal_.half_solve(shifts_, lane, block_.data(), stride);
  coefficient_.resize(stride * stride);
  gram({block_.data(), side, stride}, coefficient_.data());
  Eigen::MatrixXd error(static_cast<Index>(width), static_cast<Index>(width));
  double trace = 0.0;
  for (size_t k = 0; k < width; ++k) trace += coefficient_[k * stride + k];
  const auto& weight = responses_.class_weight();
  size_t n_present = 0;
  for (size_t k = 0; k < width; ++k) {
    for (size_t j = 0; j < width; ++j)
      error(static_cast<Index>(j), static_cast<Index>(k)) =
          coefficient_[k * stride + j] +
          2.0 * trace * std::sqrt(weight[k] * weight[j]) / rows_.total_weight;
    if (weight[k] > 0.0)
      ++n_present;
    else
      error(static_cast<Index>(k), static_cast<Index>(k)) = 2.0 * trace;
  }
  class_solver_.compute(error);
  const auto& values = class_solver_.eigenvalues();  // ascending
  const double alpha = shifts_.alpha[lane];
  auto fit_square = [&](size_t k) { return 1.0 - alpha * values[static_cast<Index>(k)]; };
  n_solutions_ = 0;
  while (n_solutions_ + 1 < n_present && fit_square(n_solutions_) > kMinScore * fit_square(0))
    ++n_solutions_;
  score_.resize(n_solutions_ * width);
  column_.resize(side);
  solution_.assign(side * n_solutions_, 0.0);
  for (size_t k = 0; k < n_solutions_; ++k) {
    for (size_t j = 0; j < width; ++j)
      score_[k * width + j] =
          class_solver_.eigenvectors()(static_cast<Index>(j), static_cast<Index>(k));
    times({block_.data(), side, stride}, score_.data() + k * width, width, column_.data());
    for (size_t i = 0; i < side; ++i) solution_[i * n_solutions_ + k] = column_[i];
  }
  tridiagonal_.half_solve_transposed(shifts_, lane, solution_.data(), n_solutions_);
}

void LinearModel::solve_lda() {
  const double cutoff = smallest_eigenvalue();
  if (tridiagonal_.has_eigenvalue_below(cutoff)) return solve_lda_deficient(cutoff);
  const double alpha = 0.0;
  tridiagonal_.shift({&alpha, 1}, shifts_);
  solve(0);
}

// With singular values s of the rows, left vectors U and right vectors V: the fitted part of the
// responses is A = U' y and the coefficients of a fit u are V u / s. On the side of the features
// C = V s U' y is known and lengths s are to be divided out; on the side of the rows y itself is.
void LinearModel::solve_lda_deficient(double cutoff) {
  const auto& eigen = tridiagonal_.eigen();
  const size_t side = tridiagonal_.size(), stride = responses_.stride(), width = responses_.width();
  const auto n_dropped =
      static_cast<size_t>(std::count_if(eigen.eigenvalues().begin(), eigen.eigenvalues().end(),
                                        [cutoff](double value) { return value <= cutoff; }));
  const size_t rank = side - n_dropped;
  std::vector<double> fitted(rank * stride, 0.0), tie(rank * stride, 0.0), back(rank);
  for (size_t r = 0; r < rank; ++r) {
    const double* v = eigen.eigenvectors().col(static_cast<Index>(n_dropped + r)).data();
    const double value = eigen.eigenvalues()[static_cast<Index>(n_dropped + r)];
    const double root = std::sqrt(value);
    poll_cancellation(side * stride);
    for (size_t i = 0; i < side; ++i)
      for (size_t j = 0; j < stride; ++j)
        fitted[r * stride + j] += v[i] * right_side_[i * stride + j];
    back[r] = by_rows_ ? 1.0 / value : 1.0 / root;
    for (size_t j = 0; j < stride; ++j) {
      if (!by_rows_) fitted[r * stride + j] /= root;
      tie[r * stride + j] = root * fitted[r * stride + j];
    }
  }
  std::vector<double> left;
  if (width == 1) {
    n_solutions_ = 1;
    left = fitted;
    score_.assign(1, 1.0);
  } else {
    singular_.compute({fitted.data(), rank, stride}, width, std::min(width - 1, rank), tie.data());
    n_solutions_ = singular_.count();
    left = singular_.left();
    score_.assign(n_solutions_ * width, 0.0);
    for (size_t k = 0; k < n_solutions_; ++k)
      for (size_t r = 0; r < rank; ++r) {
        for (size_t j = 0; j < width; ++j)
          score_[k * width + j] +=
              fitted[r * stride + j] * left[r * n_solutions_ + k] / singular_.value(k);
        left[r * n_solutions_ + k] *= singular_.value(k);
      }
  }
  solution_.assign(side * n_solutions_, 0.0);
  for (size_t r = 0; r < rank; ++r) {
    const double* v = eigen.eigenvectors().col(static_cast<Index>(n_dropped + r)).data();
    poll_cancellation(side * n_solutions_);
    for (size_t i = 0; i < side; ++i)
      for (size_t k = 0; k < n_solutions_; ++k)
        solution_[i * n_solutions_ + k] += v[i] * (back[r] * left[r * n_solutions_ + k]);
  }
}

void LinearModel::lda(ModelDirections& out) {
  out.clear(sample_->m);
  if (empty_) return;
  solve_lda();
  add_solutions(out);
}

size_t LinearModel::gcv(std::span<const double> alphas, std::vector<double>& score) {
  score.assign(alphas.size(), 0.0);
  if (empty_ || alphas.empty()) return 0;
  choose_shifts(alphas);
  const size_t side = tridiagonal_.size(), lanes = shifts_.stride, width = responses_.stride();
  // Sums of squares of z = (T + alpha)^-1 c and of z' c, for every alpha.
  std::vector<double> squares(lanes, 0.0), along(lanes, 0.0), trace(lanes);
  if (responses_.width() == 1) {
    block_.resize(side * lanes);
    tridiagonal_.solve(shifts_, right_side_.data(), block_.data());
    for (size_t i = 0; i < side; ++i)
      for (size_t a = 0; a < lanes; ++a) {
        squares[a] += block_[i * lanes + a] * block_[i * lanes + a];
        along[a] += block_[i * lanes + a] * right_side_[i];
      }
  } else {
    for (size_t a = 0; a < alphas.size(); ++a) {
      poll_cancellation(side * width);
      block_ = right_side_;
      tridiagonal_.half_solve(shifts_, a, block_.data(), width);
      for (double value : block_) along[a] += value * value;
      tridiagonal_.half_solve_transposed(shifts_, a, block_.data(), width);
      for (double value : block_) squares[a] += value * value;
    }
  }
  tridiagonal_.inverse_trace(shifts_, trace.data());
  const auto n = static_cast<double>(rows_.n);
  const double total = responses_.total_square();
  size_t best = 0;
  for (size_t a = 0; a < alphas.size(); ++a) {
    const double alpha = shifts_.alpha[a];
    if (by_rows_) {  // numerator and denominator both divided by alpha^2
      score[a] = n * squares[a] / (trace[a] * trace[a]);
    } else {
      const double residual = std::max(total - along[a] - alpha * squares[a], kMinResidual * total);
      const double freedom = n - 1.0 - static_cast<double>(side) + alpha * trace[a];
      score[a] = n * residual / (freedom * freedom);
    }
    if (score[a] < score[best] || (score[a] == score[best] && alphas[a] > alphas[best])) best = a;
  }
  return best;
}

}  // namespace bevel
