#include "bevel/data/rotate.h"

#include <algorithm>
#include <vector>

#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Rows whose features stay in the cache while all axes are summed; the sums of a few axes
// share the loads of a feature. Lanes are rows.
constexpr size_t kBlockRows = 64;
constexpr size_t kBlockAxes = 4;
// Products below which threads cost more than they save.
constexpr size_t kFewProducts = 1'000'000;

class BlockRotation {
 public:
  BlockRotation(const float* rows, size_t n_rows, size_t n_features, const double* rotation,
                float* target)
      : rows_(rows), n_rows_(n_rows), p_(n_features), rotation_(rotation), target_(target) {}

  size_t n_blocks() const { return (n_rows_ + kBlockRows - 1) / kBlockRows; }

  void run(size_t block, std::vector<double>& features) const {
    const size_t first = block * kBlockRows, n = std::min(kBlockRows, n_rows_ - first);
    features.assign(p_ * kBlockRows, 0.0);
    for (size_t j = 0; j < p_; ++j)
      std::copy_n(rows_ + j * n_rows_ + first, n, features.data() + j * kBlockRows);
    for (size_t axis = 0; axis < p_; axis += kBlockAxes) {
      poll_cancellation(kBlockRows * kBlockAxes * p_);
      sum_axes(features.data(), axis, std::min(kBlockAxes, p_ - axis), first, n);
    }
  }

 private:
  void sum_axes(const double* features, size_t axis, size_t n_axes, size_t first, size_t n) const {
    double sums[kBlockAxes][kBlockRows] = {};
    for (size_t j = 0; j < p_; ++j) {
      const double* x = features + j * kBlockRows;
      for (size_t k = 0; k < n_axes; ++k) {
        const double weight = rotation_[(axis + k) * p_ + j];
        for (size_t i = 0; i < kBlockRows; ++i) sums[k][i] += x[i] * weight;
      }
    }
    for (size_t k = 0; k < n_axes; ++k)
      for (size_t i = 0; i < n; ++i)
        target_[(axis + k) * n_rows_ + first + i] = static_cast<float>(sums[k][i]);
  }

  const float* rows_;
  size_t n_rows_;
  size_t p_;
  const double* rotation_;
  float* target_;
};

}  // namespace

void rotate_rows(const float* rows, size_t n_rows, size_t n_features, const double* rotation,
                 int n_threads, float* target) {
  const BlockRotation rotate(rows, n_rows, n_features, rotation, target);
  if (n_rows * n_features * n_features < kFewProducts) n_threads = 1;
  std::vector<std::vector<double>> features;
  ThreadPool pool(n_threads, rotate.n_blocks(), [&](int worker, size_t block) {
    rotate.run(block, features[static_cast<size_t>(worker)]);
  });
  features.resize(static_cast<size_t>(pool.size()));
  pool.run();
}

}  // namespace bevel
