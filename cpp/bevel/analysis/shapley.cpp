#include "bevel/analysis/shapley.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "bevel/analysis/credit.h"
#include "bevel/analysis/payoff.h"
#include "bevel/analysis/shapley_boxes.h"
#include "bevel/analysis/shapley_orders.h"
#include "bevel/random/stream.h"
#include "bevel/support/crew.h"

namespace bevel {
namespace {

// What is the same for all rows of a tree.
struct TreeFacts {
  std::vector<int32_t> features;  // that its splits use, ascending
  size_t most_boxes;
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
  TreeFacts facts{{}, size_t{1} << max_exact_features};
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
  Payoff payoff{forest, options.hard};
  BoxWeights weights{static_cast<size_t>(forest.n_features)};
  std::vector<TreeFacts> trees;
};

// Explains one row after another; one for each thread.
class Explainer {
 public:
  explicit Explainer(const Game& game)
      : game_(game),
        n_features_(static_cast<size_t>(game.forest.n_features)),
        boxes_(game.forest, game.payoff, game.weights),
        orders_(game.forest, game.payoff),
        values_(n_features_, game.payoff.n_columns()),
        variances_(values_),
        sides_(game.background.n_rows * n_features_),
        low_(sides_.size()),
        high_(sides_.size()) {}

  void explain(size_t row, const float* x, const Crew& crew, const ShapleyOutput& out) {
    const size_t size = n_features_ * game_.payoff.n_columns();
    sums_ = out.values + row * size;
    variance_sums_ = out.variances + row * size;
    n_sampled_ = 0;
    compare(x);
    for (size_t tree = 0; tree < game_.trees.size(); ++tree) {
      crew.throw_if_cancelled();
      for (size_t z = 0; z < game_.background.n_rows; ++z) explain_tree(row, tree, z, x);
    }
    const auto n = static_cast<double>(game_.trees.size() * game_.background.n_rows);
    for (size_t i = 0; i < size; ++i) {
      sums_[i] /= n;
      variance_sums_[i] /= n * n;
    }
    out.n_sampled[row] = n_sampled_;
  }

 private:
  const float* background(size_t z) const {
    return game_.background.values + z * game_.background.row_stride;
  }

  void compare(const float* x) {
    for (size_t z = 0; z < game_.background.n_rows; ++z) {
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
  }

  float filled(float value, size_t feature) const {
    return value != value ? game_.forest.medians[feature] : value;
  }

  void explain_tree(size_t row, size_t tree, size_t z, const float* x) {
    const size_t place = z * n_features_;
    const RowPair pair{x, background(z), &sides_[place], &low_[place], &high_[place]};
    const TreeFacts& facts = game_.trees[tree];
    if (!boxes_.add(tree, pair, facts.most_boxes, values_)) {
      values_.clear();
      // Tied to what is explained, never to a thread.
      const NodeKey key = root_key(root_key(root_key(game_.options.seed, row), tree), z);
      Stream stream(key, Purpose::orders);
      orders_.add(tree, pair, facts.features, game_.options.n_samples, stream, values_, variances_);
      move(variances_, variance_sums_);
      ++n_sampled_;
    }
    move(values_, sums_);
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
  for (size_t tree = 0; tree < forest.n_trees(); ++tree)
    game.trees.push_back(read_tree(forest, tree, options.max_exact_features));
  std::vector<std::unique_ptr<Explainer>> explainers;
  for (int worker = 0; worker < std::max(1, n_threads); ++worker)
    explainers.push_back(std::make_unique<Explainer>(game));
  Crew crew(rows.n_rows, [&](int worker, size_t row) {
    explainers[static_cast<size_t>(worker)]->explain(row, rows.values + row * rows.row_stride, crew,
                                                     out);
  });
  crew.start(n_threads);
  while (!crew.wait_for(std::chrono::milliseconds(50)))
    if (!progress(crew.jobs_done())) crew.cancel();
  crew.finish();
  if (crew.cancelled()) throw Cancelled{};
}

}  // namespace bevel
