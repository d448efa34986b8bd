// A request to blocks: partially grown trees, and some of their nodes with candidates.
// It is sent as bytes, so that a block may be on another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bevel/blocks/row_draws.h"
#include "bevel/blocks/row_grid.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/random/stream.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// Nodes of all trees, one tree after the other, each from its root. Only paths to requested nodes
// are included.
struct PartialTrees {
  std::vector<uint64_t> root;        // key of each tree
  std::vector<uint8_t> takes_all;    // per tree: its bag is every row once
  std::vector<int32_t> first{0};     // per tree: its root among the nodes; then their number
  std::vector<int32_t> left, right;  // -1: rows that go there are not requested
  std::vector<int32_t> slot;         // index among the requested nodes; -1: none
  std::vector<float> threshold;      // the following fields are as in NodeStore
  std::vector<uint8_t> flags;
  Candidates directions;  // one for each node
  std::vector<uint32_t> bits_offset{0};
  std::vector<uint32_t> bits;

  size_t n_trees() const { return root.size(); }
  void add_node(int32_t slot_of_node) {
    left.push_back(-1);
    right.push_back(-1);
    slot.push_back(slot_of_node);
    threshold.push_back(0.0f);
    flags.push_back(0);
    directions.close();
    bits_offset.push_back(static_cast<uint32_t>(bits.size()));
  }
  void add_node(const SplitRecord& split) {
    left.push_back(-1);
    right.push_back(-1);
    slot.push_back(-1);
    threshold.push_back(split.threshold);
    flags.push_back(split.flags);
    for (size_t k = 0; k < split.index.size(); ++k)
      directions.add_entry(split.index[k], split.coefficient[k]);
    directions.close();
    if (split.is_category())
      bits.insert(bits.end(), split.level_bits.begin(), split.level_bits.end());
    bits_offset.push_back(static_cast<uint32_t>(bits.size()));
  }
};

// Candidates of the requested nodes. The answer is one array of whole numbers: for each node
// the sums over all of its rows, then for each candidate one cell per bin. A nominal column has a
// bin for each level; a direction has one more bin than edges, and one for rows without a value.
struct CandidateBins {
  std::vector<uint32_t> first{0};  // per node: its candidates; then their number
  Candidates candidates;
  std::vector<uint8_t> is_nominal;  // per candidate
  std::vector<uint32_t> edge_offset{0};
  std::vector<float> edges;         // ascending; left of an edge are values up to it
  std::vector<uint64_t> node_cell;  // per node: where its sums are in the answer, in cells
  std::vector<uint64_t> cell;       // per candidate
  uint64_t n_cells = 0;

  size_t n_nodes() const { return node_cell.size(); }
  size_t n_edges(size_t c) const { return edge_offset[c + 1] - edge_offset[c]; }
};

// The bags of a forest over blocks.
RowDraws row_draws(const Options& options, uint64_t n_rows);

struct BlockRequest {
  RowGrid grid;
  RowDraws draws;
  PartialTrees trees;
  CandidateBins bins;  // empty if rows are requested

  std::string to_bytes() const;
  // Throws std::invalid_argument if the bytes are not a request.
  static BlockRequest from_bytes(std::span<const char> bytes);
};

}  // namespace bevel
