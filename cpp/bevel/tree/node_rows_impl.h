// Definitions of TreeBuilder: the rows of a node go to its children, and may be copied together.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bevel/tree/column_use.h"
#include "bevel/tree/tree_builder.h"

namespace bevel {

namespace growing {

// Blocks that subtrees are copied into: a share of the outer cache, then of the inner one.
constexpr size_t kBlockBytes[kBlockLevels] = {kCacheBytes, size_t{384} << 10};
// A block whose columns are partitioned at every split: rows stay together, so it may be larger.
constexpr size_t kDenseBlockBytes = size_t{16} << 20;
constexpr size_t kMinBlockRows = 64;
// For fewer rows the columns of a dense block are not partitioned, and rows are listed.
constexpr size_t kMinDenseRows = 32;

inline Candidates as_candidate(const SplitRecord& split) {
  Candidates only;
  for (size_t k = 0; k < split.index.size(); ++k)
    only.add_entry(split.index[k], split.coefficient[k]);
  only.close();
  return only;
}

}  // namespace growing

// 1 where a row goes left.
template <class Criterion>
void TreeBuilder<Criterion>::find_sides(const SplitRecord& split, const float* values, size_t n,
                                        uint8_t* goes_left) const {
  if (!split.is_category())
    return kernels_.sides(values, n, split.threshold, split.flags & kMissingLeft, goes_left);
  for (size_t i = 0; i < n; ++i) {
    const auto level = static_cast<size_t>(values[i]);
    goes_left[i] = (split.level_bits[level / 32] >> (level % 32)) & 1u;
  }
}

template <class Criterion>
const float* TreeBuilder<Criterion>::project(const NodeItem& item, const SplitRecord& split,
                                             Workspace<Criterion>& w) {
  if (w.values.size() < item.end - item.start) w.values.resize(item.end - item.start);
  return w.finder.project(0, view(item, w), growing::as_candidate(split), w.values.data());
}

// Stable, so that rows stay ascending:  [l r l l r]  ->  [l l l | r r]. In a dense block the
// columns are partitioned, and the list of rows continues to count 0, 1, 2, ...
template <class Criterion>
size_t TreeBuilder<Criterion>::partition(const NodeItem& item, const SplitRecord& split,
                                         const float* values, Workspace<Criterion>& w) {
  constexpr size_t kSpare = 16;  // kernels store whole registers
  const size_t n = item.end - item.start;
  uint32_t* rows = tree_->rows.data() + item.start;
  auto* stats = tree_->stats.data() + item.start;
  if (w.column.size() < n + kSpare) {
    w.goes_left.resize(n + kSpare);
    w.column.resize(n + kSpare);
    w.rows.resize(n + kSpare);
    w.stats.resize(n + kSpare);
  }
  uint8_t* goes_left = w.goes_left.data();
  find_sides(split, values, n, goes_left);
  if (item.dense && n >= growing::kMinDenseRows) {
    Block& block = w.blocks[item.level - 1];
    for (int32_t c : tree_->used)
      kernels_.partition_floats(block.columns[c] + rows[0], n, goes_left, w.column.data());
    kernels_.partition_rows(block.data_rows.data() + rows[0], n, goes_left, w.rows.data());
  } else {
    kernels_.partition_rows(rows, n, goes_left, w.rows.data());
  }
  return item.start + partition_stably(stats, n, goes_left, w.stats.data());
}

template <class Criterion>
void TreeBuilder<Criterion>::split_out_of_bag_rows(const NodeItem& item, const SplitRecord& split,
                                                   Workspace<Criterion>& w, NodeItem& left,
                                                   NodeItem& right) {
  if (tree_->out_of_bag.empty()) return;
  left.inherited = right.inherited = split.inherited;
  left.out_start = left.out_end = item.out_start;
  right.out_start = right.out_end = item.out_end;
  const size_t n = item.out_end - item.out_start;
  if (n == 0) return;
  constexpr size_t kSpare = 16;  // kernels store whole registers
  if (w.out_values.size() < n + kSpare) {
    w.out_values.resize(n + kSpare);
    w.out_rows.resize(n + kSpare);
    w.out_sides.resize(n + kSpare);
  }
  uint32_t* rows = tree_->out_of_bag.data() + item.out_start;
  w.finder.project(0, {tree_->columns.data(), rows, n, item.key}, growing::as_candidate(split),
                   w.out_values.data());
  find_sides(split, w.out_values.data(), n, w.out_sides.data());
  kernels_.partition_rows(rows, n, w.out_sides.data(), w.out_rows.data());
  size_t n_left = 0;
  for (size_t i = 0; i < n; ++i) n_left += w.out_sides[i];
  left.out_end = right.out_start = item.out_start + n_left;
}

template <class Criterion>
void TreeBuilder<Criterion>::close_groups(const NodeItem& item, const SplitRecord& split,
                                          NodeItem& left, NodeItem& right) const {
  if (!constraints_.has_groups()) return;
  const auto own = constraints_.groups_of(split.index.data(), static_cast<int>(split.index.size()));
  left.open = right.open = constraints_.after(item.open, own);
}

// Copies the rows of a subtree together once they fit in a cache, if it reads them often enough.
template <class Criterion>
void TreeBuilder<Criterion>::compact(NodeItem& item, Workspace<Criterion>& w) {
  const size_t n = item.end - item.start;
  if (item.dense || item.level >= kBlockLevels || n < growing::kMinBlockRows) return;
  const size_t n_columns = tree_->used.size();
  const size_t bytes = n * n_columns * sizeof(float);
  // Partitioning all columns pays when most of them are read at every node anyway.
  const bool dense = item.level == 0 && 2 * touched_per_node_ >= n_columns;
  int level = item.level;
  if (dense) {
    if (bytes <= growing::kDenseBlockBytes) level = 1;
  } else {
    if (!worth_copying(touched_per_node_, n, n_columns)) return;
    while (level < kBlockLevels && bytes <= growing::kBlockBytes[level]) ++level;
  }
  if (level == item.level) return;
  uint32_t* rows = tree_->rows.data() + item.start;
  const float* const* from = columns(item.level, w);
  const auto* from_rows = data_rows(item.level, w);
  Block& block = w.blocks[level - 1];
  block.values.resize(n * n_columns);
  block.columns.assign(tree_->columns.size(), nullptr);
  for (size_t c = 0; c < n_columns; ++c) {
    const float* source = from[tree_->used[c]];
    float* target = block.values.data() + c * n;
    for (size_t i = 0; i < n; ++i) target[i] = source[rows[i]];
    block.columns[tree_->used[c]] = target;
  }
  std::vector<uint32_t> rows_of_data(n);
  for (size_t i = 0; i < n; ++i) {
    rows_of_data[i] = from_rows ? (*from_rows)[rows[i]] : rows[i];
    rows[i] = static_cast<uint32_t>(i);
  }
  block.data_rows = std::move(rows_of_data);
  item.level = level;
  item.dense = dense;
}

}  // namespace bevel
