#include "bevel/data/codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/thread_pool.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

constexpr int kCodes = 256;
constexpr size_t kLine = 64;
// A smaller step has too few bits for the arithmetic of screening.
constexpr float kMinStep = 1e-30f;

struct Range {
  float low, high;
};

// Compares integers of the same order, which compilers can vectorise.
BEVEL_WIDE_LOOP Range range_of(const float* values, size_t n) {
  int32_t low = std::numeric_limits<int32_t>::max(), high = std::numeric_limits<int32_t>::min();
  for (size_t i = 0; i < n; ++i) {
    const auto key = static_cast<int32_t>(sortable(values[i]) ^ 0x80000000u);
    low = std::min(low, key);
    high = std::max(high, key);
  }
  return {from_sortable(static_cast<uint32_t>(low) ^ 0x80000000u),
          from_sortable(static_cast<uint32_t>(high) ^ 0x80000000u)};
}

BEVEL_WIDE_LOOP void code_values(const float* values, size_t n, float low, float inverse,
                                 uint8_t* codes) {
  for (size_t i = 0; i < n; ++i) {
    const auto code = static_cast<int32_t>((values[i] - low) * inverse);
    codes[i] = static_cast<uint8_t>(code < kCodes - 1 ? code : kCodes - 1);
  }
}

}  // namespace

ColumnCodes::ColumnCodes(const DatasetView& data, int n_threads)
    : stride_((data.n_rows + kLine - 1) / kLine * kLine),
      n_bytes_(stride_ * static_cast<size_t>(data.n_features)),
      codes_(HugePageAllocator<uint8_t>().allocate(n_bytes_)),
      scales_(static_cast<size_t>(data.n_features)) {
  constexpr size_t kColumnsPerJob = 64;
  const std::vector<int32_t> features = data.numbers();
  const size_t n_jobs = (features.size() + kColumnsPerJob - 1) / kColumnsPerJob;
  ThreadPool pool(n_threads, n_jobs, [&](int, size_t job) {
    std::vector<float> filled;
    const size_t last = std::min(features.size(), (job + 1) * kColumnsPerJob);
    for (size_t c = job * kColumnsPerJob; c < last; ++c) {
      poll_cancellation(data.n_rows);
      const int32_t feature = features[c];
      const float* values = data.column(feature);
      if (data.has_nan[feature]) {
        filled.assign(values, values + data.n_rows);
        for (float& x : filled)
          if (x != x) x = data.medians[feature];
        values = filled.data();
      }
      code(values, data.n_rows, feature);
    }
  });
  pool.run();
}

ColumnCodes::~ColumnCodes() { HugePageAllocator<uint8_t>().deallocate(codes_, n_bytes_); }

void ColumnCodes::code(const float* values, size_t n_rows, int32_t feature) {
  uint8_t* codes = codes_ + static_cast<size_t>(feature) * stride_;
  CodeScale& scale = scales_[static_cast<size_t>(feature)];
  const Range range = range_of(values, n_rows);
  const double span = static_cast<double>(range.high) - range.low;
  scale.size = std::max(std::fabs(range.low), std::fabs(range.high));
  scale.step = static_cast<float>(span / kCodes);
  if (!(scale.step >= kMinStep)) {  // one code for all
    scale.step = static_cast<float>(span);
    std::fill_n(codes, n_rows, uint8_t{0});
    return;
  }
  code_values(values, n_rows, range.low, static_cast<float>(kCodes / span), codes);
}

}  // namespace bevel
