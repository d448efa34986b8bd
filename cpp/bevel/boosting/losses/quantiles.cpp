// Losses whose leaves take a quantile of the residuals.
#include <algorithm>
#include <cmath>

#include "bevel/boosting/losses/loss.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

using Weighted = std::vector<std::pair<double, double>>;  // values with their weights

// What they share. Each output predicts a quantile of the target, by default the median.
class RenewingLoss : public Loss {
 public:
  using Loss::Loss;

  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    Weighted values;
    for (const uint32_t row : rows) values.emplace_back(target_.values[row], target_.weight(row));
    std::vector<double> result;
    for (size_t k = 0; k < n_outputs_; ++k) result.push_back(weighted_quantile(values, share(k)));
    return result;
  }
  bool renews_leaves() const override { return true; }
  double leaf_value(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                    std::span<const double> factors) const override {
    Weighted residuals;
    residuals.reserve(rows.size());
    for (const uint32_t row : rows)
      residuals.emplace_back(target_.values[row] - raw.output(output)[row],
                             target_.weight(row) * (factors.empty() ? 1.0 : factors[row]));
    return step(residuals, weighted_quantile(residuals, share(output)));
  }

 protected:
  virtual double share(size_t /*output*/) const { return 0.5; }
  // The value of a leaf; middle: the quantile of its residuals.
  virtual double step(const Weighted& /*residuals*/, double middle) const { return middle; }
};

class AbsoluteErrorLoss : public RenewingLoss {
 public:
  AbsoluteErrorLoss(const BoostingOptions& options, const BoostingTarget& target)
      : RenewingLoss(options, target) {
    require_one_output();
    require_one_quantile();
  }

  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const override {
    for (const uint32_t row : rows) {
      const double x = raw.output(output)[row], y = target_.values[row];
      const double weight = target_.weight(row);
      out[row] = {x > y ? weight : x < y ? -weight : 0.0, weight};
    }
  }

 protected:
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
               double* out) const override {
    for (size_t i = 0; i < rows.size(); ++i)
      out[i] = std::fabs(target_.values[rows[i]] - raw.output(0)[rows[i]]);
  }
};

class QuantileLoss : public RenewingLoss {
 public:
  QuantileLoss(const BoostingOptions& options, const BoostingTarget& target)
      : RenewingLoss(options, target) {
    require(options.quantiles.size() == n_outputs_, "[boost] number of quantiles");
  }

  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const override {
    for (const uint32_t row : rows) {
      const double x = raw.output(output)[row], y = target_.values[row];
      const double weight = target_.weight(row);
      out[row] = {x > y ? weight * (1.0 - share(output)) : -weight * share(output), weight};
    }
  }

 protected:
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
               double* out) const override {
    for (size_t i = 0; i < rows.size(); ++i) {
      double sum = 0.0;
      for (size_t k = 0; k < n_outputs_; ++k) {
        const double rest = target_.values[rows[i]] - raw.output(k)[rows[i]];
        sum += rest >= 0.0 ? share(k) * rest : (share(k) - 1.0) * rest;
      }
      out[i] = sum / static_cast<double>(n_outputs_);
    }
  }
  double share(size_t output) const override { return options_.quantiles[output]; }
};

// Residuals beyond delta count linearly. That of the first iteration measures the loss, so that
// losses of all iterations are comparable.
class HuberLoss : public RenewingLoss {
 public:
  HuberLoss(const BoostingOptions& options, const BoostingTarget& target)
      : RenewingLoss(options, target) {
    require_one_output();
    require_one_quantile();
  }

  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows, Team&) override {
    Weighted sizes;
    for (const uint32_t row : rows)
      sizes.emplace_back(std::fabs(target_.values[row] - raw.output(0)[row]), target_.weight(row));
    delta_ = weighted_quantile(sizes, options_.quantiles[0]);
    if (first_delta_ < 0.0) first_delta_ = delta_;
  }
  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const override {
    for (const uint32_t row : rows) {
      const double x = raw.output(output)[row], y = target_.values[row];
      const double weight = target_.weight(row);
      out[row] = {weight * std::clamp(x - y, -delta_, delta_), weight};
    }
  }

 protected:
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
               double* out) const override {
    for (size_t i = 0; i < rows.size(); ++i) {
      const double size = std::fabs(target_.values[rows[i]] - raw.output(0)[rows[i]]);
      out[i] =
          size <= first_delta_ ? 0.5 * size * size : first_delta_ * (size - 0.5 * first_delta_);
    }
  }
  // Friedman 2001, section 4.4: one step from the median.
  double step(const Weighted& residuals, double middle) const override {
    double sum = 0.0, total = 0.0;
    for (const auto& [residual, weight] : residuals) {
      sum += weight * std::clamp(residual - middle, -delta_, delta_);
      total += weight;
    }
    return middle + sum / total;
  }

 private:
  double delta_ = 0.0, first_delta_ = -1.0;
};

}  // namespace

std::unique_ptr<Loss> make_absolute_error_loss(const BoostingOptions& options,
                                               const BoostingTarget& target) {
  return make_loss_of<AbsoluteErrorLoss>(options, target);
}

std::unique_ptr<Loss> make_quantile_loss(const BoostingOptions& options,
                                         const BoostingTarget& target) {
  return make_loss_of<QuantileLoss>(options, target);
}

std::unique_ptr<Loss> make_huber_loss(const BoostingOptions& options,
                                      const BoostingTarget& target) {
  return make_loss_of<HuberLoss>(options, target);
}

}  // namespace bevel
