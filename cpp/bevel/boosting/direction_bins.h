// Bins of the values of a direction: equal-width cells over the range of a sample of rows, joined
// so that bins hold similar numbers of rows. A row's code depends on its value alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bevel {

class DirectionBins {
 public:
  static constexpr int kCells = 2048;

  DirectionBins() = default;
  // Makes bins from the values of some rows, which are finite, and of n_common rows more that all
  // have one value.
  DirectionBins(std::span<const float> sample, int max_bins, size_t n_common = 0,
                float common = 0.0f);

  int n_bins() const { return n_bins_; }
  uint8_t code(float value) const { return code_[static_cast<size_t>(cell(value))]; }
  // The codes of n values, at out[i * stride]; cells: room for n numbers.
  void code_values(const float* values, size_t n, int32_t* cells, size_t stride,
                   uint8_t* out) const;
  // The largest number whose code is at most `bin`: rows up to it are those of bins up to `bin`.
  float threshold(int bin) const;

 private:
  // Monotone in the value.
  int cell(float value) const {
    const float position = (value - low_) * scale_;
    return static_cast<int>(std::min(std::max(position, 0.0f), static_cast<float>(kCells - 1)));
  }

  float low_ = 0.0f, high_ = 0.0f, scale_ = 0.0f;
  int n_bins_ = 1;
  std::array<uint8_t, kCells> code_{};
};

}  // namespace bevel
