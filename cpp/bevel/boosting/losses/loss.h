// Losses of boosting: gradients and hessians with respect to the raw predictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bevel/boosting/boosting_options.h"
#include "bevel/boosting/team.h"

namespace bevel {

// Raw predictions whose exponential is a mean are clamped to this size.
constexpr double kMaxExponent = 230.0;
// Largest value of a leaf: a fit that diverges stays finite, and files can hold it.
constexpr double kMaxStep = 1e60;

// Targets of the rows; arrays are by row of the data.
struct BoostingTarget {
  const double* values = nullptr;   // targets; classes 0, 1, ... as numbers
  const double* weights = nullptr;  // null: all 1
  // Rankings: the query of each row, below the number of rows.
  const uint32_t* groups = nullptr;
  // Survival: 1 where the event was seen; when rows entered, null: all at 0.
  const uint8_t* event = nullptr;
  const double* entry = nullptr;

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
  virtual void evaluate(const RawPredictions& raw, std::vector<Gradient>& gradients,
                        std::vector<double>& losses) const = 0;
};

// A user-defined score that decides when to stop.
class ScoreSource {
 public:
  virtual ~ScoreSource() = default;
  // Higher is better; raw: predictions of the validation rows, output after output.
  virtual double evaluate(std::vector<double> raw) const = 0;
};

// A loss, for the targets of a fit. Each is a class in a source of losses/; the table in
// losses/losses.cpp names them.
class Loss {
 public:
  // Throws if the options do not suit the loss.
  Loss(const BoostingOptions& options, const BoostingTarget& target)
      : options_(options), target_(target), n_outputs_(static_cast<size_t>(options.n_outputs)) {}
  virtual ~Loss() = default;

  // Throws if a target is none that the loss is defined for.
  virtual void check_targets(size_t n_rows) const;
  // The constant of each output that is best on these rows.
  virtual std::vector<double> baseline(std::span<const uint32_t> rows) const = 0;
  // Called before the trees of an iteration to compute common values.
  virtual void begin_iteration(const RawPredictions&, std::span<const uint32_t> /*rows*/, Team&) {}
  // Called after them, before the loss is measured.
  virtual void end_iteration(const RawPredictions&, std::span<const uint32_t> /*training*/,
                             std::span<const uint32_t> /*validation*/, Team&) {}
  // Gradients of rows and an output, times the row's weight; by row of the data.
  virtual void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                         std::vector<Gradient>& out) const = 0;
  // Mean over rows, summed in blocks that do not depend on the threads.
  virtual double mean(const RawPredictions& raw, std::span<const uint32_t> rows, Team& team) const;

  // Whether leaves take a value of leaf_value() instead of a Newton step.
  virtual bool renews_leaves() const { return false; }
  // The best constant to add to the predictions of these rows.
  // factors: of the rows' weights, by row of the data; empty: all 1.
  virtual double leaf_value(const RawPredictions&, std::span<const uint32_t> /*rows*/,
                            size_t /*output*/, std::span<const double> /*factors*/) const {
    return 0.0;
  }

 protected:
  // The loss of each row, without its weight; not more than kLossTileRows rows.
  virtual void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
                       double* out) const = 0;

  // Checks for the constructors of losses.
  void require_one_output() const;
  void require_one_quantile() const;

  double mean_target(std::span<const uint32_t> rows) const;

  const BoostingOptions& options_;
  const BoostingTarget target_;
  const size_t n_outputs_;
};

// A loss of one output that needs a row's target and prediction only. Kind has
// gradient(x, y, weight) and of_row(x, y).
template <class Kind>
class RowLoss : public Loss {
 public:
  RowLoss(const BoostingOptions& options, const BoostingTarget& target) : Loss(options, target) {
    require_one_output();
    require_one_quantile();
  }

  void gradients(const RawPredictions& raw, std::span<const uint32_t> rows, size_t output,
                 std::vector<Gradient>& out) const override {
    const double* x = raw.output(output);
    for (const uint32_t row : rows)
      out[row] = kind().gradient(x[row], target_.values[row], target_.weight(row));
  }

 protected:
  void of_rows(const RawPredictions& raw, std::span<const uint32_t> rows,
               double* out) const override {
    const double* x = raw.output(0);
    for (size_t i = 0; i < rows.size(); ++i)
      out[i] = kind().of_row(x[rows[i]], target_.values[rows[i]]);
  }

 private:
  const Kind& kind() const { return static_cast<const Kind&>(*this); }
};

constexpr size_t kLossBlockRows = 4096;
constexpr size_t kLossTileRows = 512;  // whose exponentials are taken together
constexpr double kMinShare = 1e-15;

// The smallest value such that values up to it have at least this share of the weight. Sorts the
// pairs of value and weight.
double weighted_quantile(std::vector<std::pair<double, double>>& values, double share);

// The loss that the options name; throws if there is none of this name. options must outlive it.
std::unique_ptr<Loss> make_loss(const BoostingOptions& options, const BoostingTarget& target);

// A maker of the table: the class and nothing else.
template <class Kind>
std::unique_ptr<Loss> make_loss_of(const BoostingOptions& options, const BoostingTarget& target) {
  return std::make_unique<Kind>(options, target);
}

}  // namespace bevel
