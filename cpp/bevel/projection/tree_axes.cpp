#include "bevel/projection/tree_axes.h"

#include <algorithm>
#include <cmath>

#include "bevel/projection/haar.h"
#include "bevel/projection/principal_axes.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// Appends the axes of the given rotation of a tree; all given rotations have equally many.
void append_given_rotation(const Family& family, const DatasetView& data, uint64_t tree,
                           Candidates& axes) {
  const size_t n_axes = data.numeric.size();
  const size_t first = static_cast<size_t>(family.rotation_of_tree[tree]) * n_axes;
  for (size_t axis = first; axis < first + n_axes; ++axis) {
    poll_cancellation(static_cast<size_t>(family.pool->n_nonzeros(axis)));
    for (int k = 0; k < family.pool->n_nonzeros(axis); ++k)
      axes.add_entry(data.numeric[family.pool->indices(axis)[k]], family.pool->weights(axis)[k]);
    axes.close();
  }
}

// Features beyond the limit of a rotation are not rotated, and remain axes (Blaser 1.5).
void append_whole_rotation(const Family& family, const DatasetView& data, Stream& stream,
                           Candidates& axes) {
  const auto rest = append_rotation(data.numeric, rotation_draw(family), stream, axes);
  for (int32_t feature : rest) axes.add_axis(feature);
}

}  // namespace

void draw_tree_axes(const Options& options, const DatasetView& data, const TreeRows& tree,
                    Stream& stream, Candidates& axes) {
  const bool by_class = tree.row_data.labels && tree.row_data.n_outputs() == 1 &&
                        options.threshold != ThresholdRule::purely_random;
  for (const Family& family : options.families) {
    if (!family.per_tree()) continue;
    if (family.kind == FamilyKind::principal)
      append_principal_axes(family, data, tree, by_class, stream, axes);
    else if (family.pool)
      append_given_rotation(family, data, tree.row_data.tree, axes);
    else
      append_whole_rotation(family, data, stream, axes);
  }
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
