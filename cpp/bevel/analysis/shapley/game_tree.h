// One tree in the form for Shapley values: the features that each split reads, and the
// predictions of its leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/predict/forest_arrays.h"

namespace bevel {

// Kind of a split, which determines how the side of a hybrid row is found.
enum class SplitKind : uint8_t {
  leaf,
  single,  // of one feature
  table,   // of a few features: sides for all choices of row or background are tabulated
  wide,    // of many features, of several levels of one, or of a tree's axes
};

constexpr size_t kMaxTabulated = 6;  // features of a split that has a table

struct GameSplit {
  // A feature, counted as in the tree and as in the forest, with its weight, or a level of it.
  struct Term {
    int32_t feature, of_forest;
    float weight;
    int32_t level;  // -1: none

    float of(const float* row) const {
      return weight * value_of_entry(row, static_cast<size_t>(of_forest), level);
    }
  };

  SplitKind kind = SplitKind::leaf;
  uint8_t n_features = 0;  // of a single or a table
  bool is_category = false, missing_left = false;
  int32_t right = -1;  // child; the left one is the next node
  float threshold = 0.0f;
  uint32_t first_value = 0;              // of a leaf
  uint32_t first_term = 0, n_terms = 0;  // of a leaf's model
  Term terms[kMaxTabulated] = {};        // of a single or a table
};

class GameTree {
 public:
  // Leaves have values for `n_columns`, at least those of `leaf_output`; the rest are 0.
  GameTree(const ForestArrays& forest, const LeafOutput& leaf_output, size_t n_columns)
      : forest_(forest),
        leaf_output_(leaf_output),
        n_columns_(n_columns),
        local_(static_cast<size_t>(forest.n_features), -1) {}

  void read(size_t tree);

  size_t number() const { return tree_; }
  size_t n_columns() const { return n_columns_; }
  bool is_axis_aligned() const { return is_axis_aligned_; }
  size_t n_nodes() const { return splits_.size(); }
  const GameSplit& split(size_t node) const { return splits_[node]; }
  // Number of a node in the whole forest.
  size_t node_in_forest(size_t node) const { return offset_ + node; }
  // Features that the splits and the models of leaves read; elsewhere they are numbered by their
  // position here.
  const std::vector<int32_t>& features() const { return features_; }
  const double* values_of(const GameSplit& leaf) const { return &leaf_values_[leaf.first_value]; }
  // Terms of the model of a leaf; features are those of the forest.
  std::span<const LeafTerm> terms_of(const GameSplit& leaf) const {
    return {leaf_terms_.data() + leaf.first_term, leaf.n_terms};
  }
  // Position of a feature of the forest.
  int32_t local(int32_t feature) const { return local_[static_cast<size_t>(feature)]; }

  // Calls visit(feature of the forest) for each feature that a split reads, possibly repeatedly.
  template <class Visit>
  void each_feature(size_t node, Visit visit) const {
    const size_t at = offset_ + node;
    for (int64_t e = forest_.entry_offset[at]; e < forest_.entry_offset[at + 1]; ++e) {
      const int32_t index = forest_.entry_index[e];
      if (index < forest_.n_features) {
        visit(index);
        continue;
      }
      const auto axis =
          static_cast<size_t>(forest_.rotation_offset[tree_] + index - forest_.n_features);
      for (int64_t r = forest_.rotation_entry_offset[axis];
           r < forest_.rotation_entry_offset[axis + 1]; ++r)
        visit(forest_.rotation_index[r]);
    }
  }

 private:
  void add_leaf(size_t node);
  void add_split(size_t node);
  void add_feature(int32_t feature);

  const ForestArrays& forest_;
  const LeafOutput& leaf_output_;
  size_t n_columns_, tree_ = 0, offset_ = 0;
  bool is_axis_aligned_ = true;
  std::vector<int32_t> local_;  // by feature of the forest; -1: not read
  std::vector<int32_t> features_;
  std::vector<GameSplit> splits_;
  std::vector<double> leaf_values_;  // leaves x columns
  std::vector<LeafTerm> leaf_terms_;
};

}  // namespace bevel
