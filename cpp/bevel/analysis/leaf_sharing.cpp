#include "bevel/analysis/leaf_sharing.h"

#include <algorithm>
#include <bit>

#include "bevel/support/check.h"
#include "bevel/support/thread_pool.h"

namespace bevel {

// A row that shares leaves with the query.
struct SharingRow {
  int32_t row, n_together, n_trees;
};

namespace {

constexpr size_t kBlockRows = 64;

std::vector<uint64_t> counted_trees(const LeafMatrix& rows, size_t n_words) {
  std::vector<uint64_t> bits(rows.n_rows * n_words, 0);
  for (size_t i = 0; i < rows.n_rows; ++i) {
    poll_cancellation(rows.n_trees);
    for (size_t t = 0; t < rows.n_trees; ++t)
      if (rows.leaves[i * rows.n_trees + t] >= 0)
        bits[i * n_words + t / 64] |= uint64_t{1} << (t % 64);
  }
  return bits;
}

int32_t common_bits(const uint64_t* one, const uint64_t* other, size_t n_words) {
  int32_t n = 0;
  for (size_t w = 0; w < n_words; ++w) n += std::popcount(one[w] & other[w]);
  return n;
}

// In whole numbers, so that equal proximities are equal.
bool is_nearer(const SharingRow& a, const SharingRow& b) {
  const int64_t left = static_cast<int64_t>(a.n_together) * b.n_trees;
  const int64_t right = static_cast<int64_t>(b.n_together) * a.n_trees;
  return left != right ? left > right : a.row < b.row;
}

bool comes_first(const SharingRow& a, const SharingRow& b) { return a.row < b.row; }

SparseRows joined(const std::vector<SparseRows>& blocks) {
  SparseRows all;
  all.offset.push_back(0);
  size_t n_entries = 0;
  for (const SparseRows& block : blocks) n_entries += block.column.size();
  all.column.reserve(n_entries);
  all.value.reserve(n_entries);
  for (const SparseRows& block : blocks) {
    const int64_t before = all.offset.back();
    for (const int64_t end : block.offset) all.offset.push_back(before + end);
    all.column.insert(all.column.end(), block.column.begin(), block.column.end());
    all.value.insert(all.value.end(), block.value.begin(), block.value.end());
  }
  return all;
}

}  // namespace

// Scratch memory of one thread: finds the rows of one query after another.
class LeafSharing::Counter {
 public:
  explicit Counter(const LeafSharing& table) : table_(table), n_together_(table.n_rows_, 0) {}

  // own: the query's row in the table, or negative.
  void find(const int32_t* leaves, const uint64_t* counted, int64_t own, size_t k) {
    found_.clear();
    for (size_t t = 0; t < table_.n_trees_; ++t)
      if (leaves[t] >= 0) add_leaf(static_cast<size_t>(table_.tree_offset_[t] + leaves[t]), own);
    for (SharingRow& other : found_) {
      const auto row = static_cast<size_t>(other.row);
      other.n_together = n_together_[row];
      n_together_[row] = 0;
      other.n_trees =
          common_bits(counted, &table_.counted_[row * table_.n_words_], table_.n_words_);
    }
    if (found_.size() > k) {
      std::nth_element(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(k),
                       found_.end(), is_nearer);
      found_.resize(k);
    }
    if (own >= 0) found_.push_back({static_cast<int32_t>(own), 1, 1});
    std::sort(found_.begin(), found_.end(), comes_first);
  }

  void write_to(SparseRows& out) const {
    for (const SharingRow& other : found_) {
      out.column.push_back(other.row);
      out.value.push_back(static_cast<double>(other.n_together) / other.n_trees);
    }
    out.offset.push_back(static_cast<int64_t>(out.column.size()));
  }

 private:
  void add_leaf(size_t node, int64_t own) {
    const int64_t first = table_.first_[node], last = table_.first_[node + 1];
    poll_cancellation(static_cast<size_t>(last - first));
    for (int64_t r = first; r < last; ++r) {
      const int32_t row = table_.rows_[static_cast<size_t>(r)];
      if (row == own) continue;
      if (n_together_[static_cast<size_t>(row)]++ == 0) found_.push_back({row, 0, 0});
    }
  }

  const LeafSharing& table_;
  std::vector<int32_t> n_together_;  // zero between queries
  std::vector<SharingRow> found_;
};

LeafSharing::LeafSharing(const LeafMatrix& rows, std::span<const int64_t> tree_offset)
    : n_rows_(rows.n_rows),
      n_trees_(rows.n_trees),
      n_words_((rows.n_trees + 63) / 64),
      tree_offset_(tree_offset.begin(), tree_offset.end()),
      counted_(counted_trees(rows, n_words_)) {
  require(tree_offset.size() == n_trees_ + 1, "[LeafSharing] one offset for each tree and the end");
  first_.assign(static_cast<size_t>(tree_offset.back()) + 1, 0);
  for (size_t t = 0; t < n_trees_; ++t) list_rows(rows, t);
}

void LeafSharing::list_rows(const LeafMatrix& rows, size_t tree) {
  poll_cancellation();
  const int64_t n_nodes = tree_offset_[tree + 1] - tree_offset_[tree];
  // first_[node] of this tree's first node is the end of the trees before; then a counting sort.
  int64_t* end = &first_[static_cast<size_t>(tree_offset_[tree]) + 1];
  for (size_t i = 0; i < n_rows_; ++i) {
    const int32_t leaf = rows.leaves[i * n_trees_ + tree];
    require(leaf < n_nodes, "[LeafSharing] a leaf is outside its tree");
    if (leaf >= 0) ++end[leaf];
  }
  std::vector<int64_t> next(static_cast<size_t>(n_nodes));
  int64_t sum = static_cast<int64_t>(rows_.size());
  for (int64_t node = 0; node < n_nodes; ++node) {
    next[static_cast<size_t>(node)] = sum;
    sum += end[node];
    end[node] = sum;
  }
  rows_.resize(static_cast<size_t>(sum));
  for (size_t i = 0; i < n_rows_; ++i) {
    const int32_t leaf = rows.leaves[i * n_trees_ + tree];
    if (leaf >= 0)
      rows_[static_cast<size_t>(next[static_cast<size_t>(leaf)]++)] = static_cast<int32_t>(i);
  }
}

SparseRows LeafSharing::nearest(const LeafMatrix& queries, int64_t first_own, size_t k,
                                int n_threads) const {
  require(queries.n_trees == n_trees_, "[LeafSharing] wrong number of trees");
  require(first_own < 0 || static_cast<size_t>(first_own) + queries.n_rows <= n_rows_,
          "[LeafSharing] the queries are not rows of the table");
  for (size_t i = 0; i < queries.n_rows; ++i)
    for (size_t t = 0; t < n_trees_; ++t)
      require(queries.leaves[i * n_trees_ + t] < tree_offset_[t + 1] - tree_offset_[t],
              "[LeafSharing] a leaf is outside its tree");
  const std::vector<uint64_t> counted = counted_trees(queries, n_words_);
  const size_t n_blocks = (queries.n_rows + kBlockRows - 1) / kBlockRows;
  std::vector<SparseRows> blocks(n_blocks);
  std::vector<Counter> counters;
  ThreadPool pool(n_threads, n_blocks, [&](int worker, size_t block) {
    const size_t last = std::min(queries.n_rows, (block + 1) * kBlockRows);
    for (size_t q = block * kBlockRows; q < last; ++q) {
      Counter& counter = counters[static_cast<size_t>(worker)];
      counter.find(queries.leaves + q * n_trees_, &counted[q * n_words_],
                   first_own < 0 ? -1 : first_own + static_cast<int64_t>(q), k);
      counter.write_to(blocks[block]);
    }
  });
  for (int worker = 0; worker < pool.size(); ++worker) counters.emplace_back(*this);
  pool.run();
  return joined(blocks);
}

}  // namespace bevel
