#include "bevel/predict/pruned_out_of_bag.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "bevel/predict/whole_sums.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// One tree whose nodes can be leaves: their means are computed when a row first ends in them.
class PrunedTree {
 public:
  PrunedTree(const ForestArrays& forest, const PruningRequest& request, size_t tree,
             size_t n_bag_rows)
      : forest_(forest),
        request_(request),
        tree_(tree),
        first_(static_cast<size_t>(forest.tree_offset[tree])),
        place_(static_cast<size_t>(forest.tree_offset[tree + 1]) - first_, -1),
        rows_per_weight_(static_cast<double>(n_bag_rows) / request.node_weight[first_]) {}

  // Node in which the row ends, for every size: nodes[s] of size s.
  void walk(const float* row, size_t feature_stride, size_t* nodes) const {
    size_t undecided = request_.sizes.size(), node = first_;
    for (;;) {
      const double n_rows = rows_per_weight_ * request_.node_weight[node];
      while (undecided > 0 && n_rows < static_cast<double>(request_.sizes[undecided - 1]))
        nodes[--undecided] = node;
      if (undecided == 0) return;
      if (forest_.right[node] < 0) break;
      node = goes_left(forest_, tree_, node, row, feature_stride)
                 ? node + 1
                 : first_ + static_cast<size_t>(forest_.right[node]);
    }
    std::fill(nodes, nodes + undecided, node);
  }

  // Class shares, or the mean target, of the training rows in a node.
  const double* means(size_t node) {
    const size_t k = forest_.width();
    int64_t& place = place_[node - first_];
    if (place < 0) {
      place = static_cast<int64_t>(values_.size());
      values_.resize(values_.size() + k, 0.0);
      add_leaves(node, &values_[static_cast<size_t>(place)]);
    }
    return &values_[static_cast<size_t>(place)];
  }

 private:
  // The leaves below a node follow it; the last is reached by going right.
  void add_leaves(size_t node, double* out) const {
    size_t last = node;
    while (forest_.right[last] >= 0) last = first_ + static_cast<size_t>(forest_.right[last]);
    double total = 0.0;
    for (size_t leaf = node; leaf <= last; ++leaf) {
      if (forest_.right[leaf] >= 0) continue;
      const double weight = request_.node_weight[leaf];
      total += weight;
      if (forest_.n_classes == 0) {
        out[0] += weight * forest_.leaf_value[leaf];
        continue;
      }
      for (int64_t e = forest_.entry_offset[leaf]; e < forest_.entry_offset[leaf + 1]; ++e)
        out[forest_.entry_index[e]] += weight * forest_.entry_weight[e];
    }
    for (size_t j = 0; j < forest_.width(); ++j) out[j] /= total;
  }

  const ForestArrays& forest_;
  const PruningRequest& request_;
  size_t tree_, first_;
  std::vector<int64_t> place_;  // offset of each node's means in values_, -1 if not computed yet
  std::vector<double> values_;
  double rows_per_weight_;
};

double largest_value(const ForestArrays& forest, TreeRange trees) {
  if (forest.n_classes > 0) return 1.0;
  double largest = 0.0;
  for (int64_t node = forest.tree_offset[trees.begin]; node < forest.tree_offset[trees.end]; ++node)
    largest = std::max(largest, std::fabs(forest.leaf_value[static_cast<size_t>(node)]));
  return largest;
}

}  // namespace

void pruned_out_of_bag(const ForestArrays& forest, const RowMatrix& rows,
                       const BagOfSomeOfTree& bag_of, TreeRange trees,
                       const PruningRequest& request, int n_threads, bool hard, double* sums,
                       int32_t* counts) {
  constexpr size_t kWorkOfRow = 64;
  const size_t n_trees = trees.end - trees.begin, n_sizes = request.sizes.size();
  const size_t n_rows = rows.n_rows, k = forest.width();
  WholeSums whole(n_sizes * n_rows * k, largest_value(forest, trees), n_trees);
  std::fill(counts, counts + n_rows, 0);
  ThreadPool pool(n_threads, n_trees, [&](int, size_t job) {
    const size_t tree = trees.begin + job;
    const BagOfSome bag = bag_of(tree);
    PrunedTree pruned(forest, request, tree, bag.n_distinct);
    std::vector<size_t> nodes(n_sizes);
    for (size_t i = 0; i < n_rows; ++i) {
      if (bag.times[i] > 0) continue;
      poll_cancellation(kWorkOfRow);
      std::atomic_ref<int32_t>(counts[i]).fetch_add(1, std::memory_order_relaxed);
      pruned.walk(rows.values + i * rows.row_stride, rows.feature_stride, nodes.data());
      for (size_t s = 0; s < n_sizes; ++s) {
        const double* means = pruned.means(nodes[s]);
        const size_t place = (s * n_rows + i) * k;
        if (hard) {
          whole.add(place + static_cast<size_t>(std::max_element(means, means + k) - means), 1.0);
          continue;
        }
        for (size_t j = 0; j < k; ++j)
          if (means[j] != 0.0) whole.add(place + j, means[j]);
      }
    }
  });
  pool.run();
  whole.copy_to(sums);
}

}  // namespace bevel
