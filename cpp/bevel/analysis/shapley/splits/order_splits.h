// Sides of the hybrids that an order of features makes of a row z on its way to a row x: bit k of a
// word stands for the hybrid that has x's values on the first k features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/splits/pair_splits.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

constexpr size_t kMaxSteps = 63;  // features of an order whose hybrids have a bit

class OrderSplits {
 public:
  explicit OrderSplits(const ForestArrays& forest)
      : forest_(forest),
        position_(static_cast<size_t>(forest.n_features), 0),
        hybrid_(static_cast<size_t>(forest.n_features)) {}

  void begin_tree(const GameTree& tree);
  // `base` is the first hybrid, without and with medians in place of missing values; x is the
  // last. They must last until the next begin.
  void begin_base(const float* base, const float* filled_base, const RowPair& pair);
  // At most kMaxSteps features of the forest, in which base and x differ.
  void begin_order(const int32_t* order, size_t n_steps);

  // Hybrids that go left at a split, among those wanted.
  uint64_t left(size_t node, uint64_t wanted);

 private:
  // A direction of one split, or of several splits on the same axis.
  struct Direction {
    size_t first = 0, last = 0;  // of its terms
    uint64_t base_number = 0, order_number = 0;
    double base = 0.0, slack = 0.0;  // projected value of the base; how far rounding may move one
    double values[kMaxSteps + 1];    // of the hybrids
  };
  struct Term {
    int32_t feature, level;  // of the forest; -1: no level
    double weight;
  };

  size_t direction_of_axis(int32_t axis);
  size_t direction_of_split(size_t at);
  void add_terms(int32_t index, int32_t level, double weight);
  void read_base(Direction& direction) const;
  void read_order(Direction& direction) const;
  uint64_t left_of_single(const GameSplit& split, size_t at) const;
  bool exact_side(size_t at, size_t step);

  const ForestArrays& forest_;
  const GameTree* tree_ = nullptr;
  const float *base_ = nullptr, *filled_base_ = nullptr;
  RowPair pair_{};
  const int32_t* order_ = nullptr;
  size_t n_steps_ = 0;
  uint64_t base_number_ = 0, order_number_ = 0;
  std::vector<uint8_t> position_;  // by feature of the forest: its step, from 1; 0: none
  std::vector<int32_t> positioned_;
  std::vector<int32_t> of_node_, of_axis_;  // directions; -1: not made
  std::vector<Direction> directions_;
  std::vector<Term> terms_;
  std::vector<float> hybrid_;
};

}  // namespace bevel
