#include "bevel/forest/bag_bits.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "bevel/forest/bag.h"
#include "bevel/support/thread_pool.h"

namespace bevel {

size_t BagBits::n_distinct(size_t tree) const {
  const uint8_t* own = bits + tree * bytes_per_tree;
  size_t n = 0;
  for (size_t i = 0; i < bytes_per_tree; ++i) n += static_cast<size_t>(std::popcount(own[i]));
  return n;
}

void draw_bag_bits(const Options& options, size_t n_rows, uint64_t first_tree, size_t n_trees,
                   const double* weights, int n_threads, uint8_t* out) {
  const size_t n_bytes = BagBits::bytes_for(n_rows);
  ThreadPool pool(n_threads, n_trees, [&](int, size_t tree) {
    const std::vector<int32_t> bag = draw_bag(options, n_rows, first_tree + tree, weights);
    uint8_t* own = out + tree * n_bytes;
    std::fill(own, own + n_bytes, uint8_t{0});
    for (size_t row = 0; row < n_rows; ++row)
      if (bag[row] > 0) own[row / 8] = static_cast<uint8_t>(own[row / 8] | (1u << (row % 8)));
  });
  pool.run();
}

}  // namespace bevel
