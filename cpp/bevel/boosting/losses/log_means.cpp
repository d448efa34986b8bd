// Losses whose raw predictions are logarithms of means: of counts, and of positive numbers.
#include <algorithm>

#include "bevel/boosting/losses/loss.h"
#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"

namespace bevel {
namespace {

// Means are between 1e-100 and 1e100, so that their sums and squares times weights are finite.
double mean_of(double x) { return fixed_exp(std::clamp(x, -kMaxExponent, kMaxExponent)); }

double log_mean(double mean) { return fixed_log(std::max(mean, kMinShare)); }

class PoissonLoss : public RowLoss<PoissonLoss> {
 public:
  using RowLoss::RowLoss;

  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    return {log_mean(mean_target(rows))};
  }
  Gradient gradient(double x, double y, double weight) const {
    const double mean = mean_of(x);
    return {weight * (mean - y), weight * mean};
  }
  double of_row(double x, double y) const { return mean_of(x) - y * x; }
};

class GammaLoss : public RowLoss<GammaLoss> {
 public:
  using RowLoss::RowLoss;

  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    return {log_mean(mean_target(rows))};
  }
  Gradient gradient(double x, double y, double weight) const {
    const double ratio = y * mean_of(-x);
    return {weight * (1.0 - ratio), weight * ratio};
  }
  double of_row(double x, double y) const { return x + y * mean_of(-x); }
};

}  // namespace

std::unique_ptr<Loss> make_poisson_loss(const BoostingOptions& options,
                                        const BoostingTarget& target) {
  return make_loss_of<PoissonLoss>(options, target);
}

std::unique_ptr<Loss> make_gamma_loss(const BoostingOptions& options,
                                      const BoostingTarget& target) {
  return make_loss_of<GammaLoss>(options, target);
}

}  // namespace bevel
