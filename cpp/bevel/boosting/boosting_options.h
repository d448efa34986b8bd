// The options of boosting, besides those of the trees' directions (options.h). Python has checked
// every value.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace bevel {

enum class LossKind : uint8_t {
  squared_error,
  log_loss,     // two classes
  multinomial,  // three classes and more: an output for each
  absolute_error,
  huber,
  quantile,
  poisson,  // of the logarithm
  gamma,
  user  // gradients come from a function of the caller
};
// As Python has them, in the order of the values.
constexpr std::array kLossNames{"squared_error",  "log_loss", "multinomial",
                                "absolute_error", "huber",    "quantile",
                                "poisson",        "gamma",    "user"};

struct BoostingOptions {
  LossKind loss = LossKind::squared_error;
  // quantile: levels by output; huber: the share of the residuals that count by their square
  std::vector<double> quantiles{0.5};
  int32_t n_outputs = 1;
  double learning_rate = 0.1;
  int64_t max_iter = 100;
  int64_t max_leaf_nodes = 31;  // 0: no limit
  int32_t max_depth = -1;       // -1: no limit
  int64_t min_samples_leaf = 20;
  double l2 = 0.0;
  double min_hessian = 1e-3;  // smallest hessian of each side of a split
  double subsample = 1.0;
  bool samples_by_gradient = false;  // otherwise uniformly
  int32_t max_bins = 255;
  int64_t n_iter_no_change = 0;  // 0: no early stopping
  double tol = 0.0;
  int64_t first_iter = 0;  // iterations grown before
};

}  // namespace bevel
