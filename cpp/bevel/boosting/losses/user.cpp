#include "bevel/boosting/losses/loss.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

// Gradients come from a function of the caller.
class UserLoss : public Loss {
 public:
  UserLoss(const BoostingOptions& options, const BoostingTarget& target) : Loss(options, target) {
    require(options.user_loss != nullptr, "[boost] a user's loss comes with a function");
    require_one_quantile();
  }

  std::vector<double> baseline(std::span<const uint32_t>) const override {
    require(false, "[boost] a user's loss comes with a baseline");
    return {};
  }
  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t>, Team&) override {
    if (gradients_.empty()) evaluate(raw);  // later iterations have those of the end before
  }
  void end_iteration(const RawPredictions& raw, std::span<const uint32_t>,
                     std::span<const uint32_t>, Team&) override {
    evaluate(raw);
  }
  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const override {
    for (const uint32_t row : rows) {
      const Gradient& own = gradients_[output * raw.n_rows + row];
      const double weight = target_.weight(row);
      out[row] = {weight * own.gradient, weight * own.hessian};
    }
  }

 protected:
  void of_rows(const RawPredictions&, std::span<const uint32_t> rows, double* out) const override {
    for (size_t i = 0; i < rows.size(); ++i) out[i] = losses_[rows[i]];
  }

 private:
  void evaluate(const RawPredictions& raw) {
    options_.user_loss->evaluate(raw, gradients_, losses_);
  }

  // By row, gradients output after output, at the present predictions.
  std::vector<Gradient> gradients_;
  std::vector<double> losses_;
};

}  // namespace

std::unique_ptr<Loss> make_user_loss(const BoostingOptions& options, const BoostingTarget& target) {
  return make_loss_of<UserLoss>(options, target);
}

}  // namespace bevel
