#include "bevel/models/standard_rows.h"

#include <cmath>

#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

constexpr size_t kManyRows = 4096;  // fewer rows need no polls for cancellation
constexpr double kMinSpread = 1.0 / (1 << 23);

// out[j] = sum of w[i] (x[i][j] - mean[j])^2
BEVEL_WIDE_LOOP void squares_block(const NodeSample& sample, const double* mean, double* out,
                                   size_t column) {
  double sum[kBlock] = {}, centre[kBlock];
  for (size_t j = 0; j < kBlock; ++j) centre[j] = mean[column + j];
  const double* row = sample.values.data() + column;
  for (size_t i = 0; i < sample.n; ++i, row += sample.stride) {
    const double w = sample.weight[i];
    for (size_t j = 0; j < kBlock; ++j) {
      const double difference = row[j] - centre[j];
      sum[j] += w * (difference * difference);
    }
  }
  for (size_t j = 0; j < kBlock; ++j) out[column + j] = sum[j];
}

// A block of columns of all rows: to = root_weight (from - mean) factor.
BEVEL_WIDE_LOOP void fill_block(const double* from, size_t n, size_t stride,
                                const double* root_weight, const double* mean, const double* factor,
                                double* to) {
  double centre[kBlock], scale[kBlock];
  for (size_t j = 0; j < kBlock; ++j) centre[j] = mean[j];
  for (size_t j = 0; j < kBlock; ++j) scale[j] = factor[j];
  for (size_t i = 0; i < n; ++i, from += stride, to += stride)
    for (size_t j = 0; j < kBlock; ++j) to[j] = root_weight[i] * ((from[j] - centre[j]) * scale[j]);
}

}  // namespace

void StandardRows::weigh(const NodeSample& sample) {
  n = sample.n;
  total_weight = 0.0;
  root_weight.resize(n);
  for (size_t i = 0; i < n; ++i) {
    total_weight += sample.weight[i];
    root_weight[i] = std::sqrt(sample.weight[i]);
  }
  BEVEL_CHECK(n == 0 || (total_weight > 0.0 && std::isfinite(total_weight)));
}

void StandardRows::find_means(const NodeSample& sample) {
  n_features = sample.m;
  features.clear();
  sd.clear();
  mean_.resize(sample.stride);
  factor_.resize(sample.stride);
  transposed_times({sample.values.data(), n, sample.stride}, sample.weight.data(), mean_.data());
  for (double& mean : mean_) mean /= total_weight;
}

void StandardRows::fill(const NodeSample& sample) {
  size = features.size();
  stride = padded(size);
  z.resize(n * stride);
  if (size == n_features) {
    for (size_t column = 0; column < stride; column += kBlock) {
      if (n >= kManyRows) poll_cancellation(n * kBlock);
      fill_block(sample.values.data() + column, n, stride, root_weight.data(),
                 mean_.data() + column, factor_.data() + column, z.data() + column);
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    poll_cancellation_at(i, size);
    const double* from = sample.row(i);
    double* to = z.data() + i * stride;
    for (size_t k = 0; k < size; ++k) {
      const size_t j = features[k];
      to[k] = root_weight[i] * ((from[j] - mean_[j]) * factor_[j]);
    }
    for (size_t k = size; k < stride; ++k) to[k] = 0.0;
  }
}

void StandardRows::standardise(const NodeSample& sample, bool same_rows) {
  if (!same_rows) weigh(sample);
  BEVEL_CHECK(n == sample.n);
  find_means(sample);
  for (size_t column = 0; column < sample.stride; column += kBlock) {
    if (n >= kManyRows) poll_cancellation(n * kBlock);
    squares_block(sample, mean_.data(), factor_.data(), column);
  }
  for (size_t j = 0; j < n_features; ++j) {
    const double deviation = std::sqrt(factor_[j] / total_weight);
    if (!(deviation > kMinSpread * std::fabs(mean_[j]))) continue;
    features.push_back(j);
    sd.push_back(deviation);
    factor_[j] = 1.0 / deviation;
  }
  fill(sample);
}

void StandardRows::centre(const NodeSample& sample) {
  weigh(sample);
  find_means(sample);
  for (size_t j = 0; j < n_features; ++j) {
    features.push_back(j);
    sd.push_back(1.0);
    factor_[j] = 1.0;
  }
  fill(sample);
}

bool StandardRows::add_direction(const double* coefficient, ModelDirections& out) const {
  const size_t start = out.coefficient.size();
  out.coefficient.resize(start + n_features, 0.0);
  for (size_t k = 0; k < size; ++k) out.coefficient[start + features[k]] = coefficient[k] / sd[k];
  return out.close();
}

}  // namespace bevel
