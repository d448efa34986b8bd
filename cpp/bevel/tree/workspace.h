// The buffers that a thread uses while it grows trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bevel/projection/candidates.h"
#include "bevel/projection/direction_constraints.h"
#include "bevel/projection/sampler.h"
#include "bevel/split/finder.h"

namespace bevel {

// Rows of a subtree copied together, column by column, so that the subtree works in a cache.
struct Block {
  std::vector<float> values;        // column after column
  std::vector<float*> columns;      // per column of the tree; null where never read
  std::vector<uint32_t> data_rows;  // row of the block -> row of the data
};

constexpr int kBlockLevels = 2;

// A regression leaf of one row, whose value is not looked up yet.
struct SingleRowLeaf {
  int32_t node;
  uint32_t row;  // of the data
};

template <class Criterion>
struct Workspace {
  Workspace(const Options& options, const DatasetView& data, const ProjectionBound& bound,
            const Kernels& kernels, Criterion criterion)
      : finder(options, data, bound, kernels),
        criterion(std::move(criterion)),
        samplers(options.families.size()) {}

  Finder<Criterion> finder;
  Criterion criterion;
  std::vector<SamplerScratch> samplers;  // one per family
  Candidates candidates;
  const OpenGroups* open = nullptr;  // open groups of the node
  std::vector<float> values;         // projected values of the last split found
  std::vector<float> column;
  std::vector<uint32_t> rows;
  std::vector<uint8_t> goes_left;
  std::vector<typename CarriedStats<Criterion>::type> stats;
  std::vector<float> out_values;  // projected values of rows out of the bag
  std::vector<uint32_t> out_rows;
  std::vector<uint8_t> out_sides;
  std::vector<int32_t> inherited;  // per family
  Block blocks[kBlockLevels];
  std::vector<SingleRowLeaf> single_row_leaves;
};

}  // namespace bevel
