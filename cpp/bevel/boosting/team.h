// The threads of a pool, working on one job together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "bevel/support/thread_pool.h"

namespace bevel {

// Rows that a thread works on at a time.
constexpr size_t kBlockRows = 1 << 14;

class Team {
 public:
  Team(ThreadPool& pool, int worker) : pool_(pool), worker_(worker) {}

  int size() const { return pool_.size(); }
  void throw_if_cancelled() const { pool_.throw_if_cancelled(); }
  // Calls task(0) .. task(n - 1), on several threads if `parallel`, and returns when all are
  // done. Tasks are taken in order; results must not depend on the thread.
  template <class Task>
  void run(size_t n, bool parallel, Task task) {
    pool_.throw_if_cancelled();
    if (n < 2 || !parallel || pool_.size() == 1) {
      for (size_t i = 0; i < n; ++i) task(i);
      return;
    }
    std::atomic<size_t> next{0};
    auto work = [&](int) {
      for (size_t i = next++; i < n; i = next++) task(i);
    };
    Parts parts(pool_);
    const size_t n_helpers = std::min(n, static_cast<size_t>(pool_.size())) - 1;
    for (size_t h = 0; h < n_helpers; ++h) parts.offer(work);
    work(worker_);
    parts.wait(worker_, false);
  }
  // Calls task(first, last) for blocks of about `size` rows. Blocks do not depend on the
  // number of threads.
  template <class Task>
  void run_blocks(size_t n_rows, size_t size, Task task) {
    const size_t n_blocks = (n_rows + size - 1) / size;
    run(n_blocks, n_blocks > 1,
        [&](size_t block) { task(block * size, std::min(n_rows, (block + 1) * size)); });
  }

 private:
  ThreadPool& pool_;
  int worker_;
};

}  // namespace bevel
