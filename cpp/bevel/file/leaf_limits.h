// Limits on the leaves of an untrusted forest, so that every prediction is finite and
// probabilities sum to one, whether all of a file is checked or only the leaves that rows reach.
#pragma once

#include <cmath>

namespace bevel {

// Targets are at most 1e60 in size when a forest is fitted. Sums over trees and fourth powers of
// leaf values, times any weight and number of rows, are finite.
inline constexpr double kMaxLeafValue = 1e65;
// Shares are rounded quotients of rounded sums.
inline constexpr float kMaxShare = 1.0f + 1e-5f;
inline constexpr double kSharesSlack = 1e-4;

// Each of these functions is false for NaN.
inline bool is_leaf_value(double value) { return std::abs(value) <= kMaxLeafValue; }
inline bool is_share(float share) { return share >= 0.0f && share <= kMaxShare; }
inline bool is_sum_of_shares(double sum) { return std::abs(sum - 1.0) <= kSharesSlack; }

}  // namespace bevel
