// A tree while its upper levels are grown from sums over blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/blocks/tree_rotation.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/random/stream.h"
#include "bevel/tree/node_store.h"

namespace bevel {

enum class TopState : uint8_t {
  waiting,  // for its histograms
  small,    // its rows are to be gathered and its subtree grown from them
  leaf,
  split,
  grown  // has its subtree
};

struct TopNode {
  NodeKey key = 0;
  int32_t depth = 0;
  int32_t left = -1, right = -1;
  TopState state = TopState::waiting;
  int32_t attempt = 0;                // how often candidates were drawn in vain
  std::vector<int64_t> totals;        // cell of its rows; empty: not known yet
  std::vector<uint32_t> sample_rows;  // its rows in the sample
  SplitRecord split;
  NodeStore subtree;
};

struct TopTree {
  uint64_t number = 0;
  bool takes_all = false;  // its bag would have been empty: every row once
  std::vector<TopNode> nodes;
  TreeRotation rotation;  // while the tree grows

  bool is_done() const {
    for (const TopNode& node : nodes)
      if (node.state == TopState::waiting || node.state == TopState::small) return false;
    return true;
  }
};

// Position in a forest: index of the tree, and of its node.
struct TopPlace {
  size_t tree, node;
};

}  // namespace bevel
