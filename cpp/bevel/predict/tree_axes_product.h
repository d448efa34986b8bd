// The values of a tree's axes on a row. Each axis is summed in the order of its entries, as
// training has done; lanes are axes, so that a row alone gives the same bits as a row in a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/predict/forest_arrays.h"

namespace bevel {

class TreeAxesProduct {
 public:
  TreeAxesProduct(const ForestArrays& forest, size_t tree);

  // row: without missing values; values: one for each axis.
  void apply(const float* row, float* values) const;
  // Features that an axis combines.
  std::span<const int32_t> features(size_t axis) const;
  // The coefficient of entry k of features(axis).
  float weight(size_t axis, size_t k) const {
    return dense_ ? weight_[k * n_axes_ + axis] : weight_[offset_[axis] + k];
  }
  size_t n_axes() const { return n_axes_; }
  size_t nbytes() const;

 private:
  void apply_dense(const float* row, float* values) const;
  void apply_sparse(const float* row, float* values) const;

  size_t n_axes_ = 0;
  // Axes that all combine the same features: one row of coefficients for each feature.
  bool dense_ = false;
  std::vector<int32_t> feature_;
  std::vector<float> weight_;
  // Otherwise each axis has entries of its own.
  std::vector<uint32_t> offset_;
};

}  // namespace bevel
