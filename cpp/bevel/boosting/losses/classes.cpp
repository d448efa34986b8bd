// Log losses of classes, 0, 1, ... as numbers.
#include <algorithm>
#include <array>
#include <cmath>

#include "bevel/boosting/losses/loss.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/arithmetic/many_values.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

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
  share = std::clamp(share, kMinShare, 1.0 - kMinShare);
  return fixed_log(share) - fixed_log(1.0 - share);
}

// What they share: gradients of a tile of rows at a time.
class ClassLoss : public Loss {
 public:
  ClassLoss(const BoostingOptions& options, const BoostingTarget& target, size_t n_classes)
      : Loss(options, target), n_classes_(n_classes) {
    require_one_quantile();
  }

  void check_targets(size_t n_rows) const override {
    Loss::check_targets(n_rows);
    for (size_t row = 0; row < n_rows; ++row) {
      const double value = target_.values[row];
      require(value >= 0.0 && value < static_cast<double>(n_classes_) && value == std::floor(value),
              "[boost] class out of range");
    }
  }
  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const override {
    for (size_t first = 0; first < rows.size(); first += kLossTileRows)
      tile_gradients(raw, rows.subspan(first, std::min(kLossTileRows, rows.size() - first)), output,
                     out);
  }

 protected:
  virtual void tile_gradients(const RawPredictions& raw, std::span<const uint32_t> rows,
                              size_t output, std::vector<Gradient>& out) const = 0;

  std::vector<double> class_shares(std::span<const uint32_t> rows) const {
    double total = 0.0;
    std::vector<double> shares(n_classes_, 0.0);
    for (const uint32_t row : rows) {
      const double weight = target_.weight(row);
      total += weight;
      shares[static_cast<size_t>(target_.values[row])] += weight;
    }
    for (double& share : shares) share /= total;
    return shares;
  }

 private:
  const size_t n_classes_;
};

// Two classes: the raw prediction is the logit of class 1.
class LogLoss : public ClassLoss {
 public:
  LogLoss(const BoostingOptions& options, const BoostingTarget& target)
      : ClassLoss(options, target, 2) {
    require_one_output();
  }

  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    return {logit(class_shares(rows)[1])};
  }

 protected:
  void tile_gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                      std::vector<Gradient>& out) const override {
    std::array<double, kLossTileRows> probability{};
    logistics(raw.output(output), rows, probability.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      const double weight = target_.weight(rows[i]), share = probability[i];
      out[rows[i]] = {weight * (share - target_.values[rows[i]]), weight * (share * (1.0 - share))};
    }
  }
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
               double* out) const override {
    softpluses(raw.output(0), rows, out);
    for (size_t i = 0; i < rows.size(); ++i)
      out[i] -= target_.values[rows[i]] * raw.output(0)[rows[i]];
  }
};

// Three classes and more, with an output for each.
class MultinomialLoss : public ClassLoss {
 public:
  MultinomialLoss(const BoostingOptions& options, const BoostingTarget& target)
      : ClassLoss(options, target, static_cast<size_t>(options.n_outputs)) {}

  std::vector<double> baseline(std::span<const uint32_t> rows) const override {
    std::vector<double> result;
    double mean = 0.0;
    for (const double share : class_shares(rows)) {
      result.push_back(fixed_log(std::max(share, kMinShare)));
      mean += result.back() / static_cast<double>(n_outputs_);
    }
    for (double& value : result) value -= mean;
    return result;
  }
  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows,
                       Team& team) override {
    if (log_sums_.empty()) set_log_sums(raw, rows, team);
  }
  void end_iteration(const RawPredictions& raw, std::span<const uint32_t> training,
                     std::span<const uint32_t> validation, Team& team) override {
    set_log_sums(raw, training, team);
    set_log_sums(raw, validation, team);
  }

 protected:
  // A class against the others: the diagonal of the hessian, times K / (K - 1) so that two
  // classes are stepped alike (Friedman 2001, section 4.6).
  void tile_gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                      std::vector<Gradient>& out) const override {
    std::array<double, kLossTileRows> probability{};
    const double* own = raw.output(output);
    for (size_t i = 0; i < rows.size(); ++i) probability[i] = own[rows[i]] - log_sums_[rows[i]];
    exponentials(probability.data(), rows.size(), probability.data());
    const auto n = static_cast<double>(n_outputs_);
    for (size_t i = 0; i < rows.size(); ++i) {
      const double weight = target_.weight(rows[i]), share = probability[i];
      const bool is_class = static_cast<size_t>(target_.values[rows[i]]) == output;
      out[rows[i]] = {weight * (share - (is_class ? 1.0 : 0.0)),
                      weight * (share * (1.0 - share)) * (n / (n - 1.0))};
    }
  }
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
               double* out) const override {
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto label = static_cast<size_t>(target_.values[rows[i]]);
      out[i] = log_sums_[rows[i]] - raw.output(label)[rows[i]];
    }
  }

 private:
  void set_log_sums(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) {
    // Output after output for a block of rows at a time, so that memory is read in its order.
    log_sums_.resize(raw.n_rows);
    team.run_blocks(rows.size(), kLossBlockRows, [&](size_t first, size_t last) {
      poll_cancellation((last - first) * n_outputs_ * 16);
      set_log_sums_of_block(raw, rows.subspan(first, last - first));
    });
  }

  void set_log_sums_of_block(const RawPredictions& raw, std::span<const uint32_t> rows) {
    std::vector<double> largest(rows.size()), sum(rows.size(), 0.0), part(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) largest[i] = raw.output(0)[rows[i]];
    for (size_t k = 1; k < n_outputs_; ++k)
      for (size_t i = 0; i < rows.size(); ++i)
        largest[i] = std::max(largest[i], raw.output(k)[rows[i]]);
    for (size_t k = 0; k < n_outputs_; ++k) {
      for (size_t i = 0; i < rows.size(); ++i) part[i] = raw.output(k)[rows[i]] - largest[i];
      exponentials(part.data(), part.size(), part.data());
      for (size_t i = 0; i < rows.size(); ++i) sum[i] += part[i];
    }
    logarithms(sum.data(), sum.size(), sum.data());  // of numbers of at least 1
    for (size_t i = 0; i < rows.size(); ++i) log_sums_[rows[i]] = largest[i] + sum[i];
  }

  // By row, log of the sum of exponentials of the present predictions.
  std::vector<double> log_sums_;
};

}  // namespace

std::unique_ptr<Loss> make_log_loss(const BoostingOptions& options, const BoostingTarget& target) {
  return make_loss_of<LogLoss>(options, target);
}

std::unique_ptr<Loss> make_multinomial_loss(const BoostingOptions& options,
                                            const BoostingTarget& target) {
  return make_loss_of<MultinomialLoss>(options, target);
}

}  // namespace bevel
