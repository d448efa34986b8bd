#include "bevel/boosting/losses/loss.h"

namespace bevel {
namespace {

class SquaredErrorLoss : public RowLoss<SquaredErrorLoss> {
 public:
  using RowLoss::RowLoss;

  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    return {mean_target(rows)};
  }
  Gradient gradient(double x, double y, double weight) const { return {weight * (x - y), weight}; }
  double of_row(double x, double y) const {
    const double residual = y - x;
    return 0.5 * residual * residual;
  }
};

}  // namespace

std::unique_ptr<Loss> make_squared_error_loss(const BoostingOptions& options,
                                              const BoostingTarget& target) {
  return make_loss_of<SquaredErrorLoss>(options, target);
}

}  // namespace bevel
