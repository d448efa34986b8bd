// Finds the splits of a forest that read features whose values are left open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bevel/predict/packed_forest.h"

namespace bevel {

struct OpenSplit {
  static constexpr uint8_t kFirst = 1, kSecond = 2;  // reads the first or second open feature
  // Levels of a nominal feature, or a feature read twice: the projected value of other splits rises
  // or falls with each open feature, as rounded sums and products do like exact ones.
  static constexpr uint8_t kErratic = 4;
  // Reads one open feature and nothing else: `cut` holds for all rows. Points of its axis before it
  // go to the left child, or to the right one if the slope is negative.
  static constexpr uint8_t kAlone = 8;

  uint8_t flags = 0;
  uint16_t cut = 0;
  float slope[2] = {0.0f, 0.0f};  // of the projected value, in each open feature
  // Bound on the difference of projected values from exact arithmetic on the same numbers.
  float slack = 0.0f;

  // The axis of the grid that a split reads, the first if it reads both.
  int axis() const { return flags & kFirst ? 0 : 1; }
};

// Open splits by number of the split. `largest`: bound on the values that splits read; splits whose
// sums might overflow are erratic. All features count as the first one if there are more than two.
std::vector<OpenSplit> find_open_splits(const PackedForest& forest, std::span<const int32_t> open,
                                        float largest);

}  // namespace bevel
