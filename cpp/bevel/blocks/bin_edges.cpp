#include "bevel/blocks/bin_edges.h"

#include <algorithm>
#include <cmath>

namespace bevel {

std::vector<float> find_edges(std::vector<float>& values, size_t most_edges) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  std::sort(values.begin(), values.end());
  std::vector<float> edges;
  const size_t n = values.size();
  size_t last = 0;  // values left of the last edge
  for (size_t k = 1; k <= most_edges; ++k) {
    // The first pair of different neighbours from this quantile on.
    size_t right = std::max(n * k / (most_edges + 1), last + 1);
    while (right < n && values[right] == values[right - 1]) ++right;
    if (right >= n) break;
    const double low = values[right - 1], high = values[right];
    const auto middle = static_cast<float>((low + high) * 0.5);
    edges.push_back(middle < values[right] ? middle : values[right - 1]);
    last = right;
  }
  return edges;
}

}  // namespace bevel
