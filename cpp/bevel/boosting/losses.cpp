#include "bevel/boosting/losses.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr size_t kBlockRows = 4096;
constexpr double kSmallestShare = 1e-15;

// Means are between 1e-100 and 1e100, so that their sums and squares times weights are finite.
double mean_of(double x) { return fixed_exp(std::clamp(x, -kMostExponent, kMostExponent)); }

double logistic(double x) { return 1.0 / (1.0 + fixed_exp(-x)); }

// log(1 + exp(x)) without overflow.
double softplus(double x) {
  return x > 0.0 ? x + fixed_log(1.0 + fixed_exp(-x)) : fixed_log(1.0 + fixed_exp(x));
}

double logit(double share) {
  share = std::clamp(share, kSmallestShare, 1.0 - kSmallestShare);
  return fixed_log(share) - fixed_log(1.0 - share);
}

// The smallest value such that values up to it have at least this share of the weight.
double weighted_quantile(std::vector<std::pair<double, double>>& values, double share) {
  std::sort(values.begin(), values.end());
  double total = 0.0;
  for (const auto& value : values) total += value.second;
  double sum = 0.0;
  for (const auto& value : values) {
    sum += value.second;
    if (sum >= share * total) return value.first;
  }
  return values.empty() ? 0.0 : values.back().first;
}

}  // namespace

std::vector<double> Loss::baseline(std::span<const uint32_t> rows) const {
  const auto n_outputs = static_cast<size_t>(options_.n_outputs);
  double total = 0.0, sum = 0.0;
  std::vector<double> by_class(std::max<size_t>(n_outputs, 2), 0.0);
  const bool of_classes =
      options_.loss == LossKind::log_loss || options_.loss == LossKind::multinomial;
  for (const uint32_t row : rows) {
    const double weight = target_.weight(row);
    total += weight;
    if (of_classes)
      by_class[static_cast<size_t>(target_.values[row])] += weight;
    else
      sum += weight * target_.values[row];
  }
  switch (options_.loss) {
    case LossKind::log_loss:
      return {logit(by_class[1] / total)};
    case LossKind::multinomial: {
      std::vector<double> result;
      double mean = 0.0;
      for (size_t k = 0; k < n_outputs; ++k) {
        result.push_back(fixed_log(std::max(by_class[k] / total, kSmallestShare)));
        mean += result.back() / static_cast<double>(n_outputs);
      }
      for (double& value : result) value -= mean;
      return result;
    }
    case LossKind::poisson:
    case LossKind::gamma:
      return {fixed_log(std::max(sum / total, kSmallestShare))};
    case LossKind::absolute_error:
    case LossKind::quantile:
    case LossKind::huber: {
      std::vector<std::pair<double, double>> values;
      for (const uint32_t row : rows) values.emplace_back(target_.values[row], target_.weight(row));
      std::vector<double> result;
      for (size_t k = 0; k < n_outputs; ++k) result.push_back(weighted_quantile(values, share(k)));
      return result;
    }
    case LossKind::squared_error:
    case LossKind::user:  // the caller gives its own
      break;
  }
  return {sum / total};
}

void Loss::evaluate(const RawPredictions& raw) {
  if (source_) source_->evaluate(raw.values, gradients_, losses_);
}

void Loss::begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) {
  if (gradients_.empty()) evaluate(raw);  // later iterations have those of the end before
  if (options_.loss == LossKind::huber) {
    std::vector<std::pair<double, double>> sizes;
    for (const uint32_t row : rows)
      sizes.emplace_back(std::fabs(target_.values[row] - raw.output(0)[row]), target_.weight(row));
    delta_ = weighted_quantile(sizes, options_.quantiles[0]);
    if (first_delta_ < 0.0) first_delta_ = delta_;
  }
  if (log_sums_.empty()) set_log_sums(raw, rows, team);
}

void Loss::end_iteration(const RawPredictions& raw, std::span<const uint32_t> training,
                         std::span<const uint32_t> validation, Team& team) {
  evaluate(raw);
  set_log_sums(raw, training, team);
  set_log_sums(raw, validation, team);
}

void Loss::set_log_sums(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) {
  if (options_.loss != LossKind::multinomial) return;
  // Output after output for a block of rows at a time, so that memory is read in its order.
  log_sums_.resize(raw.n_rows);
  team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
    poll_cancellation((last - first) * static_cast<size_t>(options_.n_outputs) * 16);
    set_log_sums_of_block(raw, rows.subspan(first, last - first));
  });
}

void Loss::set_log_sums_of_block(const RawPredictions& raw, std::span<const uint32_t> rows) {
  const auto n_outputs = static_cast<size_t>(options_.n_outputs);
  std::vector<double> largest(rows.size()), sum(rows.size(), 0.0);
  for (size_t i = 0; i < rows.size(); ++i) largest[i] = raw.output(0)[rows[i]];
  for (size_t k = 1; k < n_outputs; ++k)
    for (size_t i = 0; i < rows.size(); ++i)
      largest[i] = std::max(largest[i], raw.output(k)[rows[i]]);
  for (size_t k = 0; k < n_outputs; ++k)
    for (size_t i = 0; i < rows.size(); ++i)
      sum[i] += fixed_exp(raw.output(k)[rows[i]] - largest[i]);
  for (size_t i = 0; i < rows.size(); ++i) log_sums_[rows[i]] = largest[i] + fixed_log(sum[i]);
}

void Loss::gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                     std::vector<Gradient>& out) const {
  for (const uint32_t row : rows) out[row] = gradient(raw, row, output);
}

Gradient Loss::gradient(const RawPredictions& raw, size_t row, size_t output) const {
  const double weight = target_.weight(row);
  const double x = raw.output(output)[row], y = target_.values[row];
  switch (options_.loss) {
    case LossKind::squared_error:
      return {weight * (x - y), weight};
    case LossKind::log_loss: {
      const double probability = logistic(x);
      return {weight * (probability - y), weight * (probability * (1.0 - probability))};
    }
    case LossKind::multinomial: {
      // A class against the others: the diagonal of the hessian, times K / (K - 1) so that two
      // classes are stepped alike (Friedman 2001, section 4.6).
      const double probability = fixed_exp(x - log_sums_[row]);
      const auto n = static_cast<double>(options_.n_outputs);
      const double is_class = static_cast<size_t>(y) == output ? 1.0 : 0.0;
      return {weight * (probability - is_class),
              weight * (probability * (1.0 - probability)) * (n / (n - 1.0))};
    }
    case LossKind::absolute_error:
      return {x > y ? weight : x < y ? -weight : 0.0, weight};
    case LossKind::quantile:
      return {x > y ? weight * (1.0 - share(output)) : -weight * share(output), weight};
    case LossKind::huber:
      return {weight * std::clamp(x - y, -delta_, delta_), weight};
    case LossKind::poisson: {
      const double mean = mean_of(x);
      return {weight * (mean - y), weight * mean};
    }
    case LossKind::gamma: {
      const double ratio = y * mean_of(-x);
      return {weight * (1.0 - ratio), weight * ratio};
    }
    case LossKind::user: {
      const Gradient& own = gradients_[output * raw.n_rows + row];
      return {weight * own.gradient, weight * own.hessian};
    }
  }
  return {0.0, 0.0};
}

double Loss::of_row(const RawPredictions& raw, size_t row) const {
  const double x = raw.output(0)[row], y = target_.values[row];
  const double residual = y - x;
  switch (options_.loss) {
    case LossKind::squared_error:
      return 0.5 * residual * residual;
    case LossKind::log_loss:
      return softplus(x) - y * x;
    case LossKind::multinomial:
      return log_sums_[row] - raw.output(static_cast<size_t>(y))[row];
    case LossKind::absolute_error:
      return std::fabs(residual);
    case LossKind::quantile: {
      double sum = 0.0;
      for (size_t k = 0; k < options_.quantiles.size(); ++k) {
        const double rest = y - raw.output(k)[row];
        sum += rest >= 0.0 ? share(k) * rest : (share(k) - 1.0) * rest;
      }
      return sum / static_cast<double>(options_.quantiles.size());
    }
    case LossKind::huber: {
      const double size = std::fabs(residual);
      return size <= first_delta_ ? 0.5 * size * size : first_delta_ * (size - 0.5 * first_delta_);
    }
    case LossKind::poisson:
      return mean_of(x) - y * x;
    case LossKind::gamma:
      return x + y * mean_of(-x);
    case LossKind::user:
      return losses_[row];
  }
  return 0.0;
}

double Loss::mean(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) const {
  std::vector<std::pair<double, double>> blocks((rows.size() + kBlockRows - 1) / kBlockRows);
  team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
    poll_cancellation((last - first) * static_cast<size_t>(options_.n_outputs) * 16);
    auto& [sum, total] = blocks[first / kBlockRows];
    for (const uint32_t row : rows.subspan(first, last - first)) {
      const double weight = target_.weight(row);
      sum += weight * of_row(raw, row);
      total += weight;
    }
  });
  double sum = 0.0, total = 0.0;
  for (const auto& block : blocks) {
    sum += block.first;
    total += block.second;
  }
  return sum / total;
}

double Loss::leaf_value(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                        std::span<const double> factors) const {
  std::vector<std::pair<double, double>> residuals;
  residuals.reserve(rows.size());
  for (const uint32_t row : rows)
    residuals.emplace_back(target_.values[row] - raw.output(output)[row],
                           target_.weight(row) * (factors.empty() ? 1.0 : factors[row]));
  const double middle = weighted_quantile(residuals, share(output));
  if (options_.loss != LossKind::huber) return middle;
  // Friedman 2001, section 4.4: one step from the median.
  double sum = 0.0, total = 0.0;
  for (const auto& [residual, weight] : residuals) {
    sum += weight * std::clamp(residual - middle, -delta_, delta_);
    total += weight;
  }
  return middle + sum / total;
}

}  // namespace bevel
