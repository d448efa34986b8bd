// The options of boosting, besides those of the trees' directions (options.h). Python has checked
// every value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bevel {

class LossSource;
class ScoreSource;

struct BoostingOptions {
  std::string loss = "squared_error";  // a name of losses/losses.cpp
  // quantile: levels by output; huber: the share of the residuals that count by their square
  std::vector<double> quantiles{0.5};
  int32_t n_outputs = 1;
  double learning_rate = 0.1;
  int64_t max_iter = 100;
  bool symmetric = false;       // all nodes of a level are split alike
  bool shares_trees = false;    // one tree for all outputs
  int64_t max_leaf_nodes = 31;  // 0: no limit
  int32_t max_depth = -1;       // -1: no limit
  int64_t min_samples_leaf = 20;
  double l2 = 0.0;
  bool linear_leaves = false;  // linear models in leaves
  double min_hessian = 1e-3;   // smallest hessian of each side of a split
  double subsample = 1.0;
  bool samples_by_gradient = false;  // otherwise uniformly
  int32_t max_bins = 255;
  int64_t n_iter_no_change = 0;  // 0: no early stopping
  double tol = 0.0;
  int64_t eval_at = 10;                         // rankings: places that the loss is measured at
  int64_t first_iter = 0;                       // iterations grown before
  std::shared_ptr<const LossSource> user_loss;  // of the loss "user"
  std::shared_ptr<const ScoreSource> scorer;    // null: the loss decides when to stop
};

}  // namespace bevel
