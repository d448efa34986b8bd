// Bins of values between given edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bevel {

constexpr size_t kMaxEdges = 127;

// Finds the bin of a value: the number of edges below it; NaN has the last bin.
class ValueBins {
 public:
  void set_edges(std::span<const float> edges) {
    n_edges_ = edges.size();
    n_steps_ = 0;
    while (((size_t{1} << n_steps_) - 1) < n_edges_) ++n_steps_;
    padded_.assign((size_t{1} << n_steps_), std::numeric_limits<float>::infinity());
    for (size_t i = 0; i < n_edges_; ++i) padded_[i] = edges[i];
  }
  // Values above all edges but infinite ones count as above them, infinite ones too.
  size_t n_bins() const { return n_edges_ + 2; }

  void find(const float* values, size_t n, uint16_t* bins) const {
    switch (n_steps_) {
      case 0:
        return search<0>(values, n, bins);
      case 1:
        return search<1>(values, n, bins);
      case 2:
        return search<2>(values, n, bins);
      case 3:
        return search<3>(values, n, bins);
      case 4:
        return search<4>(values, n, bins);
      case 5:
        return search<5>(values, n, bins);
      case 6:
        return search<6>(values, n, bins);
      default:
        return search<7>(values, n, bins);
    }
  }

 private:
  // Binary search without branches, so that rows do not wait for each other.
  template <int kSteps>
  void search(const float* values, size_t n, uint16_t* bins) const {
    const float* edges = padded_.data();
    const auto missing = static_cast<uint32_t>(n_edges_ + 1);
    for (size_t i = 0; i < n; ++i) {
      const float value = values[i];
      uint32_t position = 0;
      for (int step = kSteps - 1; step >= 0; --step) {
        const uint32_t half = 1u << step;
        position += edges[position + half - 1] < value ? half : 0u;
      }
      bins[i] = static_cast<uint16_t>(value == value ? position : missing);
    }
  }

  size_t n_edges_ = 0;
  int n_steps_ = 0;
  std::vector<float> padded_;
};

}  // namespace bevel
