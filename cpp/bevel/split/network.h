// Sorting networks (Batcher's odd-even merge sort) as lists of comparators, one for each length.
#pragma once

#include <cstddef>
#include <vector>

#include "bevel/split/kernels.h"

namespace bevel {

// Comparators that sort n values, 1 <= n <= kMaxNetworkRows; built once, then shared.
const std::vector<Comparator>& sorting_network(size_t n);

}  // namespace bevel
