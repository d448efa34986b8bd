#include "bevel/analysis/neighbours.h"

#include <algorithm>
#include <limits>

#include "bevel/predict/parallel_rows.h"

namespace bevel {
namespace {

// Weights of one row at a time: a cell for each training row, and a list of the cells in use.
class Weights {
 public:
  explicit Weights(size_t n_rows) : weight_(n_rows, 0.0) {}

  // Adds up trees in order, so that sums are reproducible. leaves: of the row, by tree.
  void collect(const ForestArrays& forest, const LeafRows& leaf_rows, const int32_t* leaves,
               const uint8_t* trees) {
    clear();
    for (size_t tree = 0; tree < forest.n_trees(); ++tree) {
      if (trees && !trees[tree]) continue;
      ++n_trees_;
      const auto node = static_cast<size_t>(forest.tree_offset[tree] + leaves[tree]);
      add_leaf(leaf_rows, leaf_rows.offset[node], leaf_rows.offset[node + 1]);
    }
    sort_used();
  }
  const std::vector<int32_t>& used() const { return used_; }
  double operator[](int32_t row) const { return weight_[row] / n_trees_; }

 private:
  void clear() {
    for (int32_t row : used_) weight_[row] = 0.0;
    used_.clear();
    n_trees_ = 0;
  }
  void add_leaf(const LeafRows& leaf_rows, int64_t first, int64_t last) {
    poll_cancellation(static_cast<size_t>(last - first));
    if (leaf_rows.weight.empty()) {
      const double share = 1.0 / static_cast<double>(last - first);
      for (int64_t i = first; i < last; ++i) add(leaf_rows.row[i], share);
      return;
    }
    double total = 0.0;
    for (int64_t i = first; i < last; ++i) total += leaf_rows.weight[i];
    for (int64_t i = first; i < last; ++i) add(leaf_rows.row[i], leaf_rows.weight[i] / total);
  }
  // Scans all cells if they are many, which is faster than sorting.
  void sort_used() {
    constexpr size_t kMany = 16;  // share of used cells above which a scan is faster
    poll_cancellation(used_.size() * kMany);
    if (used_.size() * kMany < weight_.size()) return std::sort(used_.begin(), used_.end());
    size_t n = 0;
    used_.push_back(0);  // room for a write after the last one
    for (size_t row = 0; row < weight_.size(); ++row) {
      used_[n] = static_cast<int32_t>(row);
      n += weight_[row] > 0.0;  // avoids a branch that would be mispredicted
    }
    used_.resize(n);
  }
  void add(int32_t row, double share) {
    if (weight_[row] == 0.0 && share > 0.0) used_.push_back(row);
    weight_[row] += share;
  }

  std::vector<double> weight_;
  std::vector<int32_t> used_;
  int n_trees_ = 0;
};

// Runs work(row number, weights) for each row.
template <class Work>
void over_weights(const ForestArrays& forest, const RowMatrix& rows, const LeafRows& leaf_rows,
                  TreesOfRow trees, int n_threads, Work work) {
  // All leaves first, so that many rows use a tree while it is in the caches.
  const size_t n_trees = forest.n_trees();
  std::vector<int32_t> leaves(rows.n_rows * n_trees);
  apply(forest, rows, n_threads, leaves.data());
  parallel_rows(n_trees, rows.n_rows, n_threads, [&](size_t first, size_t last) {
    Weights weights(leaf_rows.n_rows);
    for (size_t r = first; r < last; ++r) {
      weights.collect(forest, leaf_rows, leaves.data() + r * n_trees,
                      trees ? trees + r * n_trees : nullptr);
      work(r, weights);
    }
  });
}

// Sums of weights may fall short of a level by this much due to rounding.
constexpr double kSlack = 1e-12;

void find_quantiles(const Weights& weights, std::span<const double> targets,
                    std::span<const double> levels, double* out) {
  const std::vector<int32_t>& used = weights.used();
  if (used.empty()) {
    std::fill_n(out, levels.size(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  size_t k = 0;
  double sum = weights[used[0]];
  for (size_t level = 0; level < levels.size(); ++level) {
    while (sum < levels[level] - kSlack && k + 1 < used.size()) sum += weights[used[++k]];
    out[level] = targets[used[k]];
  }
}

}  // namespace

SparseRows neighbour_weights(const ForestArrays& forest, const RowMatrix& rows,
                             const LeafRows& leaf_rows, TreesOfRow trees, int n_threads) {
  std::vector<std::vector<int32_t>> columns(rows.n_rows);
  std::vector<std::vector<double>> values(rows.n_rows);
  over_weights(forest, rows, leaf_rows, trees, n_threads, [&](size_t r, const Weights& weights) {
    columns[r] = weights.used();
    for (int32_t row : columns[r]) values[r].push_back(weights[row]);
  });
  SparseRows result;
  result.offset.push_back(0);
  for (size_t r = 0; r < rows.n_rows; ++r) {
    poll_cancellation(columns[r].size());
    result.column.insert(result.column.end(), columns[r].begin(), columns[r].end());
    result.value.insert(result.value.end(), values[r].begin(), values[r].end());
    result.offset.push_back(static_cast<int64_t>(result.column.size()));
  }
  return result;
}

void neighbour_quantiles(const ForestArrays& forest, const RowMatrix& rows,
                         const LeafRows& leaf_rows, std::span<const double> targets,
                         std::span<const double> levels, TreesOfRow trees, int n_threads,
                         double* out) {
  over_weights(forest, rows, leaf_rows, trees, n_threads, [&](size_t r, const Weights& weights) {
    find_quantiles(weights, targets, levels, out + r * levels.size());
  });
}

}  // namespace bevel
