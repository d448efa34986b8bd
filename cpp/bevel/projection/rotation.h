// Haar-distributed rotations (Blaser 1.4; Mezzadri 2007): QR of a Gaussian matrix with a positive
// diagonal of R.
#pragma once

#include <cstdint>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/random/stream.h"

namespace bevel {

// The first n_columns columns of an m x m Haar rotation, column-major. The determinant of the whole
// matrix is +1 unless flip is set, in which case it is +1 or -1 as the QR gives it.
std::vector<double> haar_columns(int32_t m, int32_t n_columns, bool flip, Stream& stream);

// The rotation that all nodes of a tree share: which features, and the axes in float32.
struct TreeRotation {
  std::vector<int32_t> features;
  std::vector<float> axes;  // axis-major: axes[axis * features.size() + k] belongs to features[k]

  int32_t n_axes() const { return static_cast<int32_t>(features.size()); }
  const float* axis(int32_t a) const {
    return axes.data() + static_cast<size_t>(a) * features.size();
  }
};

TreeRotation draw_tree_rotation(const Family& family, const DatasetView& data, Stream& stream);

}  // namespace bevel
