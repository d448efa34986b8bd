// Bags of several trees in one bit for each row: all that out-of-bag predictions need of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bevel/options.h"

namespace bevel {

struct BagBits {
  const uint8_t* bits;  // n_trees x bytes_per_tree
  size_t bytes_per_tree;

  static size_t bytes_for(size_t n_rows) { return (n_rows + 7) / 8; }
  bool has(size_t tree, size_t row) const {
    return (bits[tree * bytes_per_tree + row / 8] >> (row % 8)) & 1u;
  }
  size_t n_distinct(size_t tree) const;
};

// Writes the bits of the trees first_tree, first_tree + 1, ...; out: n_trees x bytes_for(n_rows).
void draw_bag_bits(const Options& options, size_t n_rows, uint64_t first_tree, size_t n_trees,
                   const double* weights, int n_threads, uint8_t* out);

}  // namespace bevel
