// Exact search by sorting: the definition of the best cut, and the fallback of the faster routes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bevel/split/search/search_context.h"
#include "bevel/support/arithmetic/sortable.h"

namespace bevel {

// Sorts (value, position) pairs; one per thread.
class Sorter {
 public:
  // keys[i] = sortable(value) << 32 | position, ascending; equal values by position.
  const std::vector<uint64_t>& sort(const float* values, size_t n) {
    keys_.resize(n);
    for (size_t i = 0; i < n; ++i)
      keys_[i] = static_cast<uint64_t>(sortable(values[i])) << 32 | static_cast<uint32_t>(i);
    if (n < kRadixRows) {
      std::sort(keys_.begin(), keys_.end());
    } else if (n < kWideRadixRows) {
      for (int shift = 32; shift < 64; shift += 16) {
        radix_pass<256>(shift, keys_, other_);
        radix_pass<256>(shift + 8, other_, keys_);
      }
    } else {
      radix_pass<2048>(32, keys_, other_);
      radix_pass<2048>(43, other_, keys_);
      radix_pass<2048>(54, keys_, other_);
      keys_.swap(other_);
    }
    return keys_;
  }

 private:
  static constexpr size_t kRadixRows = 128;
  static constexpr size_t kWideRadixRows = 4096;

  template <size_t kBuckets>
  static void radix_pass(int shift, const std::vector<uint64_t>& from, std::vector<uint64_t>& to) {
    uint32_t offset[kBuckets] = {};
    for (uint64_t key : from) ++offset[(key >> shift) % kBuckets];
    uint32_t sum = 0;
    for (uint32_t& o : offset) {
      const uint32_t count = o;
      o = sum;
      sum += count;
    }
    to.resize(from.size());
    for (uint64_t key : from) to[offset[(key >> shift) % kBuckets]++] = key;
  }

  std::vector<uint64_t> keys_, other_;
};

// Offers every cut between different neighbours. The accumulator already holds the rows left of all
// of them (rows_before rows), and stats is in the order of positions.
template <class Accumulator, class RowStats>
void scan_sorted(const std::vector<uint64_t>& keys, const RowStats* stats, Accumulator& left,
                 size_t rows_before, const SearchContext& context) {
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    left.add(stats[static_cast<uint32_t>(keys[i])]);
    const auto here = static_cast<uint32_t>(keys[i] >> 32);
    const auto next = static_cast<uint32_t>(keys[i + 1] >> 32);
    if (here == next) continue;
    const double score = left.score();
    if (score >= context.best->score)
      context.offer(score, rows_before + i + 1, left.weight(), from_sortable(here),
                    from_sortable(next));
  }
}

}  // namespace bevel
