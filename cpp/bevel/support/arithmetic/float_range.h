// The range in which sums in float32 stay finite.
#pragma once

namespace bevel {

// A sum of up to ten million products whose sizes add up to less than this is finite, and so are
// all its parts: rounding adds less than the rest of the range.
constexpr double kMaxSum = 1e38;

}  // namespace bevel
