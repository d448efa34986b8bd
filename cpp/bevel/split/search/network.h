// Sorting networks (Batcher's odd-even merge sort) as lists of comparators, one for each length.
#pragma once

#include <cstddef>
#include <vector>

#include "bevel/split/kernels/kernels.h"

namespace bevel {

// Length of the network for n values: beyond 64 only multiples of 16 are kept.
inline size_t network_length(size_t n) { return n <= 64 ? n : (n + 15) / 16 * 16; }

// Comparators that sort network_length(n) values, 1 <= n <= kMaxNetworkRows; built once, then
// shared.
const std::vector<Comparator>& sorting_network(size_t n);

}  // namespace bevel
