#include "bevel/models/responses.h"

#include <algorithm>
#include <cmath>

#include "bevel/support/cancellation.h"

namespace bevel {

void Responses::set_classes(const NodeSample& sample, double total_weight) {
  const auto n_classes = static_cast<size_t>(sample.n_classes);
  class_weight_.assign(n_classes, 0.0);
  class_scale_.assign(n_classes, 0.0);
  for (size_t i = 0; i < sample.n; ++i) class_weight_[sample.label[i]] += sample.weight[i];
  size_t n_present = 0;
  for (size_t k = 0; k < n_classes; ++k) {
    if (class_weight_[k] <= 0.0) continue;
    class_scale_[k] = 1.0 / std::sqrt(class_weight_[k]);
    ++n_present;
  }
  if (n_present < 2) return;
  if (n_classes > 2) {
    width_ = n_classes;
    stride_ = padded(width_);
    total_square_ = static_cast<double>(n_present - 1);
    return;
  }
  centre_ = class_weight_[1] / total_weight;
  scale_ = std::sqrt(total_weight) * class_scale_[0] * class_scale_[1];
  total_square_ = 1.0;
}

void Responses::set_target(const NodeSample& sample, const StandardRows& rows) {
  for (size_t i = 0; i < sample.n; ++i) centre_ += sample.weight[i] * sample.target[i];
  centre_ /= rows.total_weight;
  double squares = 0.0, largest = 0.0;
  for (size_t i = 0; i < sample.n; ++i) {
    const double difference = sample.target[i] - centre_;
    squares += sample.weight[i] * (difference * difference);
    largest = std::max(largest, std::fabs(sample.target[i]));
  }
  // A target that is constant up to the rounding of its mean cannot be predicted.
  constexpr double kRounding = 1e-14;
  const double root = std::sqrt(squares);
  if (!(root > kRounding * largest * std::sqrt(rows.total_weight))) return;
  scale_ = 1.0 / root;
  total_square_ = 1.0;
}

void Responses::set(const NodeSample& sample, const StandardRows& rows) {
  width_ = stride_ = 1;
  total_square_ = centre_ = scale_ = 0.0;
  has_y_ = false;
  if (sample.n_classes > 0)
    set_classes(sample, rows.total_weight);
  else
    set_target(sample, rows);
}

void Responses::column(const NodeSample& sample, const StandardRows& rows, const double* score,
                       double* out) const {
  if (width_ == 1) {
    const bool classes = sample.n_classes > 0;
    const double factor = score[0] * scale_;
    for (size_t i = 0; i < sample.n; ++i) {
      const double value = classes ? (sample.label[i] == 1 ? 1.0 : 0.0) : sample.target[i];
      out[i] = rows.root_weight[i] * ((value - centre_) * factor);
    }
    return;
  }
  double centre = 0.0;
  for (size_t k = 0; k < width_; ++k) centre += score[k] * (class_weight_[k] * class_scale_[k]);
  centre /= rows.total_weight;
  for (size_t i = 0; i < sample.n; ++i) {
    const auto k = static_cast<size_t>(sample.label[i]);
    out[i] = rows.root_weight[i] * (score[k] * class_scale_[k] - centre);
  }
}

void Responses::cross_products(const NodeSample& sample, const StandardRows& rows,
                               std::vector<double>& out) {
  if (width_ == 1) {
    if (!has_y_) {
      const double one = 1.0;
      y_.resize(sample.n);
      column(sample, rows, &one, y_.data());
      has_y_ = true;
    }
    out.resize(rows.stride);
    transposed_times(rows.matrix(), y_.data(), out.data());
    return;
  }
  // The rows' sums over each class; since rows are centred, so are the indicators.
  sums_.assign(width_ * rows.stride, 0.0);
  for (size_t i = 0; i < sample.n; ++i) {
    poll_cancellation_at(i, rows.stride);
    double* sum = sums_.data() + static_cast<size_t>(sample.label[i]) * rows.stride;
    const double* row = rows.z.data() + i * rows.stride;
    const double w = rows.root_weight[i];
    for (size_t j = 0; j < rows.stride; ++j) sum[j] += w * row[j];
  }
  out.assign(rows.stride * stride_, 0.0);
  for (size_t k = 0; k < width_; ++k)
    for (size_t j = 0; j < rows.size; ++j)
      out[j * stride_ + k] = sums_[k * rows.stride + j] * class_scale_[k];
}

}  // namespace bevel
