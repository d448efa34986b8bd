// The splits of a tree that a row x and a background row z meet: those at which some of their
// hybrids part. Splits that send all hybrids to one side are skipped, and a split is read when it
// is first met.
//
// For a split of few features, bit T of a word says whether the hybrid goes left that has x's
// values on the split's features of the bits of T, and z's on its others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/splits/wide_splits.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Choices T in which feature k of the split has x's value.
constexpr uint64_t kTakesRow[kMaxTabulated] = {0xAAAAAAAAAAAAAAAAu, 0xCCCCCCCCCCCCCCCCu,
                                               0xF0F0F0F0F0F0F0F0u, 0xFF00FF00FF00FF00u,
                                               0xFFFF0000FFFF0000u, 0xFFFFFFFF00000000u};
// All choices, by number of features.
constexpr uint64_t kChoices[kMaxTabulated + 1] = {0x1,    0x3,        0xF,         0xFF,
                                                  0xFFFF, 0xFFFFFFFF, ~uint64_t{0}};

// A pair of rows, original and without missing values.
struct RowPair {
  const float *x, *z, *filled_x, *filled_z;

  bool differs(int32_t feature) const {
    const float one = x[feature], other = z[feature];
    return one != other && (one == one || other == other);
  }
};

// A split met by a pair: an index in PairSplits, or ~node of a leaf.
using Met = int32_t;

struct PairSplit {
  // Bits that go left, and all bits. Features on which the side does not depend have z's value.
  uint64_t left = 0, choices = 0;
  Met child[2];  // left and right
  int32_t node;
  uint8_t n_features = 0;          // on which the side depends; 0: a wide split
  uint8_t place[kMaxTabulated];    // of these, among the features of the split
  int32_t feature[kMaxTabulated];  // the same, counted as in the tree
};

class PairSplits {
 public:
  explicit PairSplits(const ForestArrays& forest) : forest_(forest), wide_(forest) {}

  void begin_tree(const GameTree& tree);
  // The first split that the pair meets.
  Met begin_pair(const RowPair& pair) {
    pair_ = pair;
    n_met_ = 0;
    return meet(0);
  }
  const PairSplit& operator[](Met met) const { return met_[static_cast<size_t>(met)]; }
  Met child(Met met, size_t side) {
    PairSplit& split = met_[static_cast<size_t>(met)];
    if (split.child[side] == kUnknown)
      split.child[side] = meet(side == 0 ? split.node + 1 : tree_->split(split.node).right);
    return split.child[side];
  }
  WideSplits& wide() { return wide_; }
  Hybrids hybrids(const Source* source) const { return {pair_.filled_x, pair_.filled_z, source}; }

 private:
  static constexpr Met kUnknown = INT32_MIN;

  Met meet(int32_t node);
  Turn read(int32_t node, PairSplit& split) const;
  Turn read_single(int32_t node, PairSplit& split) const;
  template <size_t kSize>
  Turn read_table(const GameSplit& of_tree, PairSplit& split) const;

  const ForestArrays& forest_;
  const GameTree* tree_ = nullptr;
  WideSplits wide_;
  RowPair pair_{};
  std::vector<Source> all_free_;
  std::vector<PairSplit> met_;  // as many as nodes; the first n_met_ are read
  size_t n_met_ = 0;
};

}  // namespace bevel
