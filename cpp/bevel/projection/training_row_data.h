// Data of the rows of a tree besides their features, read by families that learn from the data
// and by the leaves of regression trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bevel {

// Arrays are by row of the data; a null array of weights or multiplicities is all ones.
struct TrainingRowData {
  uint64_t tree = 0;  // its number
  // The next two have a column for each of several outputs, rows x outputs.
  const int32_t* labels = nullptr;            // classification: 0 .. n_classes - 1
  const double* targets = nullptr;            // regression
  int32_t n_classes = 0;                      // 0: regression
  const uint32_t* times = nullptr;            // survival: ranks, ascending (risk_sets.h)
  const uint8_t* events = nullptr;            // survival: causes
  const uint32_t* entries = nullptr;          // survival: ranks; null: seen from the start
  int32_t n_times = 0;                        // survival: event times of the data
  const double* weights = nullptr;            // given with the rows
  const double* balance = nullptr;            // what balances the classes of the tree's bag
  const int32_t* multiplicity = nullptr;      // in the tree's bag
  std::span<const int32_t> output_classes{};  // of several outputs

  size_t n_outputs() const { return output_classes.empty() ? 1 : output_classes.size(); }
  int32_t label(size_t row, size_t output) const { return labels[row * n_outputs() + output]; }
  double target(size_t row, size_t output) const { return targets[row * n_outputs() + output]; }

  int32_t times_drawn(size_t row) const { return multiplicity ? multiplicity[row] : 1; }
  // Weight of a row that is not in the bag.
  double weight_outside(size_t row) const {
    const double weight = weights ? weights[row] : 1.0;
    return balance ? weight * balance[row] : weight;
  }
  // Weight of all draws of a row together.
  double weight(size_t row) const {
    const double weight = times_drawn(row) * (weights ? weights[row] : 1.0);
    return balance ? weight * balance[row] : weight;
  }
};

}  // namespace bevel
