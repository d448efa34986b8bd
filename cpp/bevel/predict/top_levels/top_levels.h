// The top levels of a tree, which nearly every row passes. A block of rows passes them side by
// side, a lane for each row: all splits of the top levels are evaluated for all rows
// without a branch, and each row's path is chosen from the bottom up. That costs less than
// walking through these levels one row at a time; the walk begins below.
#pragma once

#include <cstddef>
#include <vector>

#include "bevel/predict/row_source.h"
#include "bevel/predict/top_levels/kernel.h"

namespace bevel {

// A block of rows in the layout for the top levels of trees; kept from one block to the next.
class TopLevelRows {
 public:
  // Whether the layout saves time: making it costs as much as the walks down some trees.
  static bool saves_time(const PackedForest& forest);

  // Takes the rows of a block, or none where there are missing values or few rows.
  void read(const PackedForest& forest, const RowBlock& block);
  bool empty() const { return n_groups_ == 0; }

  // For each row, the node from which its walk continues.
  const Child* pass(const PackedForest& forest, size_t tree);
  // Adds the values of symmetric trees to the sums of all rows, tree t to output t % n_outputs.
  void add_symmetric(const PackedForest& forest, TreeRange trees, size_t n_outputs,
                     double* sums) const;

 private:
  GroupedRows grouped(const PackedForest& forest) const {
    return {values_.data(), n_groups_, static_cast<size_t>(forest.layout.n_features)};
  }

  size_t n_rows_ = 0;
  size_t n_groups_ = 0;
  std::vector<float> values_;
  std::vector<Child> at_;
};

}  // namespace bevel
