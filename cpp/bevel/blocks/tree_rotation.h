// The axes that the nodes of a tree share, if a family rotates per tree. Nodes refer to them as
// columns after the features; blocks, which have no axes, get directions in features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/tree/node_store.h"

namespace bevel {

class TreeRotation {
 public:
  // Draws the axes, as the ordinary trainer does; does nothing if no family rotates per tree.
  void draw(const Options& options, const DatasetView& sample, uint64_t tree);
  void clear() { *this = TreeRotation(); }

  bool any() const { return axes_.size() > 0; }
  const Candidates& axes() const { return axes_; }
  // Appends a direction in terms of features.
  void expand(const int32_t* index, const float* weight, int n, Candidates& out) const;
  Candidates expand(const Candidates& drawn) const;
  SplitRecord expand(const SplitRecord& split) const;
  // Whether rows of the sample differ by rounding alone along the axis of a candidate.
  bool is_flat(int32_t index) const {
    return index >= n_features_ && is_flat_[static_cast<size_t>(index - n_features_)];
  }

 private:
  void find_flat_axes(const DatasetView& sample);

  int32_t n_features_ = INT32_MAX;
  Candidates axes_;
  std::vector<uint8_t> is_flat_;
};

}  // namespace bevel
