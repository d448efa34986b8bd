// Finds the leaves of perturbed rows, at little more than the cost of those that change leaves.
//
// A row whose features are replaced follows the path of the row itself until it reaches a split
// that reads a replaced feature and sends it to the other side: there it departs. So the splits on
// the row's own path are evaluated once for each group that they read, and only diverged rows walk
// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/perturbation.h"
#include "bevel/predict/packed_forest.h"

namespace bevel {

// A perturbed row that left the path of the row itself.
struct PathChange {
  uint32_t row;  // of the block
  int32_t group;
  uint32_t repeat;
  Child at;      // node from which the walk continues
  int32_t leaf;  // final leaf, which may be the row's own
};

// Changes found in one tree, and memory that is reused from tree to tree.
struct PathChanges {
  std::vector<int32_t> own_leaf;  // by row of the block
  std::vector<PathChange> found;  // by row, then along its path

  std::vector<uint32_t> diverged;  // by group and repeat: the walk in which it diverged
  uint32_t walk = 0;
  std::vector<float> rows, complete;
};

// Sends the rows `chosen` of a block down a tree. Leaves are numbered as in the packed forest.
void find_path_changes(const PackedForest& forest, size_t tree, std::span<const uint32_t> chosen,
                       PerturbedBlock& block, PathChanges& path_changes);

}  // namespace bevel
