#include "bevel/analysis/shapley/shapley.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "bevel/analysis/leaf_output.h"
#include "bevel/analysis/shapley/attribution.h"
#include "bevel/analysis/shapley/base_values.h"
#include "bevel/analysis/shapley/box_games.h"
#include "bevel/analysis/shapley/box_weights.h"
#include "bevel/analysis/shapley/game_tree.h"
#include "bevel/analysis/shapley/orders.h"
#include "bevel/analysis/shapley/payoffs.h"
#include "bevel/analysis/shapley/tree_sums.h"
#include "bevel/random/stream.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Rows that are explained together, tree by tree.
constexpr size_t kMaxInChunk = 32;

// Data shared by all threads.
struct Game {
  const ForestArrays& forest;
  const RowMatrix& rows;
  const ShapleyOptions& options;
  const ShapleyOutput& out;
  Background background;
  LeafOutput leaf_output;
  BoxWeights weights;
  std::vector<uint8_t> is_dense{};  // trees that have too many boxes for two background rows

  size_t most_boxes(const GameTree& tree) const {
    return tree.is_axis_aligned() ? kUnlimited : size_t{1} << options.max_exact_features;
  }
};

// Explains one chunk of rows after another; one for each thread.
template <size_t K>
class Explainer {
 public:
  explicit Explainer(Game& game)
      : game_(game),
        n_features_(static_cast<size_t>(game.forest.n_features)),
        n_columns_(game.leaf_output.n_columns()),
        tree_(game.forest, game.leaf_output, (n_columns_ + K - 1) / K * K),
        games_(game.forest, game.weights.most()),
        payoffs_(game.weights),
        orders_(game.forest, game.leaf_output),
        sampled_(n_features_, n_columns_),
        variances_(sampled_),
        sums_(game.background.is_drawn()),
        filled_(n_features_) {}

  void explain(size_t first, size_t last) {
    for (size_t tree = 0; tree < game_.forest.n_trees(); ++tree) {
      begin_tree(tree);
      for (size_t row = first; row < last; ++row) explain_tree(row);
    }
    const double n = static_cast<double>(game_.forest.n_trees()) * game_.background.total_weight();
    const size_t size = n_features_ * n_columns_;
    for (size_t i = first * size; i < last * size; ++i) {
      game_.out.values[i] /= n;
      game_.out.variances[i] /= n * n;
    }
  }

  // Whether a tree has too many boxes for its first two background rows.
  void prepare(size_t tree) {
    const Background& background = game_.background;
    if (background.per_tree() < 2) return;
    begin_tree(tree);
    const size_t one = background.row_of_tree(tree, 0), two = background.row_of_tree(tree, 1);
    payoffs_.begin(tree_.features().size(), 0);
    const RowPair pair{background.row(one), background.row(two), background.filled_row(one),
                       background.filled_row(two)};
    game_.is_dense[tree] = !games_.play(pair, game_.most_boxes(tree_), payoffs_);
  }

 private:
  void begin_tree(size_t tree) {
    tree_.read(tree);
    games_.begin_tree(tree_);
    orders_have_tree_ = false;
  }

  void explain_tree(size_t row) {
    const Background& background = game_.background;
    const float* x = game_.rows.values + row * game_.rows.row_stride;
    fill_missing(game_.forest, x, filled_.data());
    const auto& features = tree_.features();
    sums_.begin(features.size() * n_columns_);
    bool may_be_exact = !game_.is_dense[tree_.number()];
    for (size_t i = 0; i < background.per_tree(); ++i) {
      const size_t z = background.row_of_tree(tree_.number(), i);
      const RowPair pair{x, background.row(z), filled_.data(), background.filled_row(z)};
      // A tree that has too many boxes for one background row usually has for others, except where
      // few features differ.
      if (!(may_be_exact || few_differ(pair)) || !explain_exactly(pair)) {
        sample(pair, row, z);
        may_be_exact = false;
      }
      sums_.add(background.weight(z));
    }
    const size_t at = row * n_features_ * n_columns_;
    for (size_t f = 0; f < features.size(); ++f)
      for (size_t k = 0; k < n_columns_; ++k) {
        const size_t to = at + static_cast<size_t>(features[f]) * n_columns_ + k;
        game_.out.values[to] += sums_.sum(f * n_columns_ + k);
        game_.out.variances[to] += sums_.variance(f * n_columns_ + k);
      }
  }

  bool few_differ(const RowPair& pair) const {
    const auto& features = tree_.features();
    const auto n =
        std::count_if(features.begin(), features.end(), [&](int32_t f) { return pair.differs(f); });
    return n <= game_.options.max_exact_features;
  }

  bool explain_exactly(const RowPair& pair) {
    const size_t n_features = tree_.features().size();
    for (size_t column = 0; column < n_columns_; column += K) {
      payoffs_.begin(n_features, column);
      if (!games_.play(pair, game_.most_boxes(tree_), payoffs_)) return false;
      const size_t n = std::min(K, n_columns_ - column);
      for (size_t f = 0; f < n_features; ++f)
        for (size_t k = 0; k < n; ++k)
          sums_.pair()[f * n_columns_ + column + k] = payoffs_.of(f)[k];
    }
    return true;
  }

  void sample(const RowPair& pair, size_t row, size_t z) {
    const size_t tree = tree_.number();
    // Depends on what is explained, never on a thread.
    const NodeKey key = root_key(root_key(root_key(game_.options.seed, row), tree), z);
    Stream stream(key, Purpose::orders);
    if (!orders_have_tree_) orders_.begin_tree(tree_);
    orders_have_tree_ = true;
    orders_.add(pair, game_.options.n_samples, stream, sampled_, variances_);
    move(sampled_, sums_.pair());
    move(variances_, sums_.pair_variance());
    ++game_.out.n_sampled[row];
  }

  void move(Attribution& from, std::vector<double>& to) const {
    for (const int32_t feature : from.features())
      for (size_t k = 0; k < n_columns_; ++k)
        to[static_cast<size_t>(tree_.local(feature)) * n_columns_ + k] = from.of(feature)[k];
    from.clear();
  }

  Game& game_;
  size_t n_features_, n_columns_;
  GameTree tree_;
  BoxGames<ValuePayoffs<K>> games_;
  ValuePayoffs<K> payoffs_;
  ShapleyOrders orders_;
  bool orders_have_tree_ = false;  // they read a tree when it is first sampled
  Attribution sampled_, variances_;
  TreeSums sums_;
  std::vector<float> filled_;  // x without missing values
};

template <size_t K>
void explain_all(Game& game, int n_threads, const std::function<bool(size_t)>& progress) {
  const size_t n_rows = game.rows.n_rows, n_trees = game.forest.n_trees();
  n_threads = useful_threads(n_threads, std::max(n_trees, n_rows));
  std::vector<std::unique_ptr<Explainer<K>>> explainers;
  for (int worker = 0; worker < n_threads; ++worker)
    explainers.push_back(std::make_unique<Explainer<K>>(game));
  ThreadPool reading(n_threads, n_trees, [&](int worker, size_t tree) {
    explainers[static_cast<size_t>(worker)]->prepare(tree);
  });
  reading.run([&](size_t) { return progress(0); });
  const size_t per_thread = n_rows / (4 * static_cast<size_t>(n_threads));
  const size_t chunk = std::clamp<size_t>(per_thread, 1, kMaxInChunk);
  const size_t n_chunks = (n_rows + chunk - 1) / chunk;
  ThreadPool explaining(n_threads, n_chunks, [&](int worker, size_t job) {
    const size_t first = job * chunk;
    explainers[static_cast<size_t>(worker)]->explain(first, std::min(n_rows, first + chunk));
  });
  explaining.run([&](size_t done) { return progress(std::min(n_rows, done * chunk)); });
}

}  // namespace

void shapley_values(const ForestArrays& forest, const RowMatrix& rows,
                    const BackgroundRows& background, const ShapleyOptions& options, int n_threads,
                    const std::function<bool(size_t rows_done)>& progress,
                    const ShapleyOutput& out) {
  Game game{forest,
            rows,
            options,
            out,
            Background(forest, background),
            LeafOutput(forest, options.hard),
            BoxWeights(static_cast<size_t>(forest.n_features))};
  const size_t n_columns = game.leaf_output.n_columns();
  game.is_dense.assign(forest.n_trees(), 0);
  // A game is played once for each group of columns.
  const auto explain = n_columns == 1   ? explain_all<1>
                       : n_columns == 2 ? explain_all<2>
                       : n_columns <= 4 ? explain_all<4>
                                        : explain_all<8>;
  explain(game, n_threads, progress);
  find_base(forest, game.background, game.leaf_output, out.base);
}

}  // namespace bevel
