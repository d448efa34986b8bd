// Partitions the rows of a node into those that go left and those that go right, on all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/row_statistics.h"
#include "bevel/boosting/team.h"
#include "bevel/boosting/tree_columns.h"

namespace bevel {

// Decides the side of a row by its code in a column.
struct RowTest {
  const uint8_t* codes;      // code of row r at [r * kGroupColumns]; null: sparse
  const uint8_t* goes_left;  // 0 or 1 by code
  bool prefetch;             // the codes do not fit in the caches
  const TreeColumns* sparse = nullptr;
  size_t column = 0;  // of the sparse columns
};

class RowPartition {
 public:
  explicit RowPartition(Team& team) : team_(team) {}

  // Stable:  [l r l l r]  ->  [l l l | r r], with the statistics of the rows, if there are
  // any. Returns how many go left.
  size_t run(const RowTest& test, std::span<uint32_t> rows, std::span<PackedSum> stats);
  // Moves further statistics of the rows of the last run, of which n_left went left.
  void move_too(std::span<PackedSum> stats, size_t n_left) { move(stats, n_left); }

 private:
  // Moves values to their sides through the buffer.
  template <class T>
  void move(std::span<T> values, size_t n_left);

  Team& team_;
  std::vector<uint8_t> goes_left_;    // by row
  std::vector<size_t> lefts_before_;  // by block of rows
  std::vector<std::byte> buffer_;
};

}  // namespace bevel
