#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays.h"
#include "bevel/forest/bag.h"
#include "bevel/forest/forest_trainer.h"
#include "bevel/projection/family.h"
#include "bevel/projection/sampler.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/support/check.h"
#include "reporter.h"
#include "sparse_table.h"

using namespace bevel;

namespace {

nb::dict to_dict(FlatForest&& forest) {
  nb::dict arrays;
  for_each_array(forest, [&](const ForestField& field, auto& array) {
    arrays[field.name] = to_numpy(std::move(array));
  });
  return arrays;
}

void check_weights(std::span<const double> weights) {
  bool any = false;
  for (double weight : weights) {
    require(weight >= 0.0 && std::isfinite(weight), "[train] weight that is negative or infinite");
    any |= weight > 0.0;
  }
  require(any, "[train] no row has a weight");
}

// Ascending ranks of event times, and each row's number among the rows as they were given.
void check_times(const TrainingSet& t) {
  const size_t n = t.data.n_rows;
  std::vector<bool> seen(n, false);
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    require(t.times[i] <= static_cast<uint32_t>(t.n_times), "[train] rank of a time");
    require(i == 0 || t.times[i - 1] <= t.times[i], "[train] times that do not ascend");
    require(t.events[i] <= t.n_causes && (!t.events[i] || t.times[i] > 0),
            "[train] event of a row");
    const uint32_t entry = t.entries ? t.entries[i] : 0;
    require(t.events[i] ? entry < t.times[i] : entry <= t.times[i], "[train] entry of a row");
    require(t.bag_row[i] < n && !seen[t.bag_row[i]], "[train] order of the rows");
    seen[t.bag_row[i]] = true;
    any |= t.events[i] != 0;
  }
  require(any, "[train] no row has an event");
}

void check_targets(const TrainingSet& t) {
  const size_t n_rows = t.data.n_rows;
  const size_t n = n_rows * std::max<size_t>(1, t.output_classes.size());
  if (t.targets)
    for (size_t i = 0; i < n; ++i)
      require(std::isfinite(t.targets[i]), "[train] target that is not finite");
  if (t.labels && t.output_classes.empty())
    for (size_t i = 0; i < n; ++i)
      require(t.labels[i] >= 0 && t.labels[i] < t.n_classes, "[train] label out of range");
  if (!t.labels) return;
  int64_t low = 0;
  for (size_t k = 0; k < t.output_classes.size(); ++k) {
    const int64_t high = low + t.output_classes[k];
    require(high > low && high <= t.n_classes, "[train] number of classes of an output");
    for (size_t i = 0; i < n_rows; ++i) {
      const int32_t label = t.labels[i * t.output_classes.size() + k];
      require(label >= low && label < high, "[train] label out of range");
    }
    low = high;
  }
}

void check_shapes(const TrainingSet& t, const Options& options, std::span<const uint64_t> trees) {
  const DatasetView& data = t.data;
  require(data.n_rows > 0 && data.n_features > 0, "[train] empty data");
  require(data.n_rows < (size_t{1} << 31), "[train] too many rows");
  require(t.n_classes <= 65535 || !t.output_classes.empty(), "[train] too many classes");
  require(!options.families.empty(), "[train] no family of projections");
  require(options.bag_size >= 0 && options.bag_size < (int64_t{1} << 31), "[train] bag_size");
  require(options.bag_groups.empty() ||
              (options.bag_groups.size() == data.n_rows && options.n_bag_groups > 0),
          "[train] groups of rows");
  require(options.replace || options.bag_size <= static_cast<int64_t>(data.n_rows),
          "[train] bag_size above the number of rows without replacement");
  for (const auto& family : options.families) family->check(data, trees);
  check_targets(t);
  require(t.labels || !options.balanced_subsample, "[train] balanced bags without classes");
  if (t.times) check_times(t);
  if (t.weights) check_weights({t.weights, data.n_rows});
  for (const auto& family : options.families)
    require(!data.sparse || family->needs_no_values(), "[train] directions of sparse columns");
  require(!data.sparse || data.categorical.empty(), "[train] nominal sparse columns");
  for (int32_t f : data.categorical)
    for (size_t i = 0; i < data.n_rows; ++i) {
      const float code = data.column(f)[i];
      require(code >= 0.0f && code < static_cast<float>(data.levels[f]),
              "[train] level out of range");
    }
}

// Right-censored times of rows in their order.
class SurvivalTimes {
 public:
  SurvivalTimes(Vector<uint32_t> rank, Vector<uint8_t> event, Vector<uint32_t> row, int32_t n_times,
                std::optional<Vector<uint32_t>> entry, size_t n_causes)
      : rank_(rank),
        event_(event),
        row_(row),
        n_times_(n_times),
        entry_(entry),
        n_causes_(n_causes) {
    const size_t n = rank.shape(0);
    require(event.shape(0) == n && row.shape(0) == n && (!entry || entry->shape(0) == n),
            "[train] length of the survival times");
    require(n_times > 0, "[train] no event times");
    require(n_causes >= 1 && n_causes <= 255, "[train] number of causes");
    require(static_cast<size_t>(n_times) * n_causes < (size_t{1} << 31),
            "[train] too many event times");
  }

  size_t n_rows() const { return rank_.shape(0); }
  void assign_to(TrainingSet& training) const {
    training.times = rank_.data();
    training.events = event_.data();
    training.bag_row = row_.data();
    training.n_times = n_times_;
    training.entries = entry_ ? entry_->data() : nullptr;
    training.n_causes = n_causes_;
  }

 private:
  Vector<uint32_t> rank_;
  Vector<uint8_t> event_;
  Vector<uint32_t> row_;
  int32_t n_times_;
  std::optional<Vector<uint32_t>> entry_;
  size_t n_causes_;
};

// The arrays of a training set, kept alive and checked against each other.
class TrainingData {
 public:
  TrainingData(std::optional<ColumnMatrix> X, std::optional<SparseTable> sparse,
               Vector<int32_t> levels, Vector<float> medians,
               std::optional<Vector<uint8_t>> has_nan, std::optional<Vector<double>> weights,
               int32_t n_classes, std::optional<Vector<int32_t>> labels,
               std::optional<Vector<double>> targets, std::optional<Vector<int32_t>> output_classes,
               std::optional<SurvivalTimes> survival, std::optional<LevelTermTable> level_terms,
               std::optional<Vector<uint8_t>> is_idle)
      : X_(X),
        sparse_(std::move(sparse)),
        levels_(levels),
        medians_(medians),
        has_nan_(has_nan),
        weights_(weights),
        n_classes_(n_classes),
        labels_(labels),
        targets_(targets),
        output_classes_(output_classes),
        survival_(survival),
        level_terms_(read_level_terms(level_terms, levels)),
        is_idle_(is_idle) {
    require(X_.has_value() != sparse_.has_value(), "[train] X or sparse columns");
    require(X_ || level_terms_.empty(), "[train] level terms of sparse columns");
    const size_t n = n_rows(), p = n_features();
    require(!is_idle || is_idle->shape(0) == p, "[train] length of is_idle");
    const size_t n_outputs = output_classes ? output_classes->shape(0) : 1;
    require(!output_classes || n_outputs > 1, "[train] one output has no list of outputs");
    require(levels.shape(0) == p && medians.shape(0) == p && (!has_nan || has_nan->shape(0) == p),
            "[train] levels, medians and has_nan need one entry per feature");
    require(!weights || weights->shape(0) == n, "[train] length of weights");
    require(int{labels.has_value()} + int{targets.has_value()} + int{survival.has_value()} == 1,
            "[train] either labels, targets or survival times");
    require(labels.has_value() == (n_classes > 0), "[train] labels come with their classes");
    require((!labels || labels->shape(0) == n * n_outputs) &&
                (!targets || targets->shape(0) == n * n_outputs),
            "[train] length of target");
    require(!survival || survival->n_rows() == n, "[train] length of the survival times");
  }

  DatasetView data() const {
    DatasetView data(X_ ? X_->data() : nullptr, n_rows(), static_cast<int32_t>(n_features()),
                     levels_.data(), medians_.data(), has_nan_ ? has_nan_->data() : nullptr,
                     level_terms_, is_idle_ ? is_idle_->data() : nullptr);
    if (sparse_) data.sparse = &sparse_->view();
    return data;
  }
  size_t n_rows() const { return X_ ? X_->shape(0) : sparse_->view().n_rows; }
  size_t n_features() const { return X_ ? X_->shape(1) : sparse_->view().n_features; }
  TrainingSet training(const DatasetView& data) const {
    TrainingSet training{data};
    training.n_classes = n_classes_;
    training.weights = weights_ ? weights_->data() : nullptr;
    training.labels = labels_ ? labels_->data() : nullptr;
    training.targets = targets_ ? targets_->data() : nullptr;
    if (output_classes_) training.output_classes = as_span(*output_classes_);
    if (survival_) survival_->assign_to(training);
    return training;
  }

 private:
  std::optional<ColumnMatrix> X_;
  std::optional<SparseTable> sparse_;
  Vector<int32_t> levels_;
  Vector<float> medians_;
  std::optional<Vector<uint8_t>> has_nan_;
  std::optional<Vector<double>> weights_;
  int32_t n_classes_;
  std::optional<Vector<int32_t>> labels_;
  std::optional<Vector<double>> targets_;
  std::optional<Vector<int32_t>> output_classes_;
  std::optional<SurvivalTimes> survival_;
  std::vector<LevelTerm> level_terms_;
  std::optional<Vector<uint8_t>> is_idle_;
};

nb::dict train_forest(const TrainingData& arrays, const Options& options, Vector<uint64_t> trees,
                      int n_threads, nb::object progress) {
  Reporter reporter(std::move(progress));
  const Options copy = options;
  std::optional<FlatForest> forest;
  run_cancellable(reporter, [&] {
    const DatasetView data = arrays.data();
    const TrainingSet training = arrays.training(data);
    check_shapes(training, copy, as_span(trees));
    forest = train(training, copy, as_span(trees), n_threads,
                   [&reporter](size_t done) { return reporter(done); });
  });
  return to_dict(std::move(*forest));
}

nb::tuple to_tuple(Candidates&& directions) {
  return nb::make_tuple(to_numpy(std::move(directions.offset)),
                        to_numpy(std::move(directions.index)),
                        to_numpy(std::move(directions.weight)));
}

Candidates sample_root(const Options& options, const DatasetView& data, const NodeRows& node,
                       uint64_t tree) {
  Stream stream(root_key(options.seed, tree), Purpose::candidates);
  Candidates candidates;
  for (const auto& sampler : make_samplers(options, data)) {
    SamplerScratch scratch;
    sampler->prepare(scratch);
    sampler->sample(node, stream, scratch, candidates);
  }
  return candidates;
}

// A table of which only the columns are known, for families that do not read the data.
struct Columns {
  explicit Columns(const Vector<int32_t>& levels)
      : medians(levels.shape(0), 0.0f),
        view(nullptr, 0, static_cast<int32_t>(levels.shape(0)), levels.data(), medians.data(),
             nullptr) {}
  const std::vector<float> medians;
  const DatasetView view;
};

// Directions that the root of a tree draws.
nb::tuple sample_candidates(const Options& options, Vector<int32_t> levels, uint64_t tree) {
  const Columns columns(levels);
  return to_tuple(sample_root(options, columns.view, {nullptr, {}, nullptr, nullptr}, tree));
}

// Directions that all trees of a multi-rotation forest draw from.
nb::tuple forest_axes(const Options& options, Vector<int32_t> levels) {
  const Columns columns(levels);
  Candidates axes;
  run_cancellable([&] { axes = draw_forest_axes(options, columns.view); });
  return to_tuple(std::move(axes));
}

// Axes of a tree and directions that its root draws, for any family.
nb::tuple sample_tree(const TrainingData& arrays, const Options& options, uint64_t tree) {
  const DatasetView data = arrays.data();
  const TrainingSet training = arrays.training(data);
  check_shapes(training, options, {&tree, 1});
  const std::vector<int32_t> multiplicity =
      draw_bag_part(options, data.n_rows, tree, training.weights, BagPart::splits);
  TrainingRowData row_data;
  row_data.tree = tree;
  row_data.labels = training.labels;
  row_data.targets = training.targets;
  row_data.n_classes = training.n_classes;
  row_data.weights = training.weights;
  row_data.multiplicity = multiplicity.data();
  std::vector<uint32_t> rows, outside;
  for (size_t row = 0; row < data.n_rows; ++row)
    if (row_data.weight_outside(row) > 0.0)
      (row_data.weight(row) > 0.0 ? rows : outside).push_back(static_cast<uint32_t>(row));
  std::vector<const float*> columns;
  for (int32_t f = 0; f < data.n_features; ++f) columns.push_back(data.column(f));
  Stream stream(root_key(options.seed, tree), Purpose::rotation);
  Candidates axes;
  draw_tree_axes(options, data, {rows, row_data}, stream, axes);
  const NodeRows node{columns.data(), rows, nullptr, &row_data, {columns.data(), outside}};
  Candidates root = sample_root(options, data, node, tree);
  return nb::make_tuple(to_tuple(std::move(axes)), to_tuple(std::move(root)));
}

}  // namespace

void bind_trainer(nb::module_& m) {
  nb::class_<SurvivalTimes>(m, "SurvivalTimes")
      .def(nb::init<Vector<uint32_t>, Vector<uint8_t>, Vector<uint32_t>, int32_t,
                    std::optional<Vector<uint32_t>>, size_t>(),
           nb::kw_only(), nb::arg("rank").noconvert(), nb::arg("event").noconvert(),
           nb::arg("row").noconvert(), nb::arg("n_times"),
           nb::arg("entry").noconvert() = nb::none(), nb::arg("n_causes") = 1);
  nb::class_<TrainingData>(m, "TrainingData")
      .def(nb::init<std::optional<ColumnMatrix>, std::optional<SparseTable>, Vector<int32_t>,
                    Vector<float>, std::optional<Vector<uint8_t>>, std::optional<Vector<double>>,
                    int32_t, std::optional<Vector<int32_t>>, std::optional<Vector<double>>,
                    std::optional<Vector<int32_t>>, std::optional<SurvivalTimes>,
                    std::optional<LevelTermTable>, std::optional<Vector<uint8_t>>>(),
           nb::kw_only(), nb::arg("X").noconvert().none(), nb::arg("sparse") = nb::none(),
           nb::arg("levels").noconvert(), nb::arg("medians").noconvert(),
           nb::arg("has_nan").noconvert() = nb::none(), nb::arg("weights").noconvert() = nb::none(),
           nb::arg("n_classes") = 0, nb::arg("labels").noconvert() = nb::none(),
           nb::arg("targets").noconvert() = nb::none(),
           nb::arg("output_classes").noconvert() = nb::none(), nb::arg("survival") = nb::none(),
           nb::arg("level_terms").noconvert() = nb::none(),
           nb::arg("is_idle").noconvert() = nb::none());
  m.def("train", &train_forest, nb::arg("data"), nb::arg("options"), nb::arg("trees").noconvert(),
        nb::arg("n_threads"), nb::arg("progress") = nb::none());
  m.def(
      "bag",
      [](const Options& options, size_t n_rows, uint64_t tree,
         std::optional<Vector<double>> weights, bool of_leaves) {
        require(!weights || weights->shape(0) == n_rows, "[bag] length of weights");
        const double* given = weights ? weights->data() : nullptr;
        return to_numpy(of_leaves ? draw_bag_part(options, n_rows, tree, given, BagPart::leaves)
                                  : draw_bag(options, n_rows, tree, given));
      },
      nb::arg("options"), nb::arg("n_rows"), nb::arg("tree"),
      nb::arg("weights").noconvert() = nb::none(), nb::arg("of_leaves") = false);
  m.def("sample_tree", &sample_tree, nb::arg("data"), nb::arg("options"), nb::arg("tree"));
  m.def("forest_axes", &forest_axes, nb::arg("options"), nb::arg("levels").noconvert());
  m.def("sample_candidates", &sample_candidates, nb::arg("options"), nb::arg("levels").noconvert(),
        nb::arg("tree"));
}
