// Floats as integers that have the same order.
#pragma once

#include <bit>
#include <cstdint>

namespace bevel {

// Order of floats as order of unsigned integers.
inline uint32_t sortable(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
}
inline float from_sortable(uint32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31) ? 0x80000000u : 0xffffffffu));
}

}  // namespace bevel
