// Exact Shapley values of one tree, for a row x and a background row z.
//
// A coalition S stands for the hybrid row that has x's values on S and z's elsewhere. Walking down
// the tree with features still undecided, as many features of a split are decided as needed to
// send all hybrids to one side: a free feature that could change the side is decided both ways.
// A leaf is thus reached by a few boxes {S : A within S, B outside S}, and in the game of value v
// for the coalitions of a box
//
//   a feature of A gets  v (|A|-1)! |B|! / (|A|+|B|)!,   one of B  -v |A|! (|B|-1)! / (|A|+|B|)!,
//
// others nothing. Boxes are disjoint: where d features differ there are at most 2^d of them, and in
// a tree of single features not more than leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/credit.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

enum class Side : uint8_t {
  free,  // x and z differ, and it is not decided which of them is used
  row,   // x is used; also where both are alike
  background,
};

// Two rows that hybrids are made of, with an entry for each feature. Between `low` and `high` lie
// the values that a feature can still have where it is combined with others: missing ones count as
// medians, and decided ones have one value.
struct RowPair {
  const float* x;
  const float* z;
  Side* side;
  float *low, *high;
};

// Most features that may be decided on a path; beyond, factorials lose their meaning.
constexpr size_t kMostDecided = 256;

// Weights of a box, by |A| and |B|: computed once for all threads.
class BoxWeights {
 public:
  explicit BoxWeights(size_t n_features);
  // (a-1)! b! / (a+b)!, for a >= 1.
  double of_row(size_t a, size_t b) const { return table_[a * width_ + b]; }
  double of_background(size_t a, size_t b) const { return table_[b * width_ + a]; }
  size_t most() const { return width_ - 1; }

 private:
  size_t width_;
  std::vector<double> table_;
};

class ShapleyBoxes {
 public:
  ShapleyBoxes(const ForestArrays& forest, const LeafOutput& leaf_output, const BoxWeights& weights)
      : forest_(forest), leaf_output_(leaf_output), weights_(weights) {}

  // Adds the values of a tree's features; false, with some of them added, if there are more boxes
  // than allowed. Leaves the pair as it was.
  bool add(size_t tree, const RowPair& pair, size_t most_boxes, Credit& credit);

 private:
  struct Turn {
    int32_t feature;  // to be decided first; -1: all hybrids go one way
    bool left;
  };
  struct Interval {
    float low, high;
  };
  struct Widest {
    int32_t feature = -1;
    float gap = 0.0f;
  };

  bool visit(size_t node);
  bool decide(int32_t feature, size_t node);
  bool add_leaf(size_t leaf);
  Turn turn(size_t node) const;
  Turn turn_of_one(size_t node, int32_t feature) const;
  Turn turn_of_many(size_t node) const;
  bool try_side(Side side, int32_t feature, size_t node);
  Interval values_of_axis(int32_t axis, float scale, Widest& widest) const;
  Interval term(int32_t feature, float weight, float scale, Widest& widest) const;

  const ForestArrays& forest_;
  const LeafOutput& leaf_output_;
  const BoxWeights& weights_;

  size_t tree_ = 0;
  RowPair pair_{};
  Credit* credit_ = nullptr;
  size_t boxes_left_ = 0;
  size_t n_of_row_ = 0;           // |A|
  std::vector<int32_t> decided_;  // A and B
};

}  // namespace bevel
