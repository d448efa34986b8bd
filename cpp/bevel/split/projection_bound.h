// Tests whether directions may overflow float32 on training rows.
#pragma once

#include <cstddef>

#include "bevel/data/dataset_view.h"
#include "bevel/projection/candidates.h"

namespace bevel {

// The largest absolute value of finite values; NaN is ignored.
float largest_size_of(const float* values, size_t n);

class ProjectionBound {
 public:
  // Reads all numeric columns once.
  explicit ProjectionBound(const DatasetView& data);
  // For a known largest absolute value of the numeric columns.
  ProjectionBound(const DatasetView& data, double largest_value);

  // False when candidates [first, last) are finite on every training row. True may be a false
  // alarm: the bound is that of the largest weight and the largest value together.
  bool may_overflow(const Candidates& candidates, size_t first, size_t last) const;

 private:
  double largest_value_;  // of features, medians and axes of trees
};

}  // namespace bevel
