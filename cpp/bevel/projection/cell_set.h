// A set of numbers that is cheap to empty.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/support/cancellable_fill.h"

namespace bevel {

// Numbers below 2^40, each at most once. Emptying it costs nothing: entries carry the epoch.
class CellSet {
 public:
  void begin(size_t n_expected) {
    // At most a quarter full; a large one half full, since memory access dominates its cost.
    const size_t spare = n_expected < (size_t{1} << 20) ? 4 : 2;
    const size_t size = std::bit_ceil(spare * n_expected + 8);
    if (size > slots_.size()) fill_with_zeros(slots_, size);
    if (++epoch_ == (uint64_t{1} << 24)) {
      std::fill(slots_.begin(), slots_.end(), 0);
      epoch_ = 1;
    }
  }
  bool contains(uint64_t cell) const { return slots_[find(cell)] == tag(cell); }
  // False if the number was present already.
  bool insert(uint64_t cell) {
    const size_t slot = find(cell);
    if (slots_[slot] == tag(cell)) return false;
    slots_[slot] = tag(cell);
    return true;
  }

 private:
  uint64_t tag(uint64_t cell) const { return epoch_ << 40 | cell; }
  // Slot of a number, or the free one for it.
  size_t find(uint64_t cell) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = (cell * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (slots_[slot] >> 40 == epoch_ && slots_[slot] != tag(cell)) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<uint64_t> slots_;
  uint64_t epoch_ = 0;
};

}  // namespace bevel
