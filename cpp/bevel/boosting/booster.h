// Gradient boosting: each iteration grows a tree for every output on the gradients of the loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bevel/boosting/boosting_options.h"
#include "bevel/boosting/losses/loss.h"
#include "bevel/data/dataset_view.h"
#include "bevel/data/table_values.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/options.h"

namespace bevel {

enum class RowRole : uint8_t { training, validation };

struct BoostingSet {
  const DatasetView& data;
  BoostingTarget target;
  const uint8_t* roles = nullptr;      // RowRole by row; null: all training
  const double* baseline = nullptr;    // by output; null: that of the loss
  const double* raw_before = nullptr;  // predictions of earlier iterations, output after output
  // The numbers of the table, if they are not in data, which then has no values.
  std::optional<TableValues> table{};
  // Memory for the codes of features and of directions; empty: allocated here.
  std::span<uint8_t> feature_room{}, direction_room{};
};

struct BoostingResult {
  FlatForest forest;             // tree t belongs to output t % n_outputs
  std::vector<double> baseline;  // by output
  // Losses after each iteration; validation_loss may be empty, and is minus the score of a scorer.
  std::vector<double> training_loss, validation_loss;
  int64_t n_iter = 0;        // iterations that are kept
  bool interrupted = false;  // progress returned false; whole iterations are kept
};

// Called about twenty times a second on the caller's thread, with the latest validation loss or
// NaN; returns false to stop.
using BoostingProgress = std::function<bool(size_t iterations_done, double validation_loss)>;

// Throws Cancelled when it was stopped before the first iteration was done.
BoostingResult boost(const BoostingSet& set, const BoostingOptions& boosting,
                     const Options& options, int n_threads, const BoostingProgress& progress);

}  // namespace bevel
