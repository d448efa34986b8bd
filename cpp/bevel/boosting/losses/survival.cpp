// Losses of right-censored times, with late entry. Raw predictions are risks: higher for earlier
// events.
#include <algorithm>
#include <cmath>

#include "bevel/boosting/losses/loss.h"
#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

double bounded_exp(double x) { return fixed_exp(std::clamp(x, -kMaxExponent, kMaxExponent)); }

// What they share: checks of times, and losses of rows that are computed after each iteration.
class SurvivalLoss : public Loss {
 public:
  SurvivalLoss(const BoostingOptions& options, const BoostingTarget& target)
      : Loss(options, target) {
    require_one_output();
    require_one_quantile();
    require(target.event != nullptr, "[boost] survival needs the event of each row");
  }

  void check_targets(size_t n_rows) const override {
    for (size_t row = 0; row < n_rows; ++row) {
      const double time = target_.values[row];
      require(std::isfinite(time) && time > entry(row) && entry(row) >= 0.0,
              "[boost] time that is not after the entry, or not finite");
      require(target_.event[row] <= 1, "[boost] event out of range");
    }
  }
  void gradients(const RawPredictions&, std::span<const uint32_t> rows, size_t,
                 std::vector<Gradient>& out) const override {
    for (const uint32_t row : rows) out[row] = gradients_[row];
  }

 protected:
  double entry(size_t row) const { return target_.entry ? target_.entry[row] : 0.0; }
  void of_rows(const RawPredictions&, std::span<const uint32_t> rows, double* out) const override {
    for (size_t i = 0; i < rows.size(); ++i) out[i] = losses_[rows[i]];
  }

  std::vector<Gradient> gradients_;  // by row, with weights
  std::vector<double> losses_;       // by row, without weights
};

// Cox's partial likelihood; events of one time are at risk together (Breslow 1974). Raw
// predictions are log hazards. The hessian is the diagonal of the exact one.
class CoxLoss : public SurvivalLoss {
 public:
  using SurvivalLoss::SurvivalLoss;

  std::vector<double> baseline(std::span<const uint32_t>) const override { return {0.0}; }

  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows, Team&) override {
    prepare(training_, rows, raw.n_rows);
    const Hazard hazard = breslow(raw, rows, training_);
    for (const uint32_t row : rows) {
      const double share = target_.weight(row) * bounded_exp(raw.output(0)[row]);
      const auto [first, last] = training_.at_risk[row];
      const double expected = share * std::max(hazard.sum[last] - hazard.sum[first], 0.0);
      const double squares =
          share * share * std::max(hazard.squares[last] - hazard.squares[first], 0.0);
      const double seen = target_.event[row] ? target_.weight(row) : 0.0;
      gradients_[row] = {expected - seen, std::max(expected - squares, 0.0)};
    }
  }
  void end_iteration(const RawPredictions& raw, std::span<const uint32_t> training,
                     std::span<const uint32_t> validation, Team&) override {
    set_losses(raw, training, training_);
    if (validation.empty()) return;
    prepare(validation_, validation, raw.n_rows);
    set_losses(raw, validation, validation_);
  }

 private:
  // Event times of some rows, and during which of them each row is at risk: from `first` to before
  // `last`, by row of the data.
  struct RiskTimes {
    std::vector<double> times;  // ascending
    std::vector<std::pair<uint32_t, uint32_t>> at_risk;
  };
  // Sums up to before each event time of d / R and d / R^2, where d is the weight of its events and
  // R the weighted hazard ratio of the rows at risk; and R itself.
  struct Hazard {
    std::vector<double> sum, squares, at_risk;
  };

  void prepare(RiskTimes& of, std::span<const uint32_t> rows, size_t n_rows) {
    if (!of.at_risk.empty()) return;
    for (const uint32_t row : rows)
      if (target_.event[row]) of.times.push_back(target_.values[row]);
    std::sort(of.times.begin(), of.times.end());
    of.times.erase(std::unique(of.times.begin(), of.times.end()), of.times.end());
    of.at_risk.resize(n_rows);
    const auto place = [&](double time) {
      const auto after = std::upper_bound(of.times.begin(), of.times.end(), time);
      return static_cast<uint32_t>(after - of.times.begin());
    };
    for (const uint32_t row : rows)
      of.at_risk[row] = {place(entry(row)), place(target_.values[row])};
    gradients_.resize(n_rows);
    losses_.resize(n_rows);
  }

  Hazard breslow(const RawPredictions& raw, std::span<const uint32_t> rows,
                 const RiskTimes& of) const {
    const size_t n = of.times.size();
    std::vector<double> events(n, 0.0), leaving(n + 1, 0.0), entering(n + 1, 0.0), own(n, 0.0);
    poll_cancellation(rows.size() * 32);
    for (const uint32_t row : rows) {
      const double share = target_.weight(row) * bounded_exp(raw.output(0)[row]);
      const auto [first, last] = of.at_risk[row];
      if (first == last) continue;  // at risk at no event
      leaving[last] += share;
      entering[first] += share;
      if (!target_.event[row]) continue;
      events[last - 1] += target_.weight(row);
      own[last - 1] += share;
    }
    Hazard found{std::vector<double>(n + 1, 0.0), std::vector<double>(n + 1, 0.0),
                 std::vector<double>(n, 0.0)};
    double later = 0.0, not_yet = 0.0;
    for (size_t t = n; t-- > 0;) {
      later += leaving[t + 1];
      not_yet += entering[t + 1];
      // Rounding of the difference leaves at least the rows of the events.
      found.at_risk[t] = std::max(later - not_yet, own[t]);
    }
    for (size_t t = 0; t < n; ++t) {
      const double jump = events[t] / found.at_risk[t];
      found.sum[t + 1] = found.sum[t] + jump;
      found.squares[t + 1] = found.squares[t] + jump / found.at_risk[t];
    }
    return found;
  }

  void set_losses(const RawPredictions& raw, std::span<const uint32_t> rows, const RiskTimes& of) {
    const Hazard hazard = breslow(raw, rows, of);
    for (const uint32_t row : rows)
      losses_[row] = target_.event[row] ? fixed_log(hazard.at_risk[of.at_risk[row].second - 1]) -
                                              raw.output(0)[row]
                                        : 0.0;
  }

  RiskTimes training_, validation_;
};

// Accelerated failure time: (log time + raw) / scale has a distribution that is known, and the
// scale takes a step to its best value in each iteration. Kind has the functions of the
// distribution.
template <class Kind>
class FailureTimeLoss : public SurvivalLoss {
 public:
  using SurvivalLoss::SurvivalLoss;

  // Minus the logarithm of the time at risk for each event.
  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    double events = 0.0, time = 0.0;
    for (const uint32_t row : rows) {
      events += target_.event[row] ? target_.weight(row) : 0.0;
      time += target_.weight(row) * (target_.values[row] - entry(row));
    }
    return {fixed_log(std::max(events, kMinShare)) - fixed_log(time)};
  }

  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows, Team&) override {
    if (gradients_.empty()) fit_scale(raw, rows);  // later iterations have that of the end before
    gradients_.resize(raw.n_rows);
    losses_.resize(raw.n_rows);
    for (const uint32_t row : rows) {
      const Terms own = terms(raw.output(0)[row], row);
      const double weight = target_.weight(row) / scale();
      gradients_[row] = {weight * own.slope, weight * own.curve / scale()};
    }
  }
  void end_iteration(const RawPredictions& raw, std::span<const uint32_t> training,
                     std::span<const uint32_t> validation, Team&) override {
    fit_scale(raw, training);
    for (const auto rows : {training, validation})
      for (const uint32_t row : rows) {
        const double of_event =
            target_.event[row] ? log_scale_ + fixed_log(target_.values[row]) : 0;
        losses_[row] = of_event + terms(raw.output(0)[row], row).loss;
      }
  }

 private:
  static constexpr int kMaxSteps = 30;
  static constexpr double kLargestStep = 0.5, kSmallestStep = 1e-9, kLargestLogScale = 5.0;

  struct Terms {
    double loss, slope, curve;  // in units of the scale; the curve without the late entry
    double stretch, bend;       // first and second derivative by the logarithm of the scale
  };

  double scale() const { return fixed_exp(log_scale_); }

  Terms terms(double raw, size_t row) const {
    const double z = (fixed_log(target_.values[row]) + raw) / scale();
    const bool seen = target_.event[row] != 0;
    const auto [loss, slope, curve] = Kind::at(z, seen);
    Terms found{loss, slope, curve, (seen ? 1.0 : 0.0) - z * slope, z * slope + z * z * curve};
    if (entry(row) > 0.0) {
      const double from = (fixed_log(entry(row)) + raw) / scale();
      const auto [before, slope_before, curve_before] = Kind::at(from, false);
      found.loss -= before;
      found.slope -= slope_before;
      found.stretch += from * slope_before;
      found.bend -= from * slope_before + from * from * curve_before;
    }
    return found;
  }

  void fit_scale(const RawPredictions& raw, std::span<const uint32_t> rows) {
    log_scale_ = 0.0;
    for (int step = 0; step < kMaxSteps && improve_scale(raw, rows); ++step) continue;
  }

  // A Newton step of the logarithm of the scale; returns whether there is another one to do.
  bool improve_scale(const RawPredictions& raw, std::span<const uint32_t> rows) {
    poll_cancellation(rows.size() * 32);
    double stretch = 0.0, bend = 0.0;
    for (const uint32_t row : rows) {
      const Terms own = terms(raw.output(0)[row], row);
      stretch += target_.weight(row) * own.stretch;
      bend += target_.weight(row) * own.bend;
    }
    if (stretch == 0.0) return false;
    double step = -std::copysign(kLargestStep, stretch);
    if (bend > 0.0) step = std::clamp(-stretch / bend, -kLargestStep, kLargestStep);
    const double before = log_scale_;
    log_scale_ = std::clamp(log_scale_ + step, -kLargestLogScale, kLargestLogScale);
    return std::fabs(log_scale_ - before) > kSmallestStep;
  }

  double log_scale_ = 0.0;
};

struct AtValue {
  double loss, slope, curve;  // minus the log likelihood, and its derivatives
};

// Log-logistic times: the survival is 1 / (1 + exp(z)).
struct LogLogistic {
  static AtValue at(double z, bool seen) {
    const double tail = bounded_exp(-std::fabs(z));
    const double softplus = std::max(z, 0.0) + fixed_log(1.0 + tail);
    const double share = z > 0.0 ? 1.0 / (1.0 + tail) : tail / (1.0 + tail);
    const double curve = share * (1.0 - share);
    return seen ? AtValue{2.0 * softplus - z, 2.0 * share - 1.0, 2.0 * curve}
                : AtValue{softplus, share, curve};
  }
};

// Weibull times: the survival is exp(-exp(z)).
struct Weibull {
  static AtValue at(double z, bool seen) {
    const double hazard = bounded_exp(z);
    return seen ? AtValue{hazard - z, hazard - 1.0, hazard} : AtValue{hazard, hazard, hazard};
  }
};

}  // namespace

std::unique_ptr<Loss> make_cox_loss(const BoostingOptions& options, const BoostingTarget& target) {
  return make_loss_of<CoxLoss>(options, target);
}

std::unique_ptr<Loss> make_log_logistic_loss(const BoostingOptions& options,
                                             const BoostingTarget& target) {
  return make_loss_of<FailureTimeLoss<LogLogistic>>(options, target);
}

std::unique_ptr<Loss> make_weibull_loss(const BoostingOptions& options,
                                        const BoostingTarget& target) {
  return make_loss_of<FailureTimeLoss<Weibull>>(options, target);
}

}  // namespace bevel
