// Rows that share leaves, and in how many of the trees that count for both, for
// proximities. Pairs of rows are found through the lists of their leaves, never by
// comparing all pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/sparse_rows.h"

namespace bevel {

// Leaves of rows: n_rows x n_trees, row-major, nodes counted from the tree's first; negative where
// a row does not count in a tree.
struct LeafMatrix {
  const int32_t* leaves;
  size_t n_rows, n_trees;
};

class LeafSharing {
 public:
  // tree_offset: first node of each tree, n_trees + 1 of them.
  LeafSharing(const LeafMatrix& rows, std::span<const int64_t> tree_offset);

  // Proximity of each query to the rows it shares a leaf with: the share, of the trees in which
  // both count, where both are in one leaf. At most the k nearest rows for each query; ties go to
  // the first. Query q is row first_own + q itself if first_own is not negative: then it is
  // included with proximity 1, in addition to its k.
  SparseRows nearest(const LeafMatrix& queries, int64_t first_own, size_t k, int n_threads) const;

 private:
  class Counter;

  void list_rows(const LeafMatrix& rows, size_t tree);

  size_t n_rows_, n_trees_, n_words_;
  std::vector<int64_t> tree_offset_;
  // Rows of a leaf: rows_[first_[node]] to rows_[first_[node + 1] - 1], node counted over all
  // trees.
  std::vector<int64_t> first_;
  std::vector<int32_t> rows_;
  std::vector<uint64_t> counted_;  // n_rows x n_words: bit t is set if the row counts in tree t
};

}  // namespace bevel
