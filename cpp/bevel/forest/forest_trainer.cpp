#include "bevel/forest/forest_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "bevel/data/codes.h"
#include "bevel/forest/bag.h"
#include "bevel/forest/criteria/forest_criterion.h"
#include "bevel/forest/output_targets.h"
#include "bevel/projection/family.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/log_rank.h"
#include "bevel/split/projection_bound.h"
#include "bevel/support/arithmetic/grid_scale.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"
#include "bevel/support/thread_pool.h"
#include "bevel/tree/column_use.h"
#include "bevel/tree/tree_builder.h"
#include "bevel/tree/workspace.h"

namespace bevel {
namespace {

// Weights of the rows of a training set and their representation in criteria.
struct Weighting {
  const double* values = nullptr;  // null: all 1
  bool whole = true;               // small whole numbers, which multiplicities can include
  double largest = 1.0;
};

Weighting inspect_weights(const TrainingSet& training, const Options& options) {
  Weighting w;
  w.values = training.weights;
  if (options.balanced_subsample) w.whole = false;
  if (!training.weights) return w;
  w.largest = 0.0;
  for (size_t i = 0; i < training.data.n_rows; ++i) {
    const double x = training.weights[i];
    w.largest = std::max(w.largest, x);
    w.whole &= x == std::floor(x) && x <= 255.0;
  }
  // Sums of whole weights are stored in 32 bits.
  const auto draws = static_cast<double>(most_draws(options, training.data.n_rows));
  w.whole &= draws * w.largest < 2147483648.0;
  return w;
}

// The weight of each class of an output that balances the bag: n / (K n_k), as scikit-learn has it,
// where K classes are in the bag; others get 0.
std::vector<double> balance_classes(const TrainingSet& training,
                                    const std::vector<int32_t>& multiplicity, double n_draws) {
  const size_t n_outputs = training.n_outputs();
  std::vector<double> weights(static_cast<size_t>(training.n_classes), 0.0);
  for (size_t i = 0; i < multiplicity.size(); ++i)
    for (size_t k = 0; k < n_outputs; ++k)
      weights[training.labels[i * n_outputs + k]] += multiplicity[i];
  auto first = weights.begin();
  for (size_t k = 0; k < n_outputs; ++k) {
    const auto last =
        training.output_classes.empty() ? weights.end() : first + training.output_classes[k];
    const auto present =
        static_cast<double>(std::count_if(first, last, [](double count) { return count > 0.0; }));
    for (; first != last; ++first) *first = *first > 0.0 ? n_draws / (present * *first) : 0.0;
  }
  return weights;
}

// Products of many factors, beyond the range of double; 0 is {0, 0}.
struct Product {
  double mantissa = 1.0;
  int exponent = 0;

  void multiply(double factor) {
    int shift = 0;
    mantissa = std::frexp(mantissa * factor, &shift);
    exponent = mantissa > 0.0 ? exponent + shift : 0;
  }
};

// The weight of each row that balances the bag, with several outputs the product over them, in
// units in which the draws of the bag weigh 1 on average, as they do with one output.
std::vector<double> balance(const TrainingSet& training, const std::vector<int32_t>& multiplicity) {
  const size_t n = multiplicity.size(), n_outputs = training.n_outputs();
  const double n_draws = std::accumulate(multiplicity.begin(), multiplicity.end(), 0.0);
  const std::vector<double> of_class = balance_classes(training, multiplicity, n_draws);
  std::vector<double> weights(n);
  if (n_outputs == 1) {
    for (size_t i = 0; i < n; ++i) weights[i] = of_class[training.labels[i]];
    return weights;
  }
  std::vector<Product> products(n);
  int largest = std::numeric_limits<int>::min();
  for (size_t i = 0; i < n; ++i) {
    poll_cancellation(n_outputs);
    for (size_t k = 0; k < n_outputs; ++k)
      products[i].multiply(of_class[training.labels[i * n_outputs + k]]);
    if (multiplicity[i] > 0) largest = std::max(largest, products[i].exponent);
  }
  // Lighter rows count for nothing beside the heaviest; the same goes for sample weights. Rows that
  // are not in the bag may be heavier.
  constexpr double kLightest = 1e-20, kHeaviest = 1e15;
  double total = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const int exponent = std::min(products[i].exponent - largest, 100);
    weights[i] = std::ldexp(products[i].mantissa, exponent);
    if (products[i].mantissa > 0.0) weights[i] = std::clamp(weights[i], kLightest, kHeaviest);
    total += multiplicity[i] * weights[i];
  }
  for (double& weight : weights) weight *= n_draws / total;
  return weights;
}

// Gains are stored in float32. If it cannot hold the largest, or not much less than it, they are
// stored in units of a power of two; only their ratios are then meaningful.
double gain_unit(double largest_gain) {
  BEVEL_CHECK(std::isfinite(largest_gain));
  constexpr double kSmall = 0x1p-100, kLarge = 0x1p127;
  return largest_gain < kSmall || largest_gain > kLarge ? grid_scale(largest_gain, 0) : 1.0;
}

// The distinct targets and the rank of each row's. to_grid: what of a target is summed.
template <class Sum, class ToGrid>
RankedTargets<Sum> rank_targets(const double* targets, size_t n, ToGrid to_grid) {
  RankedTargets<Sum> result;
  result.values.assign(targets, targets + n);
  std::sort(result.values.begin(), result.values.end());
  result.values.erase(std::unique(result.values.begin(), result.values.end()), result.values.end());
  for (const double value : result.values) result.grid.push_back(to_grid(value));
  for (size_t i = 0; i < n; ++i)
    result.ranks.push_back(static_cast<uint32_t>(
        std::lower_bound(result.values.begin(), result.values.end(), targets[i]) -
        result.values.begin()));
  return result;
}

class Trainer {
 public:
  // start: null for whole trees.
  Trainer(const TrainingSet& training, const Options& options, const Weighting& weighting,
          std::span<const uint64_t> numbers, const SubtreeStart* start)
      : training_(training),
        data_(training.data),
        options_(options),
        weighting_(weighting),
        numbers_(numbers),
        start_(start),
        kernels_(kernels(options.simd)),
        bound_(data_),
        shared_{training, options},
        table_(options.criterion == CriterionKind::entropy && weighting.whole
                   ? EntropyTable(static_cast<double>(n_draws()) * weighting.largest)
                   : EntropyTable()),
        trees_(numbers.size()),
        samplers_(make_samplers(options, data_)),
        constraints_(options.constraints, data_) {
    shared_.table = &table_;
    set_scales();
    criterion_ = make_criterion(shared_);
    choose_columns();
  }

  FlatForest run(int n_threads, const Progress& progress) {
    // A large tree can be grown by as many threads as it has large subtrees.
    const size_t n_parts = trees_.size() * std::max<size_t>(1, data_.n_rows / kParallelSubtreeRows);
    n_threads = useful_threads(n_threads, n_parts);
    for (int w = 0; w < n_threads; ++w) {
      auto space = std::make_unique<Workspace>(options_, data_, kernels_,
                                               criterion_->make(bound_, kernels_));
      for (size_t f = 0; f < samplers_.size(); ++f) samplers_[f]->prepare(space->samplers[f]);
      workspaces_.push_back(std::move(space));
    }
    if (workspaces_[0]->criterion->traits().sums_pairs && !data_.sparse &&
        worth_coding(options_, data_, trees_.size()))
      codes_.emplace(data_, n_threads);
    ThreadPool pool(
        n_threads, trees_.size(), [this](int worker, size_t job) { grow(worker, job); }, n_parts);
    pool_ = &pool;
    pool.run(progress);
    workspaces_.clear();  // not needed any more, while the forest is copied
    codes_.reset();
    const bool values = training_.targets || training_.times;
    FlatForest forest = flatten(trees_, values && training_.output_classes.empty());
    forest.output_classes.assign(training_.output_classes.begin(), training_.output_classes.end());
    return forest;
  }

 private:
  int64_t n_draws() const { return most_draws(options_, data_.n_rows); }

  // Sets grids on which sums are whole numbers, common to all trees.
  void set_scales() {
    const auto draws = static_cast<double>(n_draws());
    // Weights that balance classes do not change the sum over a bag.
    const double largest = weighting_.largest;
    scales_.whole = weighting_.whole;
    if (!weighting_.whole) scales_.weight = grid_scale(draws * largest, 52);
    if (training_.times) {
      const double size = largest * LogRankScoreCriterion::kMaxScore;
      scales_.target = score_grid(draws, size);
    }
    if (!training_.output_classes.empty()) return set_outputs(draws * largest * scales_.weight);
    if (!training_.targets) return;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (size_t i = 0; i < data_.n_rows; ++i) {
      low = std::min(low, training_.targets[i]);
      high = std::max(high, training_.targets[i]);
    }
    const bool counts = options_.criterion == CriterionKind::poisson;
    scales_.centre = counts ? 0.0 : low + (high - low) / 2.0;
    const double reach = std::max(high - scales_.centre, scales_.centre - low);
    const double size = largest * reach;
    if (options_.criterion == CriterionKind::absolute_error) return rank_rows(reach);
    if (counts) {
      scales_.gain = gain_unit(draws * size);
      scales_.target = grid_scale(draws * size, 61);
      return;
    }
    scales_.gain = start_ ? start_->gain_unit : gain_unit(draws * largest * (reach * reach));
    scales_.target = score_grid(draws, size);
  }

  // Grid of weight times target, each of which is at most `size`.
  double score_grid(double draws, double size) const {
    const double fine = grid_scale(draws * size, 61);
    // Sums over a small node fit in a double and are vectorised. Real weights may differ by orders
    // of magnitude and need the finer grid.
    constexpr double kSmallNode = 1024.0;  // draws
    return weighting_.whole ? std::min(fine, grid_scale(kSmallNode * size, 53)) : fine;
  }

  // Absolute error: the sums of a side and products of its weight and a target stay below 2^62.
  void rank_rows(double reach) {
    const double largest_error = static_cast<double>(n_draws()) * weighting_.largest * reach;
    scales_.gain = gain_unit(largest_error);
    if (weighting_.whole) {
      scales_.target = grid_scale(largest_error, 59);
      shared_.whole_ranks =
          rank_targets<int64_t>(training_.targets, data_.n_rows, [this](double target) {
            return std::llround((target - scales_.centre) * scales_.target);
          });
    } else {
      shared_.real_ranks =
          rank_targets<double>(training_.targets, data_.n_rows,
                               [this](double target) { return target - scales_.centre; });
    }
  }

  // largest_weight: weight of a bag, in the units of the criterion.
  void set_outputs(double largest_weight) {
    outputs_ = read_outputs(training_);
    scales_.outputs = &outputs_;
    scales_.kernels = &kernels_;
    if (training_.targets)
      scales_.target =
          scales_.weight * standardise(training_, largest_weight, weighting_.whole, outputs_);
  }

  void grow(int worker, size_t job) {
    const uint64_t tree_number = numbers_[job];
    const std::vector<int32_t> multiplicity =
        start_ ? std::vector<int32_t>(start_->multiplicity, start_->multiplicity + data_.n_rows)
               : draw(tree_number);
    std::vector<double> balance_of_row;
    if (options_.balanced_subsample) balance_of_row = balance(training_, multiplicity);
    TrainingRowData row_data;
    row_data.tree = tree_number;
    row_data.labels = training_.labels;
    row_data.targets = training_.targets;
    row_data.n_classes = training_.n_classes;
    row_data.times = training_.times;
    row_data.events = training_.events;
    row_data.entries = training_.entries;
    row_data.n_times = training_.n_times;
    row_data.output_classes = training_.output_classes;
    row_data.weights = weighting_.values;
    row_data.balance = balance_of_row.empty() ? nullptr : balance_of_row.data();
    row_data.multiplicity = multiplicity.data();
    TreeData tree = gather(row_data, tree_number);
    TreeBuilder builder(options_, data_, codes_ ? &*codes_ : nullptr, samplers_, constraints_,
                        workspaces_, kernels_, *pool_);
    NodeStore nodes = builder.grow(tree, worker);
    // A subtree keeps the numbers of the axes, which it shares with the rest of its tree.
    trees_[job] = start_ ? GrownTree{std::move(nodes), {}}
                         : with_used_axes(std::move(nodes), tree.axes, data_.n_features);
    name_level_terms(trees_[job].nodes, data_);
    trees_[job].nodes.shrink();
  }

  // How often each row is in the bag, of honest trees in its part for splits. Sorted rows are drawn
  // by their original numbers.
  std::vector<int32_t> draw(uint64_t tree_number) const {
    constexpr BagPart part = BagPart::splits;
    if (!training_.bag_row)
      return draw_bag_part(options_, data_.n_rows, tree_number, weighting_.values, part);
    std::vector<double> weights(weighting_.values ? data_.n_rows : 0);
    for (size_t i = 0; i < weights.size(); ++i)
      weights[training_.bag_row[i]] = weighting_.values[i];
    const double* given = weights.empty() ? nullptr : weights.data();
    const std::vector<int32_t> drawn =
        draw_bag_part(options_, data_.n_rows, tree_number, given, part);
    std::vector<int32_t> multiplicity(data_.n_rows);
    for (size_t i = 0; i < data_.n_rows; ++i) multiplicity[i] = drawn[training_.bag_row[i]];
    return multiplicity;
  }

  TreeData gather(const TrainingRowData& row_data, uint64_t tree_number) const {
    TreeData tree;
    tree.root = start_ ? start_->key : root_key(options_.seed, tree_number);
    tree.row_data = row_data;
    tree.gain_unit = scales_.gain;
    const auto criterion = criterion_->make(bound_, kernels_);
    tree.weight_unit = criterion->traits().on_grid ? scales_.weight : 1.0;
    size_t n = 0;
    for (size_t row = 0; row < data_.n_rows; ++row) n += row_data.multiplicity[row] > 0;
    tree.rows.reserve(n);
    for (size_t row = 0; row < data_.n_rows; ++row) {
      if (row_data.multiplicity[row] == 0 || (row_data.weights && row_data.weights[row] == 0.0))
        continue;
      tree.rows.push_back(static_cast<uint32_t>(row));
    }
    tree.stats = criterion_->stats(tree.rows, row_data);
    criterion->begin_node(tree, 0, tree.rows.size());
    const bool known = start_ && start_->tree_weight > 0.0;
    tree.total_weight = known ? start_->tree_weight * tree.weight_unit : criterion->weight();
    BEVEL_CHECK(!tree.rows.empty() && tree.total_weight > 0.0 && std::isfinite(tree.total_weight));
    if (any_family(options_, &Family::needs_out_of_bag))
      for (size_t row = 0; row < data_.n_rows; ++row)
        if (row_data.multiplicity[row] == 0 && row_data.weight_outside(row) > 0.0)
          tree.out_of_bag.push_back(static_cast<uint32_t>(row));
    tree.columns = columns_;
    tree.used = used_;
    if (any_family(options_, &Family::per_tree)) add_axes(tree);
    return tree;
  }

  // Chooses the columns of trees without axes, which are common to all.
  void choose_columns() {
    columns_.assign(static_cast<size_t>(data_.n_features), nullptr);
    if (data_.sparse) return;
    bool reads_numeric = false, reads_nominal = false;
    for (const auto& family : options_.families) {
      if (family->per_tree()) continue;
      (family->is_nominal() ? reads_nominal : reads_numeric) = true;
    }
    for (int32_t f = 0; f < data_.n_features; ++f)
      if (data_.levels[f] ? reads_nominal : reads_numeric) {
        columns_[f] = data_.column(f);
        used_.push_back(f);
      }
  }

  // A tree with axes has its own columns: the axes and other columns it reads, for the rows
  // of its bag and after them for those out of it, if a family needs them.
  void add_axes(TreeData& tree) const {
    Stream stream(root_key(options_.seed, tree.row_data.tree), Purpose::rotation);
    draw_tree_axes(options_, data_, {tree.rows, tree.row_data}, stream, tree.axes);
    tree.data_rows = tree.rows;
    tree.data_rows.insert(tree.data_rows.end(), tree.out_of_bag.begin(), tree.out_of_bag.end());
    const size_t n = tree.data_rows.size();
    tree.own.resize(n * (tree.used.size() + tree.axes.size()));
    float* target = tree.own.data();
    for (int32_t f : tree.used) {
      poll_cancellation(n);
      for (size_t i = 0; i < n; ++i) target[i] = data_.column(f)[tree.data_rows[i]];
      tree.columns[f] = target;
      target += n;
    }
    const std::vector<float> rounding = axis_rounding(tree.axes, data_, tree.rows);
    std::vector<const float*> sources;
    std::vector<float> fill;
    for (size_t axis = 0; axis < tree.axes.size(); ++axis) {
      poll_cancellation(n * static_cast<size_t>(tree.axes.n_nonzeros(axis)));
      sources.clear();
      fill.clear();
      for (int k = 0; k < tree.axes.n_nonzeros(axis); ++k) {
        const int32_t f = tree.axes.indices(axis)[k];
        sources.push_back(data_.column(f));
        fill.push_back(data_.medians[f]);
      }
      const Projection projection{sources.data(), tree.axes.weights(axis), fill.data(),
                                  tree.axes.n_nonzeros(axis)};
      project_all(projection, tree.rows.size(), tree.data_rows, target);
      // Rows of the bag that differ along an axis by rounding alone, such as one that vanishes on
      // data of low rank, must not be separated.
      const ValueRange range = kernels_.range(target, tree.rows.size());
      if (range.high - range.low <= rounding[axis]) std::fill_n(target, n, 0.0f);
      tree.columns.push_back(target);
      tree.used.push_back(data_.n_features + static_cast<int32_t>(axis));
      target += n;
    }
    std::iota(tree.rows.begin(), tree.rows.end(), 0u);
    std::iota(tree.out_of_bag.begin(), tree.out_of_bag.end(),
              static_cast<uint32_t>(tree.rows.size()));
  }

  // Rows of the bag are ascending, and so are those after them.
  void project_all(const Projection& projection, size_t n_bag, const std::vector<uint32_t>& rows,
                   float* out) const {
    kernels_.project(projection, rows.data(), n_bag, out);
    kernels_.project(projection, rows.data() + n_bag, rows.size() - n_bag, out + n_bag);
  }

  const TrainingSet& training_;
  const DatasetView& data_;
  const Options& options_;
  const Weighting& weighting_;
  const std::span<const uint64_t> numbers_;
  const SubtreeStart* const start_;
  const Kernels& kernels_;
  const ProjectionBound bound_;
  CriterionData shared_;
  CriterionScales& scales_ = shared_.scales;
  EntropyTable table_;
  OutputTargets outputs_;
  std::unique_ptr<ForestCriterion> criterion_;
  std::vector<const float*> columns_;
  std::vector<int32_t> used_;
  std::optional<ColumnCodes> codes_;
  std::vector<GrownTree> trees_;
  Samplers samplers_;
  DirectionConstraints constraints_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  ThreadPool* pool_ = nullptr;
};

FlatForest run_trainer(const TrainingSet& training, const Options& options,
                       std::span<const uint64_t> trees, const SubtreeStart* start, int n_threads,
                       const Progress& progress) {
  const Weighting weighting = inspect_weights(training, options);
  return Trainer(training, options, weighting, trees, start).run(n_threads, progress);
}

}  // namespace

FlatForest train(const TrainingSet& training, const Options& options,
                 std::span<const uint64_t> trees, int n_threads, const Progress& progress) {
  return run_trainer(training, options, trees, nullptr, n_threads, progress);
}

FlatForest grow_subtree(const TrainingSet& training, const Options& options,
                        const SubtreeStart& start, int n_threads) {
  Options own = options;
  own.bag_size = 0;  // the number of draws
  for (size_t row = 0; row < training.data.n_rows; ++row) own.bag_size += start.multiplicity[row];
  return run_trainer(training, own, {&start.tree, 1}, &start, n_threads, nullptr);
}

}  // namespace bevel
