#include "bevel/models/logistic.h"

#include <algorithm>
#include <cmath>

#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// The third derivative of the loss is bounded by the second, so that a Newton step that moves no
// row's b0 + x b by more than 1.5 always lowers the objective: (e^s - s - 1) / s^2 < 1 (Bach 2010,
// Self-concordant analysis for logistic regression). A longer step is taken when it does not climb
// on the far side of the minimum along it.
constexpr double kSafeMove = 1.5;
constexpr double kMaxLogisticMove = 48.0;  // 1.5 * 2^5: at most five halvings
constexpr double kMaxClimb = 0.1;          // relative to the descent at the start of the step
constexpr double kLogisticConverged = 1e-6;
constexpr double kMinLogisticAlpha = 1e-10;  // relative to the total weight

double sigmoid(double x) {
  const double e = fixed_exp(-std::fabs(x));
  return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

}  // namespace

// With fewer rows than features the solution lies in the rows' span, where a QR of the transposed
// rows gives it as many coordinates as the rows' rank; lengths, hence the penalty, stay the same.
void LogisticModel::set_design() {
  const size_t n = rows_.n;
  reduced_ = n < rows_.size;
  n_coordinates_ = rows_.size;
  if (reduced_) {
    const size_t stride = padded(n);
    transposed_.resize(rows_.size * stride);
    transpose(rows_.matrix(), rows_.size, transposed_.data());
    qr_.factorise({transposed_.data(), rows_.size, stride}, n);
    n_coordinates_ = qr_.rank();
  }
  stride_ = padded(n_coordinates_ + 1);
  design_.assign(n * stride_, 0.0);
  for (size_t i = 0; i < n; ++i) {
    const size_t row = reduced_ ? qr_.order()[i] : i;
    poll_cancellation_at(i, stride_);
    double* to = design_.data() + row * stride_;
    if (reduced_)
      for (size_t k = 0; k < std::min(n_coordinates_, i + 1); ++k) to[k] = qr_.r(k, i);
    else
      std::copy_n(rows_.z.data() + row * rows_.stride, n_coordinates_, to);
    to[n_coordinates_] = rows_.root_weight[row];
  }
}

// Probabilities at linear - share * move, and the objective's slope there along the step.
double LogisticModel::try_step(double share, double alpha) {
  constexpr size_t kWorkOfSigmoid = 32;
  poll_cancellation(rows_.n * kWorkOfSigmoid);
  double slope = 0.0;
  for (size_t i = 0; i < rows_.n; ++i) {
    probability_[i] = sigmoid(linear_[i] - share * move_[i]);
    slope -= weight_[i] * (probability_[i] - indicator_[i]) * move_[i];
  }
  for (size_t j = 0; j < n_coordinates_; ++j)
    slope -= alpha * (coefficient_[j] - share * step_[j]) * step_[j];
  return slope;
}

// Sets scaled_, whose Gram matrix is the second derivative of the loss at probability_, and
// hessian_ to the factor of that of the objective.
bool LogisticModel::factorise_hessian(double alpha) {
  for (size_t i = 0; i < rows_.n; ++i) {
    const double p = probability_[i];
    const double curvature = std::sqrt(p * (1.0 - p));
    poll_cancellation_at(i, stride_);
    const double* from = design_.data() + i * stride_;
    double* to = scaled_.data() + i * stride_;
    for (size_t j = 0; j < stride_; ++j) to[j] = curvature * from[j];
  }
  gram({scaled_.data(), rows_.n, stride_}, hessian_.data());
  for (size_t j = 0; j < n_coordinates_; ++j) hessian_[j * stride_ + j] += alpha;
  return factorise_positive({hessian_.data(), n_coordinates_ + 1, stride_});
}

// Moves coefficient_, linear_ (the rows' b0 + x b) and probability_; returns the largest move of a
// full step, 0 when all rows are fitted so well that the loss is flat.
double LogisticModel::newton_step(double alpha) {
  const size_t n = rows_.n, size = n_coordinates_ + 1;
  if (!factorise_hessian(alpha)) return 0.0;
  const ConstMatrix design{design_.data(), n, stride_};
  for (size_t i = 0; i < n; ++i)
    residual_[i] = rows_.root_weight[i] * (probability_[i] - indicator_[i]);
  transposed_times(design, residual_.data(), step_.data());
  for (size_t j = 0; j < n_coordinates_; ++j) step_[j] += alpha * coefficient_[j];
  gradient_ = step_;
  solve_factorised({hessian_.data(), size, stride_}, step_.data());
  const double descent = dot(gradient_.data(), step_.data(), size);
  times(design, step_.data(), size, move_.data());
  double largest = 0.0;
  for (size_t i = 0; i < n; ++i) {
    move_[i] *= inverse_root_weight_[i];
    largest = std::max(largest, std::fabs(move_[i]));
  }
  double share = largest > kMaxLogisticMove ? kMaxLogisticMove / largest : 1.0;
  while (try_step(share, alpha) > kMaxClimb * descent && share * largest > kSafeMove) share *= 0.5;
  for (size_t j = 0; j < size; ++j) coefficient_[j] -= share * step_[j];
  for (size_t i = 0; i < n; ++i) linear_[i] -= share * move_[i];
  return largest;
}

// False when there is nothing to separate.
bool LogisticModel::fit_class(const NodeSample& sample, int32_t positive, double alpha,
                              size_t n_steps) {
  double weight = 0.0;
  for (size_t i = 0; i < sample.n; ++i) {
    indicator_[i] = sample.label[i] == positive ? 1.0 : 0.0;
    weight += sample.weight[i] * indicator_[i];
  }
  coefficient_.assign(stride_, 0.0);
  const double others = rows_.total_weight - weight;
  if (!(weight > 0.0) || !(others > 0.0)) return false;
  coefficient_[n_coordinates_] = fixed_log(weight / others);
  linear_.assign(sample.n, coefficient_[n_coordinates_]);
  probability_.assign(sample.n, weight / rows_.total_weight);
  for (size_t step = 0; step < n_steps; ++step)
    if (newton_step(alpha) < kLogisticConverged) break;
  return true;
}

// Valid until the next call.
const double* LogisticModel::on_features(const double* coordinates) {
  if (!reduced_) return coordinates;
  back_.resize(rows_.size);
  std::copy_n(coordinates, n_coordinates_, back_.data());
  qr_.apply_q(back_.data());
  return back_.data();
}

void LogisticModel::directions(const NodeSample& sample, double alpha, size_t n_steps,
                               ModelDirections& out, std::vector<double>* p_values) {
  out.clear(sample.m);
  if (p_values) p_values->clear();
  rows_.standardise(sample);
  if (sample.n < 2 || rows_.size == 0) return;
  set_design();
  const size_t n = sample.n;
  scaled_.resize(n * stride_);
  hessian_.resize(stride_ * stride_);
  step_.resize(stride_);
  weight_ = sample.weight;
  for (auto* buffer : {&inverse_root_weight_, &indicator_, &residual_, &move_}) buffer->resize(n);
  for (size_t i = 0; i < n; ++i)
    inverse_root_weight_[i] = rows_.root_weight[i] > 0.0 ? 1.0 / rows_.root_weight[i] : 0.0;
  alpha = std::max(alpha, kMinLogisticAlpha * rows_.total_weight);
  const int32_t first = sample.n_classes == 2 ? 1 : 0;
  for (int32_t k = first; k < sample.n_classes; ++k) {
    if (!fit_class(sample, k, alpha, n_steps)) continue;
    if (p_values) set_variances(alpha);
    const double* coefficient = on_features(coefficient_.data());
    if (rows_.add_direction(coefficient, out) && p_values) add_p_values(coefficient, *p_values);
  }
}

}  // namespace bevel
