// What a cut of a nominal column of many levels gains by chance.
//
// The levels of a target that does not depend on them can be put in an order along which it falls,
// so that a subset of k levels always gains: with k rows of k levels, everything. That gain is
// measured on shuffled rows, and subtracted.
#pragma once

#include <cmath>
#include <cstddef>

namespace bevel {

// The best cut of that many levels gains about as much by chance as the best cut of a number does.
constexpr size_t kFewLevels = 8;

// The multiple of the gain on shuffled rows that is subtracted: two and a half of its standard
// deviations, which are about 1.1 / sqrt(k) of it, are added; what a number gains as well is not
// subtracted.
inline double chance_share(size_t n_levels) {
  const auto k = static_cast<double>(n_levels);
  return (1.0 + 2.8 / std::sqrt(k)) * (1.0 - static_cast<double>(kFewLevels) / k);
}

}  // namespace bevel
