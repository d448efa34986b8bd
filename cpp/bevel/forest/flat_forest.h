// The finished forest: arrays only, trees one after the other. This is what Python holds and saves;
// docs/reference and src/bevel/forest.py describe each array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/projection/candidates.h"
#include "bevel/tree/node_store.h"

namespace bevel {

struct FlatForest {
  std::vector<int64_t> tree_offset{0};
  std::vector<int32_t> right;
  std::vector<float> threshold;
  std::vector<uint8_t> flags;
  std::vector<float> gain;
  std::vector<float> weight;
  std::vector<int64_t> entry_offset{0};
  std::vector<int32_t> entry_index;
  std::vector<float> entry_weight;
  std::vector<float> entry_p_value;
  std::vector<double> leaf_value;
  std::vector<int32_t> bits_index;
  std::vector<int64_t> bits_offset{0};
  std::vector<uint32_t> bits;
  std::vector<int64_t> rotation_offset{0};
  std::vector<int64_t> rotation_entry_offset{0};
  std::vector<int32_t> rotation_index;
  std::vector<float> rotation_weight;
};

// A tree as its worker left it, with the axes that some node uses.
struct GrownTree {
  NodeStore nodes;
  Candidates axes;
};

// Drops the axes that no node uses and numbers the others anew.
GrownTree with_used_axes(NodeStore&& nodes, const Candidates& axes, int32_t n_features);

FlatForest flatten(std::vector<GrownTree>& trees, bool is_regression);

}  // namespace bevel
