// Whether directions may have values on training rows that float32 does not hold.
#pragma once

#include <cstddef>

#include "bevel/data/dataset_view.h"
#include "bevel/projection/candidates.h"

namespace bevel {

// The largest size of finite values; NaN counts as nothing.
float largest_size_of(const float* values, size_t n);

class ProjectionBound {
 public:
  // Reads all numeric columns once.
  explicit ProjectionBound(const DatasetView& data);
  // Where the largest size of a numeric value is known.
  ProjectionBound(const DatasetView& data, double largest_value);

  // False when candidates [first, last) are finite on every training row. True may be a false
  // alarm: the bound is that of the largest weight and the largest value together.
  bool may_overflow(const Candidates& candidates, size_t first, size_t last) const;

 private:
  double largest_value_;  // of features, medians and axes of trees
};

}  // namespace bevel
