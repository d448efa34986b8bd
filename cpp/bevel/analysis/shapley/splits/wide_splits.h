// Sides of hybrid rows at splits of many features, of which some may be free: the range of the
// projected value over all choices of row or background.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Source of a feature's value.
enum class Source : uint8_t { background, row, free };

enum class Turn : uint8_t { left, right, undecided };

// A row, a background row, both without missing values, and the source of each feature of a tree.
struct Hybrids {
  const float *x, *z;
  const Source* source;
};

class WideSplits {
 public:
  explicit WideSplits(const ForestArrays& forest) : forest_(forest) {}

  void begin_tree(const GameTree& tree) {
    tree_ = &tree;
    reach_.assign(tree.features().size(), 0.0);
  }

  Turn turn(size_t node, const Hybrids& hybrids) const;
  // Adds the effect of each free feature on the projected value.
  void add_reach(size_t node, const Hybrids& hybrids);
  // The feature of the node with the largest effect, numbered as in the tree; clears the
  // effects.
  int32_t widest(size_t node);

 private:
  struct Interval {
    float low, high;
  };
  Interval term(int32_t feature, int32_t level, float weight, const Hybrids& hybrids) const;
  Interval axis(int32_t axis, const Hybrids& hybrids) const;
  void add_term(int32_t feature, int32_t level, double weight, const Hybrids& hybrids);

  const ForestArrays& forest_;
  const GameTree* tree_ = nullptr;
  std::vector<double> reach_;
};

}  // namespace bevel
