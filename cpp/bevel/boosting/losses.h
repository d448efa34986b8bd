// Losses of boosting: gradients and hessians with respect to the raw predictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/boosting_options.h"
#include "bevel/boosting/team.h"

namespace bevel {

// Raw predictions whose exponential is a mean are clamped to this size.
constexpr double kMostExponent = 230.0;
// Largest value of a leaf: a fit that diverges stays finite, and files can hold it.
constexpr double kLargestStep = 1e60;

// Targets of the rows; arrays are by row of the data.
struct BoostingTarget {
  const double* values = nullptr;   // targets; classes 0, 1, ... as numbers
  const double* weights = nullptr;  // null: all 1

  double weight(size_t row) const { return weights ? weights[row] : 1.0; }
};

// Raw predictions of all rows, output after output.
struct RawPredictions {
  std::vector<double> values;
  size_t n_rows = 0;

  double* output(size_t k) { return values.data() + k * n_rows; }
  const double* output(size_t k) const { return values.data() + k * n_rows; }
};

struct Gradient {
  double gradient, hessian;
};

// A user-defined loss. Arrays are by row, without weights.
class LossSource {
 public:
  virtual ~LossSource() = default;
  // Gradients and hessians of all rows, output after output as `raw`; losses of the rows, which may
  // be NaN if they are not known.
  virtual void evaluate(std::span<const double> raw, std::vector<Gradient>& gradients,
                        std::vector<double>& losses) const = 0;
};

// A user-defined score that decides when to stop.
class ScoreSource {
 public:
  virtual ~ScoreSource() = default;
  // Higher is better; raw: predictions of the validation rows, output after output.
  virtual double evaluate(std::vector<double> raw) const = 0;
};

class Loss {
 public:
  Loss(const BoostingOptions& options, BoostingTarget target, const LossSource* source = nullptr)
      : options_(options), target_(target), source_(source) {}

  // The constant of each output that is best on these rows.
  std::vector<double> baseline(std::span<const uint32_t> rows) const;
  // Called before the trees of an iteration to compute common values.
  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team);
  // Called after them, before the loss is measured.
  void end_iteration(const RawPredictions& raw, std::span<const uint32_t> training,
                     std::span<const uint32_t> validation, Team& team);
  // Gradients of rows and an output, times the row's weight; by row of the data.
  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const;
  // Mean over rows, summed in blocks that do not depend on the threads.
  double mean(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) const;
  // Whether leaves take a quantile of the residuals instead of a Newton step.
  bool renews_leaves() const {
    return options_.loss == LossKind::absolute_error || options_.loss == LossKind::quantile ||
           options_.loss == LossKind::huber;
  }
  // The best constant to add to the predictions of these rows, for losses that renew leaves.
  // factors: of the rows' weights, by row of the data; empty: all 1.
  double leaf_value(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                    std::span<const double> factors) const;

 private:
  void evaluate(const RawPredictions& raw);
  void set_log_sums(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team);
  void set_log_sums_of_block(const RawPredictions& raw, std::span<const uint32_t> rows);
  // The quantile that an output predicts, for losses that renew leaves.
  double share(size_t output) const {
    return options_.loss == LossKind::quantile ? options_.quantiles[output] : 0.5;
  }
  Gradient gradient(const RawPredictions& raw, size_t row, size_t output) const;
  void class_gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                       std::vector<Gradient>& out) const;
  double of_row(const RawPredictions& raw, size_t row) const;
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows, double* out) const;

  const BoostingOptions& options_;
  const BoostingTarget target_;
  const LossSource* source_;
  std::vector<Gradient>
      gradients_;  // user: by row, output after output, at the present predictions
  std::vector<double> losses_;
  // multinomial: by row, log of the sum of exponentials of the present predictions
  std::vector<double> log_sums_;
  // huber: residuals beyond delta count linearly; that of the first iteration measures the loss,
  // so that losses of all iterations are comparable.
  double delta_ = 0.0, first_delta_ = -1.0;
};

}  // namespace bevel
