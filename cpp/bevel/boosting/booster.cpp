#include "bevel/boosting/booster.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "bevel/boosting/binned_columns.h"
#include "bevel/boosting/gradient_sampling.h"
#include "bevel/boosting/leaf_models.h"
#include "bevel/boosting/quantiser.h"
#include "bevel/boosting/splitting/histogram_splitter.h"
#include "bevel/boosting/splitting/shared_splitter.h"
#include "bevel/boosting/team.h"
#include "bevel/boosting/tree_columns.h"
#include "bevel/random/stream.h"
#include "bevel/support/check.h"
#include "bevel/support/thread_pool.h"
#include "bevel/tree/value_bounds.h"

namespace bevel {
namespace {

// Sums of outputs that splits of a tree for all outputs are sought on.
constexpr size_t kSketches = 5;

// What is known of a fit while it runs.
struct Done {
  std::atomic<size_t> n_iterations{0};
  std::atomic<double> validation_loss{std::numeric_limits<double>::quiet_NaN()};
};

class Booster {
 public:
  Booster(const BoostingSet& set, const BoostingOptions& boosting, const Options& options,
          int n_threads)
      : set_(set),
        boosting_(boosting),
        options_(options),
        n_outputs_(static_cast<size_t>(boosting.n_outputs)),
        loss_(make_loss(boosting, set.target)) {
    loss_->check_targets(set.data.n_rows);
    for (size_t row = 0; row < set.data.n_rows; ++row) {
      if (!(set.target.weight(row) > 0.0)) continue;
      const bool validates =
          set.roles && set.roles[row] == static_cast<uint8_t>(RowRole::validation);
      (validates ? validation_ : training_).push_back(static_cast<uint32_t>(row));
    }
    require(!training_.empty(), "[boost] no training rows");
    const TableValues table = set.table.value_or(TableValues{set.data.values, 1, set.data.n_rows});
    if (set.data.sparse)
      features_.emplace(set.data, training_, boosting.max_bins, n_threads);
    else
      features_.emplace(set.data, table, training_, boosting.max_bins, n_threads, set.feature_room);
    columns_.emplace(options, set.data, table, *features_, boosting.max_bins, set.direction_room);
    if (boosting.linear_leaves) leaf_models_.emplace(set.data, table, boosting.l2);
    if (set.baseline)
      result_.baseline.assign(set.baseline, set.baseline + n_outputs_);
    else
      result_.baseline = loss_->baseline(training_);
    begin();
  }

  // On a worker of the pool.
  void run(ThreadPool& pool, int worker, Done& done) {
    Team team(pool, worker);
    HistogramSplitter splitter(boosting_, *columns_, team);
    splitter_ = &splitter;
    SharedSplitter shared_splitter(boosting_, *columns_, team);
    shared_splitter_ = &shared_splitter;
    for (int64_t i = 0; i < boosting_.max_iter; ++i) {
      grow_iteration(static_cast<uint64_t>(boosting_.first_iter + i), team);
      n_whole_ = static_cast<size_t>(i) + 1;
      if (!validation_.empty()) done.validation_loss = result_.validation_loss.back();
      done.n_iterations = n_whole_;
      if (is_over()) break;
    }
  }

  bool has_any() const { return n_whole_ > 0; }
  BoostingResult finish(bool interrupted) {
    columns_.reset();
    features_.reset();
    size_t n_kept = n_whole_;
    if (boosting_.n_iter_no_change > 0 && !validation_.empty()) n_kept = best_ + 1;
    trees_.resize(n_kept * n_outputs_);
    for (GrownTree& tree : trees_) name_level_terms(tree.nodes, set_.data);
    result_.n_iter = static_cast<int64_t>(n_kept);
    result_.interrupted = interrupted;
    result_.forest = flatten(trees_, true);
    return std::move(result_);
  }

 private:
  void begin() {
    const size_t n = set_.data.n_rows;
    raw_.n_rows = n;
    if (set_.raw_before) {
      raw_.values.assign(set_.raw_before, set_.raw_before + n * n_outputs_);
    } else {
      raw_.values.resize(n * n_outputs_);
      for (size_t k = 0; k < n_outputs_; ++k) std::fill_n(raw_.output(k), n, result_.baseline[k]);
    }
    gradients_.resize(n);
  }

  void grow_iteration(uint64_t iteration, Team& team) {
    loss_->begin_iteration(raw_, training_, team);
    draw_rows(iteration, team);
    columns_->draw(iteration, bag_, team);
    if (boosting_.shares_trees)
      grow_shared_tree(iteration, team);
    else
      for (size_t k = 0; k < n_outputs_; ++k) trees_.push_back({grow_tree(iteration, k, team), {}});
    loss_->end_iteration(raw_, training_, validation_, team);
    result_.training_loss.push_back(loss_->mean(raw_, training_, team));
    if (!validation_.empty())
      result_.validation_loss.push_back(boosting_.scorer ? -score()
                                                         : loss_->mean(raw_, validation_, team));
  }

  double score() const {
    std::vector<double> raw;
    raw.reserve(validation_.size() * n_outputs_);
    for (size_t k = 0; k < n_outputs_; ++k)
      for (const uint32_t row : validation_) raw.push_back(raw_.output(k)[row]);
    return boosting_.scorer->evaluate(std::move(raw));
  }

  // The rows that the trees of an iteration are grown on, and those that only pass them.
  void draw_rows(uint64_t iteration, Team& team) {
    others_ = validation_;
    if (boosting_.subsample >= 1.0) {
      bag_ = training_;
      return;
    }
    if (boosting_.samples_by_gradient) {
      draw_by_gradient(iteration, team);
      bag_ = drawn_;
      return;
    }
    drawn_.clear();
    Stream stream(root_key(options_.seed, iteration), Purpose::bag);
    auto wanted = static_cast<uint64_t>(
        std::max(1.0, std::round(boosting_.subsample * static_cast<double>(training_.size()))));
    for (size_t i = 0; i < training_.size(); ++i) {
      const bool taken = stream.below(training_.size() - i) < wanted;
      wanted -= taken;
      (taken ? drawn_ : others_).push_back(training_[i]);
    }
    bag_ = drawn_;
    std::sort(others_.begin(), others_.end());
  }

  void draw_by_gradient(uint64_t iteration, Team& team) {
    sampling_.begin(training_.size());
    for (size_t k = 0; k < n_outputs_; ++k) {
      set_gradients(training_, k, team);
      sampling_.add(gradients_, training_, team);
    }
    factors_.resize(set_.data.n_rows);
    Stream stream(root_key(options_.seed, iteration), Purpose::bag);
    sampling_.draw(training_, boosting_.subsample, stream.next(), drawn_, others_, factors_);
    std::sort(others_.begin(), others_.end());
  }

  void set_gradients(std::span<const uint32_t> rows, size_t output, Team& team) {
    team.run_blocks(rows.size(), kBlockRows, [&](size_t first, size_t last) {
      poll_cancellation((last - first) * 16);
      loss_->gradients(raw_, rows.subspan(first, last - first), output, gradients_);
    });
  }

  double factor(size_t row) const { return factors_.empty() ? 1.0 : factors_[row]; }

  // The gradients of the rows of the bag.
  void set_bag_gradients(size_t output, Team& team) {
    set_gradients(bag_, output, team);
    if (factors_.empty()) return;
    for (const uint32_t row : bag_) {
      gradients_[row].gradient *= factors_[row];
      gradients_[row].hessian *= factors_[row];
    }
  }

  // Statistics of an output of a tree, from gradients by row.
  SharingOutput share(const std::vector<Gradient>& gradients, uint64_t key, Team& team) const {
    SharingOutput output;
    const StatisticScales scales = quantise(gradients, bag_, key, team, output.stats).scales;
    output.penalty = boosting_.l2 * scales.hessian;
    output.min_hessian = std::max(1.0, boosting_.min_hessian * scales.hessian);
    output.to_gain = scales.gain(1.0);
    return output;
  }

  // One tree for all outputs. Its splits are sought on a few sums of the outputs' gradients with
  // random signs, whose squares sum to those of all outputs in the mean (Iosipoi and Vakhrushev
  // 2022), and on the sum of their hessians; the values of leaves are those of each output. It is
  // stored as a tree for each output.
  void grow_shared_tree(uint64_t iteration, Team& team) {
    const uint64_t key = root_key(options_.seed, iteration);
    sharing_.clear();
    if (n_outputs_ <= kSketches) {
      for (size_t k = 0; k < n_outputs_; ++k) {
        set_bag_gradients(k, team);
        sharing_.push_back(share(gradients_, mix(key + k), team));
      }
    } else {
      std::vector<std::vector<Gradient>> sums(kSketches, std::vector<Gradient>(set_.data.n_rows));
      Stream stream(mix(key + n_outputs_), Purpose::rotation);
      const double size = 1.0 / std::sqrt(static_cast<double>(kSketches));
      for (size_t k = 0; k < n_outputs_; ++k) {
        set_bag_gradients(k, team);
        for (std::vector<Gradient>& sum : sums) {
          const double sign = stream.below(2) ? size : -size;
          for (const uint32_t row : bag_) {
            sum[row].gradient += sign * gradients_[row].gradient;
            sum[row].hessian += gradients_[row].hessian;
          }
        }
      }
      for (size_t s = 0; s < kSketches; ++s) {
        sharing_.push_back(share(sums[s], mix(key + s), team));
        // Hessians are rounded at random: those of the first.
        std::vector<PackedSum>& own = sharing_[s].stats;
        for (size_t i = 0; i < own.size(); ++i)
          own[i] = pack(gradient_of(own[i]), hessian_of(sharing_[0].stats[i]));
        sharing_[s].has_hessians_of_next = s + 1 < kSketches;
      }
    }
    rows_.rows.assign(bag_.begin(), bag_.end());
    rows_.others = others_;
    GrownBoostingTree tree = shared_splitter_->grow(rows_, sharing_);
    for (size_t k = 0; k < n_outputs_; ++k) {
      set_bag_gradients(k, team);
      set_leaves(tree, k, team);
      trees_.push_back({tree.nodes, {}});
    }
  }

  NodeStore grow_tree(uint64_t iteration, size_t output, Team& team) {
    set_bag_gradients(output, team);
    rows_.rows.assign(bag_.begin(), bag_.end());
    rows_.others = others_;
    const uint64_t key = mix(root_key(options_.seed, iteration) + output);
    if (boosting_.symmetric) {
      sharing_.clear();
      sharing_.push_back(share(gradients_, key, team));
      GrownBoostingTree tree = shared_splitter_->grow(rows_, sharing_);
      set_leaves(tree, output, team);
      return std::move(tree.nodes);
    }
    const Quantised quantised = quantise(gradients_, bag_, key, team, rows_.stats);
    CutRules rules;
    rules.penalty = boosting_.l2 * quantised.scales.hessian;
    rules.min_rows = boosting_.min_samples_leaf;
    rules.min_hessian = std::max(1.0, boosting_.min_hessian * quantised.scales.hessian);
    if (quantised.equal_hessians)  // rows are counted by them
      rules.min_hessian = std::max(rules.min_hessian,
                                   static_cast<double>(rules.min_rows) * quantised.largest_hessian);
    GrownBoostingTree tree =
        splitter_->grow(rows_, rules, quantised.scales, quantised.largest_hessian);
    set_leaves(tree, output, team);
    return std::move(tree.nodes);
  }

  // What lowers the loss of some rows most, by the gradients themselves in the order of rows.
  double best_step(std::span<const uint32_t> rows, size_t output) const {
    if (loss_->renews_leaves()) return loss_->leaf_value(raw_, rows, output, factors_);
    double gradient = 0.0, hessian = 0.0;
    for (const uint32_t row : rows) {
      gradient += gradients_[row].gradient;
      hessian += gradients_[row].hessian;
    }
    return hessian + boosting_.l2 > 0.0 ? -gradient / (hessian + boosting_.l2) : 0.0;
  }

  // Bounds of the steps of all nodes; empty where nothing is monotone.
  std::vector<ValueBounds> bound_values(const GrownBoostingTree& tree, size_t output) const {
    const DirectionConstraints& constraints = columns_->constraints();
    const NodeStore& nodes = tree.nodes;
    if (!constraints.is_monotone()) return {};
    // Rows of a node: those of the leaves below it, one range after the other.
    std::vector<std::span<const uint32_t>> rows(nodes.size());
    for (const LeafRange& leaf : tree.leaves) rows[static_cast<size_t>(leaf.node)] = leaf.rows;
    for (size_t node = nodes.size(); node-- > 0;)
      if (nodes.right[node] >= 0)
        rows[node] = {rows[node + 1].data(),
                      rows[node + 1].size() + rows[static_cast<size_t>(nodes.right[node])].size()};
    auto push = [&](size_t node) {
      if (nodes.flags[node] & kCategoryNode) return 0;
      const int64_t first = nodes.entry_offset[node];
      return constraints.push(nodes.entry_index.data() + first, nodes.entry_weight.data() + first,
                              static_cast<int>(nodes.entry_offset[node + 1] - first));
    };
    return bound_nodes(nodes, push, [&](size_t node) { return best_step(rows[node], output); });
  }

  void set_leaves(GrownBoostingTree& tree, size_t output, Team& team) {
    double* raw = raw_.output(output);
    std::vector<double> weights(tree.nodes.size(), 0.0);
    const std::vector<ValueBounds> bounds = bound_values(tree, output);
    std::vector<std::vector<int32_t>> features;
    std::vector<LeafModel> models(leaf_models_ ? tree.nodes.size() : 0);
    if (leaf_models_) features = leaf_models_->features_of_leaves(tree.nodes);
    const bool parallel = bag_.size() > kBlockRows;
    team.run(tree.leaves.size(), parallel, [&](size_t l) {
      const LeafRange& leaf = tree.leaves[l];
      poll_cancellation(leaf.value_rows.size() * 4);
      double weight = 0.0;
      for (const uint32_t row : leaf.rows) weight += set_.target.weight(row) * factor(row);
      weights[static_cast<size_t>(leaf.node)] = weight;
      double step = best_step(leaf.value_rows, output);
      if (!bounds.empty()) step = bounds[static_cast<size_t>(leaf.node)].clamp(step);
      double& value = tree.nodes.leaf_value[leaf.node];
      value = std::clamp(boosting_.learning_rate * step, -kMaxStep, kMaxStep);
      if (!leaf_models_) return;
      const auto node = static_cast<size_t>(leaf.node);
      models[node] = leaf_models_->fit(leaf.value_rows, features[node], gradients_, value,
                                       boosting_.learning_rate);
      value = models[node].value;
    });
    // Only now: the value of a leaf may depend on the predictions of rows of others.
    team.run(tree.leaves.size(), parallel, [&](size_t l) {
      const LeafRange& leaf = tree.leaves[l];
      if (leaf_models_) {
        const LeafModel& model = models[static_cast<size_t>(leaf.node)];
        leaf_models_->add(model, leaf.rows, raw);
        leaf_models_->add(model, leaf.others, raw);
        return;
      }
      const double value = tree.nodes.leaf_value[leaf.node];
      for (const uint32_t row : leaf.rows) raw[row] += value;
      for (const uint32_t row : leaf.others) raw[row] += value;
    });
    if (leaf_models_) store_models(models, tree.nodes);
    for (size_t node = tree.nodes.size(); node-- > 0;) {
      const int32_t right = tree.nodes.right[node];
      if (right >= 0) weights[node] = weights[node + 1] + weights[static_cast<size_t>(right)];
      tree.nodes.weight[node] = finite_float(weights[node]);
    }
  }

  // Whether the validation loss has stopped to fall.
  bool is_over() {
    if (boosting_.n_iter_no_change == 0 || validation_.empty()) return false;
    const double loss = result_.validation_loss.back();
    if (n_whole_ == 1 || loss < result_.validation_loss[best_] - boosting_.tol)
      best_ = n_whole_ - 1;
    return n_whole_ - 1 - best_ >= static_cast<size_t>(boosting_.n_iter_no_change);
  }

  const BoostingSet& set_;
  const BoostingOptions& boosting_;
  const Options& options_;
  const size_t n_outputs_;
  const std::unique_ptr<Loss> loss_;
  std::vector<uint32_t> training_, validation_, drawn_, others_;
  std::span<const uint32_t> bag_;  // the rows of an iteration: all training rows, or those drawn
  std::optional<BinnedColumns> features_;
  std::optional<TreeColumns> columns_;
  std::optional<LeafModels> leaf_models_;  // none: leaves have one value each
  RawPredictions raw_;
  std::vector<Gradient> gradients_;  // by row
  GradientSampling sampling_;
  std::vector<double> factors_;  // by row, of weights; empty: all 1
  BoostingRows rows_;
  HistogramSplitter* splitter_ = nullptr;
  SharedSplitter* shared_splitter_ = nullptr;
  std::vector<SharingOutput> sharing_;
  std::vector<GrownTree> trees_;
  size_t n_whole_ = 0, best_ = 0;  // iterations done; the best one
  BoostingResult result_;
};

}  // namespace

BoostingResult boost(const BoostingSet& set, const BoostingOptions& boosting,
                     const Options& options, int n_threads, const BoostingProgress& progress) {
  n_threads = useful_threads(n_threads, static_cast<size_t>(n_threads));
  Booster booster(set, boosting, options, n_threads);
  Done done;
  ThreadPool* running = nullptr;
  ThreadPool pool(
      n_threads, 1, [&](int worker, size_t) { booster.run(*running, worker, done); },
      static_cast<size_t>(n_threads));
  running = &pool;
  bool interrupted = false;
  try {
    pool.run([&](size_t) { return progress(done.n_iterations, done.validation_loss); });
  } catch (const Cancelled&) {
    if (!booster.has_any()) throw;
    interrupted = true;
  }
  return booster.finish(interrupted);
}

}  // namespace bevel
