// Runs independent trees on a pool of threads and freezes them into arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bevel/data/dataset_view.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/options.h"

namespace bevel {

struct TrainingSet {
  const DatasetView& data;
  const int32_t* labels = nullptr;  // classification: 0 .. n_classes - 1
  const double* targets = nullptr;  // regression
  int32_t n_classes = 0;            // 0: regression
  const double* weights = nullptr;  // null: all 1; rows of weight 0 take no part
  // Survival: ranks, ascending (risk_sets.h), events, and the number that draw_bag() knows each row
  // by.
  const uint32_t* times = nullptr;
  const uint8_t* events = nullptr;
  const uint32_t* bag_row = nullptr;
  int32_t n_times = 0;
};

// Called about five times a second on the caller's thread; returns false to stop.
using Progress = std::function<bool(size_t trees_done)>;

// The trees of these numbers, in their order, of the forest that options.seed names. Throws
// Cancelled when progress returned false.
FlatForest train(const TrainingSet& training, const Options& options,
                 std::span<const uint64_t> trees, int n_threads, const Progress& progress);

}  // namespace bevel
