#include "bevel/models/cox.h"

#include <algorithm>
#include <cmath>

#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr double kMinCoxAlpha = 1e-10;  // relative to the total weight
constexpr double kMaxCoxMove = 2.0;     // of a row's x b in one step after the first
constexpr double kCoxConverged = 1e-6;

}  // namespace

void CoxModel::add_row(const NodeSample& sample, size_t row, double sign) {
  const size_t size = rows_.size, stride = rows_.stride;
  const double* z = rows_.z.data() + row * stride;
  const double root = rows_.root_weight[row];
  const double share = sign * (sample.weight[row] * risk_[row]);
  total_ += share;
  for (size_t j = 0; j < size; ++j) {
    x_[j] = z[j] / root;
    sum_[j] += share * x_[j];
  }
  for (size_t j = 0; j < size; ++j) {
    const double scaled = share * x_[j];
    double* to = squares_.data() + j * stride;
    for (size_t k = j; k < size; ++k) to[k] += scaled * x_[k];
  }
  if (sign > 0.0 && sample.survival[row].event)
    for (size_t j = 0; j < size; ++j) gradient_[j] += sample.weight[row] * x_[j];
}

void CoxModel::order_late_rows(const NodeSample& sample) {
  late_.clear();
  for (size_t i = 0; i < sample.n; ++i)
    if (sample.survival[i].entry > 0) late_.push_back(static_cast<uint32_t>(i));
  std::sort(late_.begin(), late_.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t entry_a = sample.survival[a].entry, entry_b = sample.survival[b].entry;
    return entry_a != entry_b ? entry_a > entry_b : a < b;
  });
}

// Adds the events of one time, when all rows at risk are in the sums.
void CoxModel::add_events(double deaths) {
  const size_t size = rows_.size, stride = rows_.stride;
  for (size_t j = 0; j < size; ++j) {
    mean_[j] = sum_[j] / total_;
    gradient_[j] -= deaths * mean_[j];
  }
  const double share = deaths / total_;
  for (size_t j = 0; j < size; ++j) {
    const double scaled = deaths * mean_[j];
    const double* from = squares_.data() + j * stride;
    double* to = information_.data() + j * stride;
    for (size_t k = j; k < size; ++k) to[k] += share * from[k] - scaled * mean_[k];
  }
}

bool CoxModel::differentiate(const NodeSample& sample) {
  const size_t stride = rows_.stride;
  for (auto* sums : {&sum_, &gradient_, &mean_, &x_}) sums->assign(stride, 0.0);
  for (auto* sums : {&squares_, &information_}) sums->assign(stride * stride, 0.0);
  total_ = 0.0;
  bool any = false;
  size_t n_left = 0;  // late rows that have not entered yet
  for (size_t i = sample.n; i > 0;) {
    const uint32_t rank = sample.survival[i - 1].rank;
    double deaths = 0.0;
    for (; i > 0 && sample.survival[i - 1].rank == rank; --i) {
      poll_cancellation_at(i, stride * stride);
      add_row(sample, i - 1, 1.0);
      if (sample.survival[i - 1].event) deaths += sample.weight[i - 1];
    }
    for (; n_left < late_.size() && sample.survival[late_[n_left]].entry >= rank; ++n_left)
      add_row(sample, late_[n_left], -1.0);
    if (!(deaths > 0.0 && total_ > 0.0)) continue;
    add_events(deaths);
    any = true;
  }
  return any;
}

void CoxModel::add_penalty(double alpha) {
  const size_t size = rows_.size, stride = rows_.stride;
  for (size_t j = 0; j < size; ++j) {
    gradient_[j] -= alpha * b_[j];
    information_[j * stride + j] += alpha;
    for (size_t k = 0; k < j; ++k) information_[j * stride + k] = information_[k * stride + j];
  }
}

void CoxModel::directions(const NodeSample& sample, double alpha, size_t n_steps,
                          ModelDirections& out) {
  out.clear(sample.m);
  rows_.standardise(sample);
  if (sample.n < 2 || rows_.size == 0) return;
  const size_t size = rows_.size, stride = rows_.stride;
  b_.assign(stride, 0.0);
  risk_.assign(sample.n, 1.0);
  order_late_rows(sample);
  alpha = std::max(alpha, kMinCoxAlpha * rows_.total_weight);
  for (size_t step = 0; step < n_steps; ++step) {
    if (!differentiate(sample)) return;
    add_penalty(alpha);
    if (!factorise_positive({information_.data(), size, stride})) break;
    solve_factorised({information_.data(), size, stride}, gradient_.data());
    double largest = 0.0;
    for (size_t i = 0; i < sample.n && n_steps > 1; ++i) {
      const double* z = rows_.z.data() + i * stride;
      largest = std::max(largest, std::fabs(dot(z, gradient_.data(), size)) / rows_.root_weight[i]);
    }
    const double share = largest > kMaxCoxMove ? kMaxCoxMove / largest : 1.0;
    for (size_t j = 0; j < size; ++j) b_[j] += share * gradient_[j];
    if (step + 1 == n_steps || largest < kCoxConverged) break;
    for (size_t i = 0; i < sample.n; ++i)
      risk_[i] =
          fixed_exp(dot(rows_.z.data() + i * stride, b_.data(), size) / rows_.root_weight[i]);
  }
  rows_.add_direction(b_.data(), out);
}

}  // namespace bevel
