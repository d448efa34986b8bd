#include "bevel/data/medians.h"

#include <algorithm>
#include <vector>

#include "bevel/support/crew.h"

namespace bevel {
namespace {

float median(std::vector<float>& present) {
  if (present.empty()) return 0.0f;
  const auto middle = present.begin() + static_cast<ptrdiff_t>(present.size() / 2);
  std::nth_element(present.begin(), middle, present.end());
  if (present.size() % 2) return *middle;
  const float below = *std::max_element(present.begin(), middle);
  return static_cast<float>((static_cast<double>(below) + *middle) / 2.0);
}

}  // namespace

void medians(const float* values, size_t n_rows, std::span<const int32_t> levels, int n_threads,
             float* out) {
  constexpr size_t kColumnsPerJob = 64;
  const size_t n_jobs = (levels.size() + kColumnsPerJob - 1) / kColumnsPerJob;
  auto run = [&](int, size_t job) {
    std::vector<float> present;
    const size_t last = std::min(levels.size(), (job + 1) * kColumnsPerJob);
    for (size_t f = job * kColumnsPerJob; f < last; ++f) {
      if (levels[f]) continue;
      present.clear();
      present.reserve(n_rows);
      const float* column = values + f * n_rows;
      for (size_t i = 0; i < n_rows; ++i)
        if (column[i] == column[i]) present.push_back(column[i]);
      out[f] = median(present);
    }
  };
  if (n_jobs == 1) return run(0, 0);
  Crew crew(n_jobs, run);
  crew.start(n_threads);
  crew.finish();
}

}  // namespace bevel
