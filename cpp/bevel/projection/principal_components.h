// Principal components of a group of features on weighted rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/projection/candidates.h"

namespace bevel {

// The rows to learn from: columns[feature][rows[i]] counts weights[i] times, which is above zero.
struct WeightedRows {
  const float* const* columns;
  std::span<const uint32_t> rows;
  std::span<const double> weights;
};

// An orthonormal basis of the span of the features: eigenvectors of their covariance, in order of
// descending variance, the largest entry of each positive. Always complete, for any rows.
struct PrincipalComponents {
  std::vector<int32_t> features;
  std::vector<double> axes;       // components one after another, features.size() entries each
  std::vector<double> deviation;  // standard deviation along each
  std::vector<double> rounding;   // deviation that rounding to float32 alone may cause there

  size_t size() const { return features.size(); }
  // Whether the rows differ along a component beyond the rounding of float32.
  bool is_nonzero(size_t component) const { return deviation[component] > rounding[component]; }
  void append_to(Candidates& out, size_t component) const;
};

// Computes the components; NaN counts as the median.
PrincipalComponents principal_components(std::vector<int32_t> features, const WeightedRows& rows,
                                         const float* medians);

}  // namespace bevel
