#include "bevel/boosting/losses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/arithmetic/many_values.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr size_t kLossBlockRows = 4096;
constexpr size_t kLossTileRows = 512;  // whose exponentials are taken together
constexpr double kSmallestShare = 1e-15;

// Means are between 1e-100 and 1e100, so that their sums and squares times weights are finite.
double mean_of(double x) { return fixed_exp(std::clamp(x, -kMostExponent, kMostExponent)); }

// 1 / (1 + exp(-x)) of some rows' predictions.
void logistics(const double* raw, std::span<const uint32_t> rows, double* out) {
  for (size_t i = 0; i < rows.size(); ++i) out[i] = -raw[rows[i]];
  exponentials(out, rows.size(), out);
  for (size_t i = 0; i < rows.size(); ++i) out[i] = 1.0 / (1.0 + out[i]);
}

// log(1 + exp(x)) of some rows' predictions, without overflow.
void softpluses(const double* raw, std::span<const uint32_t> rows, double* out) {
  for (size_t i = 0; i < rows.size(); ++i) out[i] = -std::fabs(raw[rows[i]]);
  exponentials(out, rows.size(), out);
  for (size_t i = 0; i < rows.size(); ++i) out[i] = 1.0 + out[i];
  logarithms(out, rows.size(), out);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double x = raw[rows[i]];
    out[i] = x > 0.0 ? x + out[i] : out[i];
  }
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
  team.run_blocks(rows.size(), kLossBlockRows, [&](size_t first, size_t last) {
    poll_cancellation((last - first) * static_cast<size_t>(options_.n_outputs) * 16);
    set_log_sums_of_block(raw, rows.subspan(first, last - first));
  });
}

void Loss::set_log_sums_of_block(const RawPredictions& raw, std::span<const uint32_t> rows) {
  const auto n_outputs = static_cast<size_t>(options_.n_outputs);
  std::vector<double> largest(rows.size()), sum(rows.size(), 0.0), part(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) largest[i] = raw.output(0)[rows[i]];
  for (size_t k = 1; k < n_outputs; ++k)
    for (size_t i = 0; i < rows.size(); ++i)
      largest[i] = std::max(largest[i], raw.output(k)[rows[i]]);
  for (size_t k = 0; k < n_outputs; ++k) {
    for (size_t i = 0; i < rows.size(); ++i) part[i] = raw.output(k)[rows[i]] - largest[i];
    exponentials(part.data(), part.size(), part.data());
    for (size_t i = 0; i < rows.size(); ++i) sum[i] += part[i];
  }
  logarithms(sum.data(), sum.size(), sum.data());  // of numbers of at least 1
  for (size_t i = 0; i < rows.size(); ++i) log_sums_[rows[i]] = largest[i] + sum[i];
}

void Loss::gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                     std::vector<Gradient>& out) const {
  const bool of_classes =
      options_.loss == LossKind::log_loss || options_.loss == LossKind::multinomial;
  for (size_t first = 0; of_classes && first < rows.size(); first += kLossTileRows)
    class_gradients(raw, rows.subspan(first, std::min(kLossTileRows, rows.size() - first)), output,
                    out);
  if (!of_classes)
    for (const uint32_t row : rows) out[row] = gradient(raw, row, output);
}

void Loss::class_gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                           std::vector<Gradient>& out) const {
  std::array<double, kLossTileRows> probability{};
  const double* own = raw.output(output);
  if (options_.loss == LossKind::log_loss) {
    logistics(own, rows, probability.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      const double weight = target_.weight(rows[i]), share = probability[i];
      out[rows[i]] = {weight * (share - target_.values[rows[i]]), weight * (share * (1.0 - share))};
    }
    return;
  }
  // A class against the others: the diagonal of the hessian, times K / (K - 1) so that two
  // classes are stepped alike (Friedman 2001, section 4.6).
  for (size_t i = 0; i < rows.size(); ++i) probability[i] = own[rows[i]] - log_sums_[rows[i]];
  exponentials(probability.data(), rows.size(), probability.data());
  const auto n = static_cast<double>(options_.n_outputs);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double weight = target_.weight(rows[i]), share = probability[i];
    const bool is_class = static_cast<size_t>(target_.values[rows[i]]) == output;
    out[rows[i]] = {weight * (share - (is_class ? 1.0 : 0.0)),
                    weight * (share * (1.0 - share)) * (n / (n - 1.0))};
  }
}

Gradient Loss::gradient(const RawPredictions& raw, size_t row, size_t output) const {
  const double weight = target_.weight(row);
  const double x = raw.output(output)[row], y = target_.values[row];
  switch (options_.loss) {
    case LossKind::squared_error:
      return {weight * (x - y), weight};
    case LossKind::log_loss:
    case LossKind::multinomial:  // class_gradients()
      break;
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
    case LossKind::log_loss:  // of_rows()
      break;
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

void Loss::of_rows(const RawPredictions& raw, std::span<const uint32_t> rows, double* out) const {
  if (options_.loss == LossKind::log_loss) {
    softpluses(raw.output(0), rows, out);
    for (size_t i = 0; i < rows.size(); ++i)
      out[i] -= target_.values[rows[i]] * raw.output(0)[rows[i]];
  } else {
    for (size_t i = 0; i < rows.size(); ++i) out[i] = of_row(raw, rows[i]);
  }
}

double Loss::mean(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) const {
  std::vector<std::pair<double, double>> blocks((rows.size() + kLossBlockRows - 1) /
                                                kLossBlockRows);
  team.run_blocks(rows.size(), kLossBlockRows, [&](size_t first, size_t last) {
    poll_cancellation((last - first) * static_cast<size_t>(options_.n_outputs) * 16);
    auto& [sum, total] = blocks[first / kLossBlockRows];
    std::array<double, kLossTileRows> losses{};
    for (size_t tile = first; tile < last; tile += kLossTileRows) {
      const auto some = rows.subspan(tile, std::min(kLossTileRows, last - tile));
      of_rows(raw, some, losses.data());
      for (size_t i = 0; i < some.size(); ++i) {
        const double weight = target_.weight(some[i]);
        sum += weight * losses[i];
        total += weight;
      }
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
