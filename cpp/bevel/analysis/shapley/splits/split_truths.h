// Sides of hybrid rows at splits of few features, for a row x and a background row z: bit T of a
// split's word says whether the hybrid goes left that has x's values on the split's features of the
// bits of T, and z's on its others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Bits T in which feature k of the split has x's value.
constexpr uint64_t kTakesRow[kMostTabulated] = {0xAAAAAAAAAAAAAAAAu, 0xCCCCCCCCCCCCCCCCu,
                                                0xF0F0F0F0F0F0F0F0u, 0xFF00FF00FF00FF00u,
                                                0xFFFF0000FFFF0000u, 0xFFFFFFFF00000000u};

// A pair of rows, as they are and without missing values.
struct RowPair {
  const float *x, *z, *filled_x, *filled_z;

  bool differs(int32_t feature) const {
    const float one = x[feature], other = z[feature];
    return one != other && (one == one || other == other);
  }
};

class SplitTruths {
 public:
  explicit SplitTruths(const ForestArrays& forest) : forest_(forest) {}

  void begin_tree(const GameTree& tree) {
    tree_ = &tree;
    made_for_.assign(tree.n_nodes(), 0);
    words_.resize(tree.n_nodes());
    pair_number_ = 0;
  }
  void begin_pair(const RowPair& pair) {
    pair_ = pair;
    ++pair_number_;
  }
  // Of a split of the kind `single` or `table`.
  uint64_t of(size_t node) {
    if (made_for_[node] != pair_number_) {
      made_for_[node] = pair_number_;
      words_[node] = make(node);
    }
    return words_[node];
  }

 private:
  uint64_t make(size_t node) const;
  uint64_t make_single(size_t at) const;

  const ForestArrays& forest_;
  const GameTree* tree_ = nullptr;
  RowPair pair_{};
  uint64_t pair_number_ = 0;
  std::vector<uint64_t> made_for_, words_;  // by node
};

}  // namespace bevel
