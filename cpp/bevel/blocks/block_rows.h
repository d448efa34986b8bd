// Finds the rows of a block in the requested nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "bevel/blocks/block_request.h"
#include "bevel/blocks/block_view.h"

namespace bevel {

// Rows of node after node, in the order of their slots.
struct BlockRows {
  std::vector<int64_t> offset;  // per node; then the number of rows
  std::vector<uint32_t> row;    // number in the block, ascending in each node
  std::vector<int32_t> draws;   // how often it is in the bag
};

BlockRows find_rows(const BlockView& block, const BlockRequest& request, size_t n_nodes,
                    int n_threads);

}  // namespace bevel
