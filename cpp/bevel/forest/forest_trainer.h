// Runs independent trees on a pool of threads and freezes them into arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bevel/data/dataset_view.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/options.h"
#include "bevel/random/stream.h"

namespace bevel {

struct TrainingSet {
  const DatasetView& data;
  // With several outputs these are rows x outputs, and labels number the classes of all outputs
  // consecutively.
  const int32_t* labels = nullptr;  // classification: 0 .. n_classes - 1
  const double* targets = nullptr;  // regression
  int32_t n_classes = 0;            // 0: regression
  const double* weights = nullptr;  // null: all 1; rows of weight 0 are ignored
  // Survival: ranks, ascending (risk_sets.h), causes of events, ranks of entries, and the number
  // of each row in draw_bag().
  const uint32_t* times = nullptr;
  const uint8_t* events = nullptr;
  const uint32_t* entries = nullptr;  // null: all rows are seen from the start
  const uint32_t* bag_row = nullptr;
  int32_t n_times = 0;
  size_t n_causes = 1;
  // Several outputs: the number of classes of each, 0 in regression. Empty: one output.
  std::span<const int32_t> output_classes{};

  size_t n_outputs() const { return output_classes.empty() ? 1 : output_classes.size(); }
};

// A node whose subtree is grown: its rows are the training set.
struct SubtreeStart {
  uint64_t tree = 0;                      // number of the tree it belongs to
  NodeKey key = 0;                        // key of the node
  const int32_t* multiplicity = nullptr;  // how often each row is in the tree's bag, at least once
  double tree_weight = 0.0;               // weight of all rows of the tree; 0: these are all rows
  double gain_unit = 1.0;                 // stored gains per unit of gain
};

// Called about five times a second on the caller's thread; returns false to stop.
using Progress = std::function<bool(size_t trees_done)>;

// Grows the trees of these numbers, in their order, of the forest of options.seed. Throws
// Cancelled when progress returned false.
FlatForest train(const TrainingSet& training, const Options& options,
                 std::span<const uint64_t> trees, int n_threads, const Progress& progress);

// Grows the subtree below a node. options: those of the forest, max_depth counted from the node.
FlatForest grow_subtree(const TrainingSet& training, const Options& options,
                        const SubtreeStart& start, int n_threads);

}  // namespace bevel
