// The buffers that a thread uses while it grows trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/direction_constraints.h"
#include "bevel/projection/sampler.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/node_projector.h"
#include "bevel/tree/node_criterion.h"

namespace bevel {

// Rows of a subtree copied together, column by column, so that the subtree works in a cache.
struct Block {
  std::vector<float> values;        // column after column
  std::vector<float*> columns;      // per column of the tree; null where never read
  std::vector<uint32_t> data_rows;  // row of the block -> row of the data
};

constexpr int kBlockLevels = 2;

// A regression leaf of one row, whose value is still to be looked up.
struct SingleRowLeaf {
  int32_t node;
  uint32_t row;  // of the data
};

struct Workspace {
  Workspace(const Options& options, const DatasetView& data, const Kernels& kernels,
            std::unique_ptr<NodeCriterion> own)
      : criterion(std::move(own)), projector(data, kernels), samplers(options.families.size()) {}

  const std::unique_ptr<NodeCriterion> criterion;
  NodeProjector projector;               // of other values than those that are searched
  std::vector<SamplerScratch> samplers;  // one per family
  Candidates candidates;
  const OpenGroups* open = nullptr;  // of the node
  std::vector<float> values;         // projected values of the last split found
  std::vector<float> column;
  std::vector<uint32_t> rows;
  std::vector<uint8_t> goes_left;
  std::vector<float> out_values;  // the same for rows out of the bag
  std::vector<uint32_t> out_rows;
  std::vector<uint8_t> out_sides;
  std::vector<int32_t> inherited;  // per family
  Block blocks[kBlockLevels];
  std::vector<SingleRowLeaf> single_row_leaves;
};

}  // namespace bevel
