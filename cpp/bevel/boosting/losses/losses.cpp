// The table of losses, and what they share.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "bevel/boosting/losses/loss.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {

using LossMaker = std::unique_ptr<Loss>(const BoostingOptions& options,
                                        const BoostingTarget& target);
// Each is defined in a source of this folder.
LossMaker make_squared_error_loss, make_log_loss, make_multinomial_loss, make_absolute_error_loss,
    make_huber_loss, make_quantile_loss, make_poisson_loss, make_gamma_loss, make_lambdarank_loss,
    make_pairwise_loss, make_cox_loss, make_log_logistic_loss, make_weibull_loss, make_user_loss;

namespace {

struct NamedLoss {
  const char* name;
  LossMaker* make;
};

constexpr NamedLoss kLosses[] = {
    {"squared_error", make_squared_error_loss},
    {"log_loss", make_log_loss},  // two classes
    {"multinomial", make_multinomial_loss},
    {"absolute_error", make_absolute_error_loss},
    {"huber", make_huber_loss},
    {"quantile", make_quantile_loss},
    {"poisson", make_poisson_loss},
    {"gamma", make_gamma_loss},
    {"lambdarank", make_lambdarank_loss},
    {"pairwise", make_pairwise_loss},
    {"cox", make_cox_loss},
    {"log_logistic", make_log_logistic_loss},
    {"weibull", make_weibull_loss},
    {"user", make_user_loss},
};

}  // namespace

std::unique_ptr<Loss> make_loss(const BoostingOptions& options, const BoostingTarget& target) {
  for (const NamedLoss& loss : kLosses)
    if (options.loss == loss.name) return loss.make(options, target);
  throw std::invalid_argument("[boost] unknown loss '" + options.loss + "'");
}

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

void Loss::check_targets(size_t n_rows) const {
  for (size_t row = 0; row < n_rows; ++row)
    require(std::isfinite(target_.values[row]), "[boost] target that is not finite");
}

void Loss::require_one_output() const { require(n_outputs_ == 1, "[boost] n_outputs"); }
void Loss::require_one_quantile() const {
  require(options_.quantiles.size() == 1, "[boost] number of quantiles");
}

double Loss::mean_target(std::span<const uint32_t> rows) const {
  double total = 0.0, sum = 0.0;
  for (const uint32_t row : rows) {
    const double weight = target_.weight(row);
    total += weight;
    sum += weight * target_.values[row];
  }
  return sum / total;
}

double Loss::mean(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) const {
  std::vector<std::pair<double, double>> blocks((rows.size() + kLossBlockRows - 1) /
                                                kLossBlockRows);
  team.run_blocks(rows.size(), kLossBlockRows, [&](size_t first, size_t last) {
    poll_cancellation((last - first) * n_outputs_ * 16);
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

}  // namespace bevel
