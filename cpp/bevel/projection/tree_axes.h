// Directions that all nodes of a tree share. Nodes refer to them as columns n_features, n_features
// + 1, ... in the order of the families that draw them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/training_row_data.h"
#include "bevel/random/stream.h"

namespace bevel {

// The rows that a tree is grown on, ascending; those of weight zero are not among them.
struct TreeRows {
  std::span<const uint32_t> rows;
  const TrainingRowData& row_data;
};

// Appends the axes of every family that works per tree: as many as there are numeric features.
void draw_tree_axes(const Options& options, const DatasetView& data, const TreeRows& tree,
                    Stream& stream, Candidates& axes);

// Largest difference of the values of each axis on the given rows due to rounding to float32.
std::vector<float> axis_rounding(const Candidates& axes, const DatasetView& data,
                                 std::span<const uint32_t> rows);

}  // namespace bevel
