// Sends the rows of a block that are in the bag of a tree down the partially grown tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/blocks/block_request.h"
#include "bevel/blocks/block_view.h"
#include "bevel/split/kernels/kernels.h"

namespace bevel {

// Rows of a block that reached a node: numbers in the block, ascending.
struct BlockNode {
  size_t slot;  // index among the requested nodes
  std::span<const uint32_t> rows;
  std::span<const RowSums> sums;
  std::span<const int32_t> draws;
};

// One per thread, with its own work space.
class BlockWalk {
 public:
  BlockWalk(const BlockView& block, const BlockRequest& request);

  // The rows of a tree in each requested node, from left to right. Valid until the next call.
  template <class Visit>
  void walk(size_t tree, Visit visit) {
    draw(tree);
    pending_.assign(1, {request_.trees.first[tree], 0, rows_.size()});
    while (!pending_.empty()) {
      const Range range = pending_.back();
      pending_.pop_back();
      const int32_t slot = request_.trees.slot[range.node];
      if (slot < 0) {
        split(tree, range);
        continue;
      }
      const size_t n = range.end - range.begin;
      visit(BlockNode{static_cast<size_t>(slot),
                      {rows_.data() + range.begin, n},
                      {sums_.data() + range.begin, n},
                      {drawn_.data() + range.begin, n}});
    }
  }

  // Values of a direction on rows of the block; valid until the next call.
  const float* project(const Candidates& directions, size_t direction,
                       std::span<const uint32_t> rows);

 private:
  struct Range {
    int32_t node;
    size_t begin, end;  // of rows_
  };

  void draw(size_t tree);
  void split(size_t tree, const Range& range);
  void find_sides(int32_t node, const float* values, size_t n);

  const BlockView& block_;
  const BlockRequest& request_;
  const Kernels& kernels_;
  std::vector<uint32_t> rows_;
  std::vector<RowSums> sums_;
  std::vector<int32_t> drawn_;
  std::vector<Range> pending_;
  std::vector<float> values_;
  std::vector<uint8_t> goes_left_;
  std::vector<uint32_t> row_buffer_;
  std::vector<RowSums> sums_buffer_;
  std::vector<int32_t> drawn_buffer_;
  std::vector<const float*> columns_;
  std::vector<float> fill_;
};

}  // namespace bevel
