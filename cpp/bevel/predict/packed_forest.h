// A forest laid out for walking: splits only, small and with both children in them; leaves are what
// children refer to. Derived from the flat forest and never saved.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/tree_axes_product.h"
#include "bevel/predict/tree_range.h"
#include "bevel/support/huge_pages.h"

namespace bevel {

// A child: a split of the forest by its number, to which kRare is added where the common step does
// not pass it; or the complement of a leaf's number.
using Child = int32_t;
constexpr Child kRare = 1 << 30;

constexpr bool is_rare(Child split) { return split >= kRare; }
constexpr size_t number_of(Child split) { return static_cast<size_t>(split & (kRare - 1)); }

// A row as nodes read it: the features, the level terms that directions combine, a zero for unused
// slots, the axes of the tree, and then, where nodes add and subtract, the negatives of them all,
// which are faster to read than to compute.
struct RowLayout {
  int32_t n_columns = 0;   // features of the table
  int32_t n_features = 0;  // these and level terms
  int32_t n_axes = 0;      // largest number of axes of a tree
  bool has_negatives = false;

  int32_t zero() const { return n_features; }
  int32_t axis(int32_t a) const { return n_features + 1 + a; }
  int32_t n_positive() const { return n_features + 1 + n_axes; }
  int32_t negative(int32_t place) const { return place + n_positive(); }
  int32_t width() const { return n_positive() * (has_negatives ? 2 : 1); }
};

// A split on one value of the row.
struct AxisNode {
  static constexpr uint32_t kGeneral = 1u << 31;
  float threshold;
  uint32_t place;  // index in the row, or kGeneral and the number of a general split
  Child child[2];  // left, right
};

// The size of a node whose first two indices are the number of a general split.
constexpr uint16_t kGeneralSize = 0xffff;

// A split on a sum of at most kMax values of the row; subtraction adds the negative value.
struct SignsNode {
  static constexpr int kMax = 9, kAlways = 6;  // the first kAlways are always read; more are rare
  float threshold;
  Child child[2];
  uint16_t size;  // number of values, or kGeneralSize
  uint16_t place[kMax];
};

// A split on at most kMax weighted values of the row.
struct WeightsNode {
  static constexpr int kMax = 3;
  float threshold;
  Child child[2];
  uint16_t size;
  uint16_t place[kMax];
  float weight[kMax];
};

static_assert(sizeof(AxisNode) == 16 && sizeof(SignsNode) == 32 && sizeof(WeightsNode) == 32);

// A split that fits no small node: a long or weighted direction, or a set of levels.
struct GeneralSplit {
  bool is_category;
  int32_t feature;  // category
  int32_t levels;   // category
  uint32_t first;   // entry, or word of the set of levels
  int32_t n;        // entries
};

// Trees whose nodes on a level all have the same split, on a sum of weighted values of the row.
struct SymmetricTrees {
  struct Level {
    float threshold;
    int32_t n_terms;
    uint32_t first_term;
  };
  struct Tree {
    uint32_t first_level;
    uint32_t depth;       // kNone: the tree is not symmetric
    uint32_t first_leaf;  // of 2^depth, from left to right
  };
  static constexpr uint32_t kNone = ~0u;

  std::vector<Tree> tree;  // by tree; empty if none is symmetric
  std::vector<Level> level;
  std::vector<int32_t> feature;  // by term
  std::vector<float> weight;

  bool has(size_t t) const { return !tree.empty() && tree[t].depth != kNone; }
};

// How a block of rows passes the first levels of a tree, and symmetric trees
// (predict/top_levels/kernel.h). The first writes the end that each row reaches, for whole groups;
// the second adds values of leaves, tree t to output t % n_outputs.
struct TopLevels;
struct GroupedRows;
struct TopLevelKernels {
  void (*pass)(const TopLevels& top_levels, const GroupedRows& rows, Child* out);
  void (*add_symmetric)(const SymmetricTrees& trees, TreeRange range, const double* leaf_value,
                        const GroupedRows& rows, size_t n_rows, size_t n_outputs, double* sums);
};

struct PackedForest {
  // The values of several outputs are not copied: the forest must outlive this object. simd: the
  // instruction set, "auto" for the best available; predictions do not depend on it.
  explicit PackedForest(const ForestArrays& forest, const std::string& simd = "auto");

  int32_t n_classes = 0;  // 0: regression
  RowLayout layout;
  // Rows whose values are at most this in size have finite sums at every split.
  float largest_safe = 0.0f;
  std::vector<float> medians;  // by index in the row; NaN for axes, which are never missing
  std::variant<HugeVector<AxisNode>, HugeVector<SignsNode>, HugeVector<WeightsNode>> nodes;
  std::vector<LevelTerm> level_terms;  // in the order of features, levels and places
  std::vector<uint8_t> missing_left;   // by split: side of missing values and unseen levels
  std::vector<Child> roots;
  std::vector<size_t> first_split;    // by tree, and one more: where its splits begin
  std::vector<TreeAxesProduct> axes;  // by tree; empty without axes
  SymmetricTrees symmetric;           // of a regression with one value for each leaf
  // By tree, of such a regression: whether it has the splits of the tree before it, as trees of
  // several outputs may have; empty if none has.
  std::vector<uint8_t> repeats;
  TopLevelKernels kernels;

  std::vector<GeneralSplit> general;
  std::vector<int32_t> general_place;
  std::vector<float> general_weight;
  std::vector<uint32_t> bits;

  // Leaves. Classification: leaf k < n_classes is pure of class k, the others have shares.
  std::vector<uint32_t> share_offset;  // offset of leaf n_classes + i
  std::vector<int32_t> share_class;
  std::vector<float> share;
  std::vector<int32_t> vote;       // vote of leaf n_classes + i, one for each output
  std::vector<double> leaf_value;  // regression
  // Terms of the linear models of leaves, and where those of each leaf begin; empty without models.
  std::vector<LeafTerm> leaf_terms;
  std::vector<uint32_t> leaf_terms_offset;
  size_t n_outputs = 0;  // 0: one
  // Regression with several outputs: those of leaf i begin at i * n_outputs. The forest's own.
  std::span<const double> output_value;

  size_t n_trees() const { return roots.size(); }
  bool is_repeated(size_t tree) const { return !repeats.empty() && repeats[tree]; }
  // The distance of the leaves of a tree from those of the tree before it.
  int32_t leaves_before(size_t tree) const {
    return static_cast<int32_t>(first_split[tree] - first_split[tree - 1] + 1);
  }
  // Writes the level terms of a row that has its features.
  void write_levels(float* row) const { write_levels(0, level_terms.size(), row); }
  // Writes those of one feature.
  void write_levels_of(int32_t feature, float* row) const {
    const auto first =
        std::partition_point(level_terms.begin(), level_terms.end(),
                             [feature](const LevelTerm& term) { return term.feature < feature; });
    const auto last =
        std::partition_point(first, level_terms.end(),
                             [feature](const LevelTerm& term) { return term.feature == feature; });
    write_levels(static_cast<size_t>(first - level_terms.begin()),
                 static_cast<size_t>(last - level_terms.begin()), row);
  }
  // The feature of the table that a place before the zero depends on.
  int32_t feature_at(int32_t place) const {
    return place < layout.n_columns
               ? place
               : level_terms[static_cast<size_t>(place - layout.n_columns)].feature;
  }
  // Class with the largest share in a leaf.
  int32_t vote_of(int32_t leaf) const {
    return leaf < n_classes ? leaf : vote[static_cast<size_t>(leaf - n_classes)];
  }
  // The value of a leaf on a row, in regression with one output.
  double value_of(int32_t leaf, const float* row) const {
    return value_of(leaf, [row](size_t feature) { return row[feature]; });
  }
  // The value of a leaf on a row whose features `read` gives by their number.
  template <class Read>
    requires std::invocable<Read, size_t>
  double value_of(int32_t leaf, Read read) const {
    const auto i = static_cast<size_t>(leaf);
    double value = leaf_value[i];
    if (leaf_terms.empty()) return value;
    for (uint32_t t = leaf_terms_offset[i]; t < leaf_terms_offset[i + 1]; ++t) {
      const auto feature = static_cast<size_t>(leaf_terms[t].feature);
      value += leaf_terms[t].value(read(feature), medians[feature]);
    }
    return value;
  }
  size_t nbytes() const;

 private:
  void write_levels(size_t first, size_t last, float* row) const {
    for (size_t t = first; t < last; ++t) {
      const LevelTerm& term = level_terms[t];
      const float value = row[term.feature] == static_cast<float>(term.level) ? 1.0f : 0.0f;
      const int32_t place = layout.n_columns + static_cast<int32_t>(t);
      row[place] = value;
      if (layout.has_negatives) row[layout.negative(place)] = -value;
    }
  }
};

}  // namespace bevel
