#include "bevel/predict/reference_predictor.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "bevel/forest/bag.h"
#include "bevel/predict/parallel_rows.h"
#include "bevel/predict/whole_sums.h"
#include "bevel/support/thread_pool.h"
#include "bevel/tree/node_store.h"

namespace bevel {
namespace {

// The direction's value on a row. With two features or more a missing one counts as its median.
float combine(const ForestArrays& forest, const int32_t* index, const float* weight, int64_t n,
              const float* row, size_t stride) {
  float sum = 0.0f;
  for (int64_t k = 0; k < n; ++k) {
    float x = row[static_cast<size_t>(index[k]) * stride];
    if (x != x) x = forest.medians[index[k]];
    const float term = weight[k] * x;
    sum = k == 0 ? term : sum + term;
  }
  return sum + 0.0f;
}

float rotated(const ForestArrays& forest, size_t tree, int32_t axis, const float* row,
              size_t stride) {
  const auto column = static_cast<size_t>(forest.rotation_offset[tree] + axis);
  const int64_t first = forest.rotation_entry_offset[column];
  // An axis may be the last and have no entries: `first` is then the end of the arrays.
  return combine(forest, forest.rotation_index.data() + first,
                 forest.rotation_weight.data() + first,
                 forest.rotation_entry_offset[column + 1] - first, row, stride);
}

float projected(const ForestArrays& forest, size_t tree, size_t node, const float* row,
                size_t stride) {
  const int64_t first = forest.entry_offset[node];
  const int64_t n = forest.entry_offset[node + 1] - first;
  const int32_t* index = &forest.entry_index[first];
  const float* weight = &forest.entry_weight[first];
  if (n > 1) {
    float sum = 0.0f;
    for (int64_t k = 0; k < n; ++k) {
      float x;
      const int32_t level = forest.level_of_entry(static_cast<size_t>(first + k));
      if (level >= 0) {
        x = value_of_entry(row, static_cast<size_t>(index[k]) * stride, level);
      } else if (index[k] >= forest.n_features) {
        x = rotated(forest, tree, index[k] - forest.n_features, row, stride);
      } else {
        x = row[static_cast<size_t>(index[k]) * stride];
        if (x != x) x = forest.medians[index[k]];
      }
      const float term = weight[k] * x;
      sum = k == 0 ? term : sum + term;
    }
    return sum + 0.0f;
  }
  const float x = index[0] >= forest.n_features
                      ? rotated(forest, tree, index[0] - forest.n_features, row, stride)
                      : value_of_entry(row, static_cast<size_t>(index[0]) * stride,
                                       forest.level_of_entry(static_cast<size_t>(first)));
  return weight[0] * x + 0.0f;
}

// Rough work of a row's path down a tree: some nodes with their entries or axes.
size_t work_of_walk(const ForestArrays& forest) {
  constexpr size_t kNodes = 16;
  const size_t n_entries = forest.entry_index.size() / std::max<size_t>(1, forest.right.size());
  const bool has_axes = !forest.rotation_index.empty();
  return kNodes * (2 + n_entries + (has_axes ? static_cast<size_t>(forest.n_features) : 0));
}

}  // namespace

bool goes_left(const ForestArrays& forest, size_t tree, size_t node, const float* row,
               size_t stride) {
  const bool missing_left = forest.flags[node] & kMissingLeft;
  if (forest.flags[node] & kCategoryNode) {
    const int32_t feature = forest.entry_index[forest.entry_offset[node]];
    const float code = row[static_cast<size_t>(feature) * stride];
    if (!(code >= 0.0f && code < static_cast<float>(forest.levels[feature]))) return missing_left;
    const auto level = static_cast<size_t>(code);
    const auto word = static_cast<size_t>(forest.bits_offset[forest.bits_index[node]]) + level / 32;
    return (forest.bits[word] >> (level % 32)) & 1u;
  }
  const float value = projected(forest, tree, node, row, stride);
  return value <= forest.threshold[node] || (missing_left && value != value);
}

namespace {

// The first of the largest among entries [first, last).
int32_t largest_share(const ForestArrays& forest, int64_t first, int64_t last) {
  int64_t best = first;
  for (int64_t e = first + 1; e < last; ++e)
    if (forest.entry_weight[e] > forest.entry_weight[best]) best = e;
  return forest.entry_index[best];
}

// A leaf of a forest with several outputs votes once for each of them: calls add(class).
template <class Add>
void add_votes(const ForestArrays& forest, size_t node, Add add) {
  int64_t first = forest.entry_offset[node];
  const int64_t end = forest.entry_offset[node + 1];
  int32_t above = 0;  // the classes of the output are below it
  for (const int32_t n : forest.output_classes) {
    above += n;
    int64_t last = first;
    while (last < end && forest.entry_index[last] < above) ++last;
    add(largest_share(forest, first, last));
    first = last;
  }
}

}  // namespace

int32_t vote(const ForestArrays& forest, size_t node) {
  return largest_share(forest, forest.entry_offset[node], forest.entry_offset[node + 1]);
}

std::span<const double> output_values(const ForestArrays& forest, size_t tree, const float* row,
                                      size_t feature_stride) {
  const auto first = static_cast<size_t>(forest.tree_offset[tree]);
  size_t node = first, leaf = forest.first_leaf(tree);
  while (forest.right[node] >= 0) {
    const size_t right = first + static_cast<size_t>(forest.right[node]);
    if (goes_left(forest, tree, node, row, feature_stride)) {
      ++node;
    } else {
      leaf += (right - node) / 2;  // the left subtree has one node less than twice its leaves
      node = right;
    }
  }
  return forest.output_value.subspan(leaf * forest.n_outputs(), forest.n_outputs());
}

int32_t leaf_of(const ForestArrays& forest, size_t tree, const float* row, size_t feature_stride) {
  const auto first = static_cast<size_t>(forest.tree_offset[tree]);
  size_t node = first;
  while (forest.right[node] >= 0)
    node = goes_left(forest, tree, node, row, feature_stride)
               ? node + 1
               : first + static_cast<size_t>(forest.right[node]);
  return static_cast<int32_t>(node - first);
}

void apply(const ForestArrays& forest, const RowMatrix& rows, int n_threads, int32_t* out) {
  const size_t n_trees = forest.n_trees(), work = work_of_walk(forest);
  parallel_rows(n_trees, rows.n_rows, n_threads, [&](size_t first, size_t last) {
    for (size_t tree = 0; tree < n_trees; ++tree) {
      poll_cancellation((last - first) * work);
      for (size_t i = first; i < last; ++i)
        out[i * n_trees + tree] =
            leaf_of(forest, tree, rows.values + i * rows.row_stride, rows.feature_stride);
    }
  });
}

void predict_proba(const ForestArrays& forest, const RowMatrix& rows, int n_threads, bool hard,
                   double* out) {
  const size_t n_trees = forest.n_trees(), work = work_of_walk(forest);
  const auto k = static_cast<size_t>(forest.n_classes);
  parallel_rows(n_trees, rows.n_rows, n_threads, [&](size_t first, size_t last) {
    std::fill(out + first * k, out + last * k, 0.0);
    for (size_t tree = 0; tree < n_trees; ++tree) {
      poll_cancellation((last - first) * work);
      for (size_t i = first; i < last; ++i) {
        const size_t node =
            static_cast<size_t>(forest.tree_offset[tree]) +
            static_cast<size_t>(
                leaf_of(forest, tree, rows.values + i * rows.row_stride, rows.feature_stride));
        if (hard && forest.n_outputs() > 0) {
          add_votes(forest, node,
                    [&](int32_t label) { out[i * k + static_cast<size_t>(label)] += 1.0; });
          continue;
        }
        if (hard) {
          out[i * k + static_cast<size_t>(vote(forest, node))] += 1.0;
          continue;
        }
        for (int64_t e = forest.entry_offset[node]; e < forest.entry_offset[node + 1]; ++e)
          out[i * k + static_cast<size_t>(forest.entry_index[e])] += forest.entry_weight[e];
      }
    }
    for (size_t i = first * k; i < last * k; ++i) out[i] /= static_cast<double>(n_trees);
  });
}

namespace {

void predict_outputs(const ForestArrays& forest, const RowMatrix& rows, int n_threads,
                     double* out) {
  const size_t n_trees = forest.n_trees(), work = work_of_walk(forest), m = forest.n_outputs();
  parallel_rows(n_trees, rows.n_rows, n_threads, [&](size_t first, size_t last) {
    std::fill(out + first * m, out + last * m, 0.0);
    for (size_t tree = 0; tree < n_trees; ++tree) {
      poll_cancellation((last - first) * (work + m));
      for (size_t i = first; i < last; ++i) {
        const auto values =
            output_values(forest, tree, rows.values + i * rows.row_stride, rows.feature_stride);
        for (size_t k = 0; k < m; ++k) out[i * m + k] += values[k];
      }
    }
    for (size_t i = first * m; i < last * m; ++i) out[i] /= static_cast<double>(n_trees);
  });
}

}  // namespace

void predict_value(const ForestArrays& forest, const RowMatrix& rows, int n_threads, double* out) {
  if (forest.n_outputs() > 0) return predict_outputs(forest, rows, n_threads, out);
  const size_t n_trees = forest.n_trees(), work = work_of_walk(forest);
  parallel_rows(n_trees, rows.n_rows, n_threads, [&](size_t first, size_t last) {
    std::fill(out + first, out + last, 0.0);
    for (size_t tree = 0; tree < n_trees; ++tree) {
      poll_cancellation((last - first) * work);
      for (size_t i = first; i < last; ++i) {
        const float* row = rows.values + i * rows.row_stride;
        const auto leaf = static_cast<size_t>(forest.tree_offset[tree]) +
                          static_cast<size_t>(leaf_of(forest, tree, row, rows.feature_stride));
        out[i] += forest.value_of_leaf(leaf, row, rows.feature_stride);
      }
    }
    for (size_t i = first; i < last; ++i) out[i] /= static_cast<double>(n_trees);
  });
}

void out_of_bag(const ForestArrays& forest, const RowMatrix& rows, const double* weights,
                const Options& options, uint64_t first_tree, TreeRange trees, int n_threads,
                bool hard, double* sums, int32_t* counts) {
  const auto bag = [&](size_t tree) {
    return draw_bag(options, rows.n_rows, first_tree + tree, weights);
  };
  out_of_bag(forest, rows, bag, trees, n_threads, hard, sums, counts);
}

void out_of_bag(const ForestArrays& forest, const RowMatrix& rows, const BagOfTree& bag_of,
                TreeRange trees, int n_threads, bool hard, double* sums, int32_t* counts) {
  constexpr size_t kRowsBetweenPolls = 256;
  const size_t n_trees = trees.end - trees.begin, work = work_of_walk(forest);
  const size_t k = forest.width();
  double largest = forest.n_classes > 0 ? 1.0 : 0.0;
  for (const double value : forest.output_value) largest = std::max(largest, std::fabs(value));
  if (forest.n_classes == 0 && forest.n_outputs() == 0)
    for (int64_t node = forest.tree_offset[trees.begin]; node < forest.tree_offset[trees.end];
         ++node)
      largest = std::max(largest, std::fabs(forest.leaf_value[static_cast<size_t>(node)]));
  WholeSums whole(rows.n_rows * k, largest, n_trees);
  std::fill(counts, counts + rows.n_rows, 0);
  auto add = [&](size_t row, size_t column, double value) { whole.add(row * k + column, value); };
  ThreadPool pool(n_threads, n_trees, [&](int, size_t job) {
    const size_t tree = trees.begin + job;
    const std::vector<int32_t> bag = bag_of(tree);
    for (size_t i = 0; i < rows.n_rows; ++i) {
      if (i % kRowsBetweenPolls == 0) poll_cancellation(kRowsBetweenPolls * work);
      if (bag[i] > 0) continue;
      std::atomic_ref<int32_t>(counts[i]).fetch_add(1, std::memory_order_relaxed);
      const float* row = rows.values + i * rows.row_stride;
      if (!forest.output_value.empty()) {
        const auto values = output_values(forest, tree, row, rows.feature_stride);
        for (size_t j = 0; j < k; ++j) add(i, j, values[j]);
        continue;
      }
      const size_t node = static_cast<size_t>(forest.tree_offset[tree]) +
                          static_cast<size_t>(leaf_of(forest, tree, row, rows.feature_stride));
      if (forest.n_classes == 0) {
        add(i, 0, forest.leaf_value[node]);
      } else if (hard && forest.n_outputs() > 0) {
        add_votes(forest, node, [&](int32_t label) { add(i, static_cast<size_t>(label), 1.0); });
      } else if (hard) {
        add(i, static_cast<size_t>(vote(forest, node)), 1.0);
      } else {
        for (int64_t e = forest.entry_offset[node]; e < forest.entry_offset[node + 1]; ++e)
          add(i, static_cast<size_t>(forest.entry_index[e]), forest.entry_weight[e]);
      }
    }
  });
  pool.run();
  whole.copy_to(sums);
}

}  // namespace bevel
