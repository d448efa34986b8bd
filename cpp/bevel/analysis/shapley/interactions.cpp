#include "bevel/analysis/shapley/interactions.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/base_values.h"
#include "bevel/analysis/shapley/box_games.h"
#include "bevel/analysis/shapley/box_weights.h"
#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/payoffs.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// What all threads share.
struct InteractionSetting {
  const ForestArrays& forest;
  const RowMatrix& rows;
  const InteractionOptions& options;
  Background background;
  LeafOutput leaf_output;
  BoxWeights weights;
  double* values;
};

// Explains one row after another; one for each thread.
class RowOfPairs {
 public:
  explicit RowOfPairs(const InteractionSetting& setting)
      : setting_(setting),
        p_(static_cast<size_t>(setting.forest.n_features)),
        k_(setting.leaf_output.n_columns()),
        tree_(setting.forest, setting.leaf_output, k_),
        games_(setting.forest, setting.weights.most()),
        payoffs_(setting.weights, k_),
        filled_(p_) {}

  bool explain(size_t row) {
    const float* x = setting_.rows.values + row * setting_.rows.row_stride;
    fill_missing(setting_.forest, x, filled_.data());
    double* to = setting_.values + row * p_ * p_ * k_;
    for (size_t tree = 0; tree < setting_.forest.n_trees(); ++tree)
      if (!add_tree(tree, x, to)) return false;
    const Background& background = setting_.background;
    const auto n = static_cast<double>(setting_.forest.n_trees()) * background.total_weight();
    for (size_t i = 0; i < p_ * p_ * k_; ++i) to[i] /= n;
    take_from_diagonals(to);
    return true;
  }

 private:
  bool add_tree(size_t tree, const float* x, double* to) {
    tree_.read(tree);
    games_.begin_tree(tree_);
    const auto& features = tree_.features();
    payoffs_.begin(features.size());
    const size_t most =
        tree_.is_axis_aligned() ? kUnlimited : size_t{1} << setting_.options.max_exact_features;
    const Background& background = setting_.background;
    for (size_t i = 0; i < background.per_tree(); ++i) {
      const size_t z = background.row_of_tree(tree, i);
      payoffs_.set_weight(background.weight(z));
      const RowPair pair{x, background.row(z), filled_.data(), background.filled_row(z)};
      if (!games_.play(pair, most, payoffs_)) return false;
    }
    for (size_t one = 0; one < features.size(); ++one)
      for (size_t other = 0; other <= one; ++other) {
        const auto f = static_cast<size_t>(features[one]), g = static_cast<size_t>(features[other]);
        for (size_t k = 0; k < k_; ++k) {
          to[(f * p_ + g) * k_ + k] += payoffs_.of(one, other)[k];
          if (f != g) to[(g * p_ + f) * k_ + k] += payoffs_.of(one, other)[k];
        }
      }
    return true;
  }

  void take_from_diagonals(double* to) const {
    for (size_t f = 0; f < p_; ++f)
      for (size_t g = 0; g < p_; ++g)
        for (size_t k = 0; k < k_ && f != g; ++k)
          to[(f * p_ + f) * k_ + k] -= to[(f * p_ + g) * k_ + k];
  }

  const InteractionSetting& setting_;
  size_t p_, k_;
  GameTree tree_;
  BoxGames<PairPayoffs> games_;
  PairPayoffs payoffs_;
  std::vector<float> filled_;  // x without missing values
};

}  // namespace

bool shapley_interactions(const ForestArrays& forest, const RowMatrix& rows,
                          const BackgroundRows& background, const InteractionOptions& options,
                          int n_threads, const std::function<bool(size_t rows_done)>& progress,
                          double* values, double* base) {
  const InteractionSetting setting{forest,
                                   rows,
                                   options,
                                   Background(forest, background),
                                   LeafOutput(forest, options.hard),
                                   BoxWeights(static_cast<size_t>(forest.n_features)),
                                   values};
  find_base(forest, setting.background, setting.leaf_output, base);
  n_threads = useful_threads(n_threads, rows.n_rows);
  std::vector<std::unique_ptr<RowOfPairs>> workers;
  for (int worker = 0; worker < n_threads; ++worker)
    workers.push_back(std::make_unique<RowOfPairs>(setting));
  std::atomic<bool> within{true};
  ThreadPool pool(n_threads, rows.n_rows, [&](int worker, size_t row) {
    if (within && !workers[static_cast<size_t>(worker)]->explain(row)) within = false;
  });
  pool.run(progress);
  return within;
}

}  // namespace bevel
