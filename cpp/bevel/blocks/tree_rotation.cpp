#include "bevel/blocks/tree_rotation.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "bevel/blocks/sample_values.h"
#include "bevel/projection/family.h"
#include "bevel/projection/training_row_data.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/random/stream.h"

namespace bevel {
namespace {

constexpr size_t kRowsLookedAt = 2048;

}  // namespace

void TreeRotation::draw(const Options& options, const DatasetView& sample, uint64_t tree) {
  if (any() || !any_family(options, &Family::per_tree)) return;
  n_features_ = sample.n_features;
  Stream stream(root_key(options.seed, tree), Purpose::rotation);
  TrainingRowData nothing;
  nothing.tree = tree;
  draw_tree_axes(options, sample, {{}, nothing}, stream, axes_);
  find_flat_axes(sample);
}

void TreeRotation::find_flat_axes(const DatasetView& sample) {
  std::vector<uint32_t> rows(std::min(sample.n_rows, kRowsLookedAt));
  std::iota(rows.begin(), rows.end(), 0u);
  const std::vector<float> rounding = axis_rounding(axes_, sample, rows);
  is_flat_.assign(axes_.size(), 0);
  Candidates direction;
  for (size_t axis = 0; axis < axes_.size(); ++axis) {
    direction.clear();
    const auto index = n_features_ + static_cast<int32_t>(axis);
    const float one = 1.0f;
    expand(&index, &one, 1, direction);
    const std::vector<float> values = values_of_sample(sample, direction, 0, rows);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    is_flat_[axis] = *high - *low <= rounding[axis];
  }
}

void TreeRotation::expand(const int32_t* index, const float* weight, int n, Candidates& out) const {
  if (*index < n_features_) {
    for (int k = 0; k < n; ++k) out.add_entry(index[k], weight[k]);
  } else {
    const auto axis = static_cast<size_t>(*index - n_features_);
    const int n_own = axes_.n_nonzeros(axis);
    for (int k = 0; k < n_own; ++k) out.add_entry(axes_.indices(axis)[k], axes_.weights(axis)[k]);
    // Medians stand in for missing values on every axis of a rotation; a direction of one feature
    // would keep them missing.
    if (n_own == 1) out.add_entry(*axes_.indices(axis), 0.0f);
  }
  out.close();
}

Candidates TreeRotation::expand(const Candidates& drawn) const {
  Candidates out;
  for (size_t c = 0; c < drawn.size(); ++c)
    expand(drawn.indices(c), drawn.weights(c), drawn.n_nonzeros(c), out);
  return out;
}

SplitRecord TreeRotation::expand(const SplitRecord& split) const {
  SplitRecord result = split;
  Candidates direction;
  expand(split.index.data(), split.coefficient.data(), static_cast<int>(split.index.size()),
         direction);
  result.index.assign(direction.index.begin(), direction.index.end());
  result.coefficient.assign(direction.weight.begin(), direction.weight.end());
  return result;
}

}  // namespace bevel
