// Training data of one tree: the rows of its bag with their data, and the columns it may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bevel/projection/candidates.h"
#include "bevel/projection/training_row_data.h"
#include "bevel/random/stream.h"

namespace bevel {

// What the rows of a tree carry for its criterion, in their order (node_criterion_of.h).
class TreeStats {
 public:
  virtual ~TreeStats() = default;
};

struct TreeData {
  std::vector<uint32_t> rows;  // distinct rows, ascending; a node is a range of them
  std::unique_ptr<TreeStats> stats;
  NodeKey root = 0;
  TrainingRowData row_data;
  double total_weight = 0.0;         // in the units of the criterion
  double weight_unit = 1.0;          // weight of the criterion per unit of weight
  double gain_unit = 1.0;            // stored gains per unit of gain
  Candidates axes;                   // directions that all nodes share
  std::vector<uint32_t> out_of_bag;  // rows of `columns`; empty unless a family needs them
  std::vector<uint32_t> data_rows;   // row of `columns` -> row of the data; empty: the same
  std::vector<float> own;  // columns of a tree with axes: the rows of the bag, then those out of it
  std::vector<const float*> columns;  // per feature, then per axis; null where never read
  std::vector<int32_t> used;          // columns that are read
};

}  // namespace bevel
