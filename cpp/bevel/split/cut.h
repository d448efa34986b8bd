// The best cut found so far, in a total order that does not depend on the order of the search.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bevel/split/kernels/kernels.h"

namespace bevel {

// Equal-width bins over the values of some rows; see bin().
struct Binning {
  float low = 0.0f, scale = 0.0f;
  int n_bins = 0;

  // False when the values are all equal or the width of a bin is not a number.
  static bool make(ValueRange range, int n_bins, Binning& out) {
    const float scale = static_cast<float>(n_bins) / (range.high - range.low);
    out = {range.low, scale, n_bins};
    return range.low < range.high && scale > 0.0f && std::isfinite(scale);
  }
  int operator()(float value) const { return bin(value, low, scale, n_bins - 1); }
};

struct Cut {
  double score = -std::numeric_limits<double>::infinity();
  int32_t candidate = -1;
  bool missing_left = false;  // single features with NaN in the node
  bool has_missing = false;
  double weight_left = 0.0;
  double beyond_chance = 1.0;     // share of the gain that levels do not have by chance
  float low = 0.0f, high = 0.0f;  // the projected values on either side of the cut
  int edge = -1;                  // a cut after this bin, whose neighbours are not known yet
  Binning binning;

  bool found() const { return candidate >= 0; }
  // Finds the neighbours of an edge among the projected values of the node.
  void find_neighbours(const Kernels& kernels, const float* values, size_t n) {
    if (edge < 0) return;
    const ValueRange sides = kernels.neighbours(values, n, binning.low, binning.scale, edge);
    low = sides.low;
    high = sides.high;
    edge = -1;
  }
  // Left means <=. If the midpoint rounds onto the right neighbour, the left one is used.
  float threshold() const {
    const auto middle = static_cast<float>((static_cast<double>(low) + high) * 0.5);
    return middle < high ? middle : low;
  }
};

// Higher score; then lowest candidate, missing to the right, lowest threshold.
inline bool beats(const Cut& a, const Cut& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.candidate != b.candidate) return a.found() && (!b.found() || a.candidate < b.candidate);
  if (a.missing_left != b.missing_left) return b.missing_left;
  return a.weight_left < b.weight_left;
}

// A set of nominal levels.
class LevelSet {
 public:
  void reset(int32_t n_levels) { words_.assign((static_cast<size_t>(n_levels) + 31) / 32, 0); }
  void insert(int32_t level) { words_[static_cast<size_t>(level) / 32] |= 1u << (level % 32); }
  bool contains(int32_t level) const {
    return (words_[static_cast<size_t>(level) / 32] >> (level % 32)) & 1u;
  }
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  std::vector<uint32_t> words_;
};

}  // namespace bevel
