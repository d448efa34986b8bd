#include "bevel/predict/tree_axes_product.h"

#include <algorithm>

namespace bevel {

TreeAxesProduct::TreeAxesProduct(const ForestArrays& forest, size_t tree) {
  const auto first = static_cast<size_t>(forest.rotation_offset[tree]);
  n_axes_ = static_cast<size_t>(forest.rotation_offset[tree + 1]) - first;
  if (n_axes_ == 0) return;
  const int64_t* offset = &forest.rotation_entry_offset[first];
  auto features_of = [&](size_t axis) {
    return forest.rotation_index.subspan(static_cast<size_t>(offset[axis]),
                                         static_cast<size_t>(offset[axis + 1] - offset[axis]));
  };
  const auto shared = features_of(0);
  dense_ = true;
  for (size_t a = 1; a < n_axes_; ++a) {
    const auto own = features_of(a);
    dense_ &= std::equal(own.begin(), own.end(), shared.begin(), shared.end());
  }
  if (dense_) {
    feature_.assign(shared.begin(), shared.end());
    weight_.resize(shared.size() * n_axes_);
    for (size_t a = 0; a < n_axes_; ++a)
      for (size_t k = 0; k < shared.size(); ++k)
        weight_[k * n_axes_ + a] = forest.rotation_weight[static_cast<size_t>(offset[a]) + k];
    return;
  }
  const auto begin = static_cast<size_t>(offset[0]), end = static_cast<size_t>(offset[n_axes_]);
  for (size_t a = 0; a <= n_axes_; ++a)
    offset_.push_back(static_cast<uint32_t>(offset[a] - offset[0]));
  feature_.assign(forest.rotation_index.begin() + begin, forest.rotation_index.begin() + end);
  weight_.assign(forest.rotation_weight.begin() + begin, forest.rotation_weight.begin() + end);
}

void TreeAxesProduct::apply(const float* row, float* values) const {
  if (dense_)
    apply_dense(row, values);
  else
    apply_sparse(row, values);
}

void TreeAxesProduct::apply_dense(const float* row, float* values) const {
  constexpr size_t kLanes = 64;  // sums that stay in registers during the loop over features
  for (size_t start = 0; start < n_axes_; start += kLanes) {
    const size_t n = std::min(kLanes, n_axes_ - start);
    float sum[kLanes] = {};
    for (size_t k = 0; k < feature_.size(); ++k) {
      const float x = row[feature_[k]];
      const float* weight = &weight_[k * n_axes_ + start];
      if (k == 0) {
        for (size_t a = 0; a < n; ++a) sum[a] = weight[a] * x;
      } else {
        for (size_t a = 0; a < n; ++a) sum[a] += weight[a] * x;
      }
    }
    for (size_t a = 0; a < n; ++a) values[start + a] = sum[a] + 0.0f;
  }
}

void TreeAxesProduct::apply_sparse(const float* row, float* values) const {
  for (size_t a = 0; a < n_axes_; ++a) {
    float sum = 0.0f;
    for (uint32_t k = offset_[a]; k < offset_[a + 1]; ++k) {
      const float term = weight_[k] * row[feature_[k]];
      sum = k == offset_[a] ? term : sum + term;
    }
    values[a] = sum + 0.0f;
  }
}

std::span<const int32_t> TreeAxesProduct::features(size_t axis) const {
  if (dense_) return feature_;
  return {feature_.data() + offset_[axis], offset_[axis + 1] - offset_[axis]};
}

size_t TreeAxesProduct::nbytes() const {
  return feature_.size() * 4 + weight_.size() * 4 + offset_.size() * 4;
}

}  // namespace bevel
