#include "bevel/projection/tree_axes.h"

#include <algorithm>
#include <cmath>

#include "bevel/projection/family.h"
#include "bevel/support/cancellation.h"

namespace bevel {

void draw_tree_axes(const Options& options, const DatasetView& data, const TreeRows& tree,
                    Stream& stream, Candidates& axes) {
  const bool by_class = tree.row_data.labels && tree.row_data.n_outputs() == 1 &&
                        options.threshold != ThresholdRule::purely_random;
  for (const auto& family : options.families)
    if (family->per_tree()) family->append_tree_axes(data, tree, by_class, stream, axes);
}

std::vector<float> axis_rounding(const Candidates& axes, const DatasetView& data,
                                 std::span<const uint32_t> rows) {
  std::vector<float> largest(static_cast<size_t>(data.n_features), -1.0f);
  for (int32_t f : axes.index) {
    float& size = largest[static_cast<size_t>(f)];
    if (size >= 0.0f) continue;
    poll_cancellation(rows.size());
    size = std::fabs(data.medians[f]);
    for (uint32_t row : rows) {
      const float x = std::fabs(data.column(f)[row]);
      if (x > size) size = x;
    }
  }
  // A sum of k products is off by at most (k + 1) 2^-24 of the sizes of its terms, either way; the
  // rounded weights add one.
  std::vector<float> rounding;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    poll_cancellation(static_cast<size_t>(axes.n_nonzeros(axis)));
    double size = 0.0;
    for (int k = 0; k < axes.n_nonzeros(axis); ++k)
      size += std::fabs(axes.weights(axis)[k]) *
              static_cast<double>(largest[static_cast<size_t>(axes.indices(axis)[k])]);
    rounding.push_back(static_cast<float>(2.0 * (axes.n_nonzeros(axis) + 2) * 0x1.0p-24 * size));
  }
  return rounding;
}

}  // namespace bevel
