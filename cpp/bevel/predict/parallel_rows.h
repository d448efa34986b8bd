// Division of the rows of a prediction among threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "bevel/support/arithmetic/float_environment.h"
#include "bevel/support/thread_pool.h"

namespace bevel {

// Calls work(first, last) for blocks of rows; uses threads only for enough work. Work polls
// for cancellation tree by tree, which bounds the rows of a block.
template <class Work>
void parallel_rows(size_t n_trees, size_t n_rows, int n_threads, Work work) {
  constexpr size_t kBlockRows = 256, kMaxRows = 4096;
  constexpr size_t kRowsTimesTrees = 20000;
  if (n_threads <= 1 || n_rows * n_trees < kRowsTimesTrees) {
    const PlainArithmetic arithmetic;
    for (size_t first = 0; first < n_rows; first += kMaxRows)
      work(first, std::min(n_rows, first + kMaxRows));
    return;
  }
  const size_t n_blocks = (n_rows + kBlockRows - 1) / kBlockRows;
  ThreadPool pool(n_threads, n_blocks, [&](int, size_t block) {
    work(block * kBlockRows, std::min(n_rows, (block + 1) * kBlockRows));
  });
  pool.run();
}

}  // namespace bevel
