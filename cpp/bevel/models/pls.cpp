#include "bevel/models/pls.h"

#include <algorithm>

#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr double kMinSquare = 1e-20;  // of what remains to explain, relative to the start

}  // namespace

// w: the unit vector for which |w' X'Y| is largest.
bool PartialLeastSquares::leading_weights() {
  if (responses_.width() == 1) {
    weights_.assign(cross_.begin(), cross_.begin() + static_cast<std::ptrdiff_t>(rows_.size));
    return true;
  }
  singular_.compute({cross_.data(), rows_.size, responses_.stride()}, responses_.width(), 1);
  weights_ = singular_.left();
  return singular_.count() == 1;
}

// Removes the k-th component from the products: X'Y -= p (r' X'Y).
void PartialLeastSquares::deflate(size_t k) {
  const double* r = rotation_.data() + k * rows_.stride;
  const double* p = loading_.data() + k * rows_.stride;
  const size_t width = responses_.stride();
  for (size_t j = 0; j < width; ++j) {
    double along = 0.0;
    for (size_t i = 0; i < rows_.size; ++i) along += r[i] * cross_[i * width + j];
    for (size_t i = 0; i < rows_.size; ++i) cross_[i * width + j] -= p[i] * along;
  }
}

void PartialLeastSquares::directions(const NodeSample& sample, size_t n_components,
                                     ModelDirections& out) {
  out.clear(sample.m);
  rows_.standardise(sample);
  responses_.set(sample, rows_);
  if (sample.n < 2 || rows_.size == 0 || responses_.total_square() == 0.0) return;
  responses_.cross_products(sample, rows_, cross_);
  n_components = std::min({n_components, rows_.size, rows_.n - 1});
  rotation_.assign(n_components * rows_.stride, 0.0);
  loading_.assign(n_components * rows_.stride, 0.0);
  scores_.resize(rows_.n);
  const double start = dot(cross_.data(), cross_.data(), rows_.size * responses_.stride());
  for (size_t k = 0; k < n_components; ++k) {
    poll_cancellation(rows_.n * rows_.stride);
    const double left = dot(cross_.data(), cross_.data(), rows_.size * responses_.stride());
    if (!(left > kMinSquare * start) || !leading_weights()) return;
    // r = w minus its share in the components before, so that t = X r without deflating X.
    double* r = rotation_.data() + k * rows_.stride;
    double* p = loading_.data() + k * rows_.stride;
    std::copy_n(weights_.data(), rows_.size, r);
    for (size_t before = 0; before < k; ++before) {
      const double share =
          dot(loading_.data() + before * rows_.stride, weights_.data(), rows_.size);
      const double* other = rotation_.data() + before * rows_.stride;
      for (size_t i = 0; i < rows_.size; ++i) r[i] -= share * other[i];
    }
    times(rows_.matrix(), r, rows_.size, scores_.data());
    const double square = dot(scores_.data(), scores_.data(), rows_.n);
    if (!(square > 0.0)) return;
    transposed_times(rows_.matrix(), scores_.data(), p);
    for (size_t i = 0; i < rows_.size; ++i) p[i] /= square;
    deflate(k);
    rows_.add_direction(r, out);
  }
}

}  // namespace bevel
