#include "bevel/analysis/shapley/paths/path_values.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/box_weights.h"
#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/paths/path_games.h"
#include "bevel/analysis/shapley/payoffs.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

constexpr size_t kColumns = 4;  // that a game is played for at once

// What all threads share.
struct PathSetting {
  const ForestArrays& forest;
  const RowMatrix& rows;
  size_t most_boxes;
  LeafOutput leaf_output;
  BoxWeights weights;
  double* values;
};

// Explains one row after another; one for each thread.
class PathExplainer {
 public:
  explicit PathExplainer(const PathSetting& setting)
      : setting_(setting),
        n_columns_(setting.leaf_output.n_columns()),
        tree_(setting.forest, setting.leaf_output,
              (n_columns_ + kColumns - 1) / kColumns * kColumns),
        games_(setting.forest, setting.weights.most()),
        payoffs_(setting.weights) {}

  bool explain(size_t first, size_t last) {
    for (size_t tree = 0; tree < setting_.forest.n_trees(); ++tree) {
      begin_tree(tree);
      for (size_t row = first; row < last; ++row)
        if (!explain_tree(row)) return false;
    }
    const size_t size = static_cast<size_t>(setting_.forest.n_features) * n_columns_;
    for (size_t i = first * size; i < last * size; ++i)
      setting_.values[i] /= static_cast<double>(setting_.forest.n_trees());
    return true;
  }

  // Adds what a tree predicts if nothing is known.
  void add_base(size_t tree, double* base) {
    begin_tree(tree);
    games_.each_leaf([&](const GameSplit& leaf, double share) {
      for (size_t k = 0; k < n_columns_; ++k) base[k] += share * tree_.values_of(leaf)[k];
      for (const LeafTerm& term : tree_.terms_of(leaf)) base[0] += share * term.middle();
    });
  }

 private:
  void begin_tree(size_t tree) {
    tree_.read(tree);
    games_.begin_tree(tree_);
  }

  bool explain_tree(size_t row) {
    const float* x = setting_.rows.values + row * setting_.rows.row_stride;
    const auto& features = tree_.features();
    double* to =
        setting_.values + row * static_cast<size_t>(setting_.forest.n_features) * n_columns_;
    for (size_t column = 0; column < n_columns_; column += kColumns) {
      payoffs_.begin(features.size(), column);
      if (!games_.play(x, setting_.most_boxes, payoffs_)) return false;
      const size_t n = std::min(kColumns, n_columns_ - column);
      for (size_t f = 0; f < features.size(); ++f)
        for (size_t k = 0; k < n; ++k)
          to[static_cast<size_t>(features[f]) * n_columns_ + column + k] += payoffs_.of(f)[k];
    }
    return true;
  }

  const PathSetting& setting_;
  size_t n_columns_;
  GameTree tree_;
  PathGames<ValuePayoffs<kColumns>> games_;
  ValuePayoffs<kColumns> payoffs_;
};

}  // namespace

bool path_values(const ForestArrays& forest, const RowMatrix& rows, bool hard, size_t most_boxes,
                 int n_threads, const std::function<bool(size_t rows_done)>& progress,
                 double* values, double* base) {
  const PathSetting setting{forest,
                            rows,
                            most_boxes,
                            LeafOutput(forest, hard),
                            BoxWeights(static_cast<size_t>(forest.n_features)),
                            values};
  n_threads = useful_threads(n_threads, rows.n_rows);
  std::vector<std::unique_ptr<PathExplainer>> workers;
  for (int worker = 0; worker < n_threads; ++worker)
    workers.push_back(std::make_unique<PathExplainer>(setting));
  const size_t n_columns = setting.leaf_output.n_columns();
  std::fill(base, base + n_columns, 0.0);
  for (size_t tree = 0; tree < forest.n_trees(); ++tree) workers[0]->add_base(tree, base);
  for (size_t k = 0; k < n_columns; ++k) base[k] /= static_cast<double>(forest.n_trees());
  const size_t n_rows = rows.n_rows;
  const size_t chunk = std::clamp<size_t>(n_rows / (4 * static_cast<size_t>(n_threads)), 1, 32);
  std::atomic<bool> within{true};
  ThreadPool pool(n_threads, (n_rows + chunk - 1) / chunk, [&](int worker, size_t job) {
    const size_t last = std::min(n_rows, (job + 1) * chunk);
    if (within && !workers[static_cast<size_t>(worker)]->explain(job * chunk, last)) within = false;
  });
  pool.run([&](size_t done) { return progress(std::min(n_rows, done * chunk)); });
  return within;
}

}  // namespace bevel
