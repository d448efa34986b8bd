// The reference predictor's walk over columns of a file that were not checked before: each number
// is checked when it is used, so that only the pages a row passes are touched. A damaged file gives
// a FileFault or some prediction, never invalid reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/file/column.h"
#include "bevel/forest/forest_fields.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

// The arrays of a flat forest as columns; see src/bevel/files/trees.py. Those that only
// analysis needs may be null.
struct ForestColumns {
#define BEVEL_COLUMN(type, name, per, kind, use) const Column* name = nullptr;
  BEVEL_FOREST_COLUMNS(BEVEL_COLUMN)
#undef BEVEL_COLUMN
};

class MappedForest {
 public:
  // Checks the lengths of all columns and where trees begin, at a cost that does not depend on the
  // number of nodes. Columns, levels and medians must outlive the forest.
  MappedForest(const ForestColumns& columns, int32_t n_features, int32_t n_classes,
               std::span<const int32_t> levels, std::span<const float> medians);

  size_t n_trees() const { return tree_offset_.size() - 1; }
  int32_t n_features() const { return n_features_; }
  int32_t n_classes() const { return n_classes_; }
  size_t n_outputs() const { return output_classes_.size(); }  // 0: one output

  // As the functions of these names of the reference predictor.
  void apply(const RowMatrix& rows, int n_threads, int32_t* out) const;
  void predict_proba(const RowMatrix& rows, int n_threads, bool hard, double* out) const;
  void predict_value(const RowMatrix& rows, int n_threads, double* out) const;

 private:
  // Entries [first, last) of a node or an axis.
  struct Range {
    size_t first, last;
    size_t size() const { return last - first; }
  };
  struct Row {
    const float* values;
    size_t stride;
    float operator[](size_t feature) const { return values[feature * stride]; }
  };
  // The leaf of a row; nodes and leaves are numbered over the forest.
  struct Leaf {
    size_t node;
    Range entries;
    size_t number;
  };

  void check_lengths() const;
  void read_tree_offset();
  void read_outputs();
  Leaf leaf_of(size_t tree, const Row& row) const;
  bool goes_left(size_t tree, size_t node, const Range& entries, const Row& row) const;
  bool level_goes_left(size_t node, size_t entry, bool unseen, const Row& row) const;
  float projected(size_t tree, const Range& entries, const Row& row) const;
  float rotated(size_t tree, int64_t axis, const Row& row) const;
  void add_shares(const Leaf& leaf, bool hard, double* sums) const;
  void add_shares_of(const Range& entries, size_t low, size_t high, bool hard, double* sums) const;
  void add_values(const Leaf& leaf, double* sums) const;
  size_t class_of(size_t entry, size_t low, size_t high) const;
  float share_of(size_t entry) const;
  double value_of(const Leaf& leaf, const Row& row) const;
  LeafTerm leaf_term(size_t entry) const;
  // Calls add(row, leaf) for all rows and trees, trees in order for each row, then finish(row).
  template <class Add, class Finish>
  void over_leaves(const RowMatrix& rows, int n_threads, Add add, Finish finish) const;

  ForestColumns columns_;
  int32_t n_features_, n_classes_;
  std::span<const int32_t> levels_;
  std::span<const float> medians_;
  std::vector<size_t> tree_offset_;
  std::vector<size_t> output_classes_;  // of each of several outputs, 0 in regression
};

}  // namespace bevel
