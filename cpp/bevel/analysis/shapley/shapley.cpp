#include "bevel/analysis/shapley/shapley.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/boxes.h"
#include "bevel/analysis/shapley/credit.h"
#include "bevel/analysis/shapley/orders.h"
#include "bevel/random/stream.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// What is the same for all rows of a tree.
struct TreeFacts {
  std::vector<int32_t> features;  // that its splits use, ascending
  size_t most_boxes = 0;
  bool is_dense = false;  // has too many boxes for two background rows
};

void use(const ForestArrays& forest, size_t tree, int32_t index, std::vector<uint8_t>& used) {
  if (index < forest.n_features) {
    used[static_cast<size_t>(index)] = 1;
    return;
  }
  const auto axis = static_cast<size_t>(forest.rotation_offset[tree] + index - forest.n_features);
  for (int64_t r = forest.rotation_entry_offset[axis]; r < forest.rotation_entry_offset[axis + 1];
       ++r)
    used[static_cast<size_t>(forest.rotation_index[r])] = 1;
}

TreeFacts read_tree(const ForestArrays& forest, size_t tree, int max_exact_features) {
  std::vector<uint8_t> used(static_cast<size_t>(forest.n_features), 0);
  size_t n_leaves = 0;
  bool is_axis_aligned = true;
  for (int64_t node = forest.tree_offset[tree]; node < forest.tree_offset[tree + 1]; ++node) {
    if (forest.right[node] < 0) {
      ++n_leaves;
      continue;
    }
    const int64_t first = forest.entry_offset[node], last = forest.entry_offset[node + 1];
    is_axis_aligned &= last - first == 1 && forest.entry_index[first] < forest.n_features;
    for (int64_t e = first; e < last; ++e) use(forest, tree, forest.entry_index[e], used);
  }
  TreeFacts facts;
  facts.most_boxes = size_t{1} << max_exact_features;
  if (is_axis_aligned) facts.most_boxes = std::max(facts.most_boxes, n_leaves);
  for (int32_t feature = 0; feature < forest.n_features; ++feature)
    if (used[static_cast<size_t>(feature)]) facts.features.push_back(feature);
  return facts;
}

// What all threads share.
struct Game {
  const ForestArrays& forest;
  const RowMatrix& background;
  const ShapleyOptions& options;
  LeafOutput leaf_output{forest, options.hard};
  BoxWeights weights{static_cast<size_t>(forest.n_features)};
  std::vector<TreeFacts> trees{};
};

// Explains one row after another; one for each thread.
class Explainer {
 public:
  explicit Explainer(const Game& game)
      : game_(game),
        n_features_(static_cast<size_t>(game.forest.n_features)),
        boxes_(game.forest, game.leaf_output, game.weights),
        orders_(game.forest, game.leaf_output),
        values_(n_features_, game.leaf_output.n_columns()),
        variances_(values_),
        sides_(game.background.n_rows * n_features_),
        low_(sides_.size()),
        high_(sides_.size()) {}

  void explain(size_t row, const float* x, const ShapleyOutput& out) {
    const size_t size = n_features_ * game_.leaf_output.n_columns();
    sums_ = out.values + row * size;
    variance_sums_ = out.variances + row * size;
    n_sampled_ = 0;
    for (size_t z = 0; z < game_.background.n_rows; ++z) compare(x, z);
    for (size_t tree = 0; tree < game_.trees.size(); ++tree) {
      bool may_be_exact = !game_.trees[tree].is_dense;
      for (size_t z = 0; z < game_.background.n_rows; ++z)
        may_be_exact = explain_tree(row, tree, z, x, may_be_exact);
    }
    const auto n = static_cast<double>(game_.trees.size() * game_.background.n_rows);
    for (size_t i = 0; i < size; ++i) {
      sums_[i] /= n;
      variance_sums_[i] /= n * n;
    }
    out.n_sampled[row] = n_sampled_;
  }

  // Whether a tree has too many boxes for the first two background rows.
  bool is_dense(size_t tree) {
    if (game_.background.n_rows < 2) return false;
    const float* x = background(0);
    compare(x, 1);
    const bool within = boxes_.add(tree, pair(x, 1), game_.trees[tree].most_boxes, values_);
    values_.clear();
    return !within;
  }

 private:
  const float* background(size_t z) const {
    return game_.background.values + z * game_.background.row_stride;
  }

  RowPair pair(const float* x, size_t z) {
    const size_t place = z * n_features_;
    return {x, background(z), &sides_[place], &low_[place], &high_[place]};
  }

  void compare(const float* x, size_t z) {
    const float* other = background(z);
    for (size_t f = 0; f < n_features_; ++f) {
      const size_t place = z * n_features_ + f;
      const bool alike = x[f] == other[f] || (x[f] != x[f] && other[f] != other[f]);
      sides_[place] = alike ? Side::row : Side::free;
      const float one = filled(x[f], f), two = filled(other[f], f);
      low_[place] = std::min(one, two);
      high_[place] = std::max(one, two);
    }
  }

  float filled(float value, size_t feature) const {
    return value != value ? game_.forest.medians[feature] : value;
  }

  // Returns whether it is worth while to try exactly with the next background row: a tree that has
  // too many boxes for one mostly has for others. Where few features differ it never has.
  bool explain_tree(size_t row, size_t tree, size_t z, const float* x, bool may_be_exact) {
    const RowPair rows = pair(x, z);
    const TreeFacts& facts = game_.trees[tree];
    if ((may_be_exact || few_differ(facts, rows)) &&
        boxes_.add(tree, rows, facts.most_boxes, values_)) {
      move(values_, sums_);
      return may_be_exact;
    }
    values_.clear();
    // Tied to what is explained, never to a thread.
    const NodeKey key = root_key(root_key(root_key(game_.options.seed, row), tree), z);
    Stream stream(key, Purpose::orders);
    orders_.add(tree, rows, facts.features, game_.options.n_samples, stream, values_, variances_);
    move(values_, sums_);
    move(variances_, variance_sums_);
    ++n_sampled_;
    return false;
  }

  bool few_differ(const TreeFacts& facts, const RowPair& rows) const {
    const auto n = std::count_if(facts.features.begin(), facts.features.end(),
                                 [&](int32_t f) { return rows.side[f] == Side::free; });
    return n <= game_.options.max_exact_features;
  }

  static void move(Credit& from, double* to) {
    const size_t k = from.n_columns();
    for (const int32_t feature : from.features())
      for (size_t column = 0; column < k; ++column)
        to[static_cast<size_t>(feature) * k + column] += from.of(feature)[column];
    from.clear();
  }

  const Game& game_;
  size_t n_features_;
  ShapleyBoxes boxes_;
  ShapleyOrders orders_;
  Credit values_, variances_;
  // Of the row with each background row: background rows x features.
  std::vector<Side> sides_;
  std::vector<float> low_, high_;
  double *sums_ = nullptr, *variance_sums_ = nullptr;
  int64_t n_sampled_ = 0;
};

}  // namespace

void shapley_values(const ForestArrays& forest, const RowMatrix& rows, const RowMatrix& background,
                    const ShapleyOptions& options, int n_threads,
                    const std::function<bool(size_t rows_done)>& progress,
                    const ShapleyOutput& out) {
  Game game{forest, background, options};
  game.trees.resize(forest.n_trees());
  std::vector<std::unique_ptr<Explainer>> explainers;
  n_threads = useful_threads(n_threads, std::max(forest.n_trees(), rows.n_rows));
  for (int worker = 0; worker < n_threads; ++worker)
    explainers.push_back(std::make_unique<Explainer>(game));
  ThreadPool reading(n_threads, game.trees.size(), [&](int worker, size_t tree) {
    game.trees[tree] = read_tree(forest, tree, options.max_exact_features);
    game.trees[tree].is_dense = explainers[static_cast<size_t>(worker)]->is_dense(tree);
  });
  reading.run([&](size_t) { return progress(0); });
  ThreadPool explaining(n_threads, rows.n_rows, [&](int worker, size_t row) {
    const float* x = rows.values + row * rows.row_stride;
    explainers[static_cast<size_t>(worker)]->explain(row, x, out);
  });
  explaining.run(progress);
}

}  // namespace bevel
