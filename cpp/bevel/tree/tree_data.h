// What one tree is grown on: the rows of its bag with what they carry, and the columns it may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/projection/rotation.h"
#include "bevel/random/stream.h"

namespace bevel {

template <class Task>
struct TreeData {
  std::vector<uint32_t> rows;  // distinct rows, ascending; a node is a range of them
  std::vector<typename Task::Payload> payload;
  NodeKey root = 0;
  double total_weight = 0.0;  // in the units of the task
  TreeRotation rotation;
  std::vector<uint32_t> origin;       // row of `columns` -> row of the data; empty: the same
  std::vector<float> own;             // columns of a rotated tree: only the rows of the bag
  std::vector<const float*> columns;  // per feature, then per axis; null where never read
  std::vector<int32_t> used;          // columns that are read
};

// What the targets of the rows are, for the values of leaves.
struct Targets {
  const double* values = nullptr;         // regression
  const double* weights = nullptr;        // per row, null: 1
  const int32_t* multiplicity = nullptr;  // of the tree's bag
  double weight_unit = 1.0;               // weight of the task per unit of weight
};

}  // namespace bevel
