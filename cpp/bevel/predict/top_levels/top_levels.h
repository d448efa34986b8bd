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

 private:
  size_t n_groups_ = 0;
  std::vector<float> values_;
  std::vector<Child> at_;
};

}  // namespace bevel
