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
#include "bevel/projection/sampler.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/support/check.h"
#include "reporter.h"

using namespace bevel;

namespace {

nb::dict to_dict(FlatForest&& forest) {
  nb::dict arrays;
  for_each_array(forest, [&](const ForestField& field, auto& array) {
    arrays[field.name] = to_numpy(std::move(array));
  });
  return arrays;
}

void check_patch(const Patch& patch, const DatasetView& data) {
  int64_t last = (patch.n_channels - 1) * static_cast<int64_t>(patch.channel_stride);
  for (const PatchAxis& axis : patch.axes) {
    require(1 <= axis.shortest && axis.shortest <= axis.longest && axis.longest <= axis.length,
            "[train] size of a patch");
    last += (axis.length - 1) * static_cast<int64_t>(axis.stride);
  }
  require(!patch.axes.empty() && last < data.n_features && data.categorical.empty(),
          "[train] patches do not fit the features");
}

// Given rotations have an axis for each numeric feature, and each tree has one of them.
void check_rotations(const Family& family, const DatasetView& data,
                     std::span<const uint64_t> trees) {
  const size_t n_axes = data.numeric.size();
  require(n_axes > 0 && family.pool->size() % n_axes == 0 && !family.per_node,
          "[train] axes of given rotations");
  for (int32_t feature : family.pool->index)
    require(0 <= feature && static_cast<size_t>(feature) < n_axes,
            "[train] feature of a given rotation");
  for (uint64_t tree : trees) {
    require(tree < family.rotation_of_tree.size(), "[train] a tree without a rotation");
    const int32_t rotation = family.rotation_of_tree[tree];
    require(0 <= rotation && static_cast<size_t>(rotation) < family.pool->size() / n_axes,
            "[train] rotation of a tree");
  }
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
  require(options.replace || options.bag_size <= static_cast<int64_t>(data.n_rows),
          "[train] bag_size above the number of rows without replacement");
  for (const Family& family : options.families) {
    if (family.kind == FamilyKind::patches) check_patch(family.patch, data);
    if (family.kind == FamilyKind::rotation && family.pool) check_rotations(family, data, trees);
  }
  check_targets(t);
  require(t.labels || !options.balanced_subsample, "[train] balanced bags without classes");
  if (t.times) check_times(t);
  if (t.weights) check_weights({t.weights, data.n_rows});
  for (int32_t f : data.categorical)
    for (size_t i = 0; i < data.n_rows; ++i) {
      const float code = data.column(f)[i];
      require(code >= 0.0f && code < static_cast<float>(data.levels[f]),
              "[train] level out of range");
    }
}

// The arrays of a training set, kept alive and checked against each other.
class TrainingArrays {
 public:
  TrainingArrays(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians,
                 std::optional<Vector<uint8_t>> has_nan, nb::object target, int32_t n_classes,
                 std::optional<Vector<double>> weights,
                 std::optional<Vector<int32_t>> output_classes = std::nullopt,
                 std::optional<nb::tuple> survival = std::nullopt)
      : X_(X),
        levels_(levels),
        medians_(medians),
        has_nan_(has_nan),
        n_classes_(n_classes),
        weights_(weights),
        output_classes_(output_classes) {
    const size_t n = X.shape(0), n_outputs = output_classes ? output_classes->shape(0) : 1;
    require(!output_classes || n_outputs > 1, "[train] one output has no list of outputs");
    require(levels.shape(0) == X.shape(1) && medians.shape(0) == X.shape(1) &&
                (!has_nan || has_nan->shape(0) == X.shape(1)),
            "[train] levels, medians and has_nan need one entry per feature");
    if (survival) {
      times_ = nb::cast<Vector<uint32_t>>((*survival)[0], false);
      events_ = nb::cast<Vector<uint8_t>>((*survival)[1], false);
      bag_rows_ = nb::cast<Vector<uint32_t>>((*survival)[2], false);
      n_times_ = nb::cast<int32_t>((*survival)[3]);
      require(times_.shape(0) == n && events_.shape(0) == n && bag_rows_.shape(0) == n,
              "[train] length of the survival times");
      if (!(*survival)[4].is_none()) {
        entries_ = nb::cast<Vector<uint32_t>>((*survival)[4], false);
        require(entries_.shape(0) == n, "[train] length of the entries");
        has_entries_ = true;
      }
      n_causes_ = nb::cast<size_t>((*survival)[5]);
      require(n_causes_ >= 1 && n_causes_ <= 255, "[train] number of causes");
      require(static_cast<size_t>(n_times_) * n_causes_ < (size_t{1} << 31),
              "[train] too many event times");
      require(!weights || weights->shape(0) == n, "[train] length of weights");
      return;
    }
    if (n_classes > 0)
      labels_ = nb::cast<Vector<int32_t>>(target, false);
    else
      targets_ = nb::cast<Vector<double>>(target, false);
    require((n_classes > 0 ? labels_.shape(0) : targets_.shape(0)) == n * n_outputs,
            "[train] length of target");
    require(!weights || weights->shape(0) == n, "[train] length of weights");
  }

  DatasetView data() const {
    return DatasetView(X_.data(), X_.shape(0), static_cast<int32_t>(X_.shape(1)), levels_.data(),
                       medians_.data(), has_nan_ ? has_nan_->data() : nullptr);
  }
  TrainingSet training(const DatasetView& data) const {
    TrainingSet training{data};
    training.n_classes = n_classes_;
    training.weights = weights_ ? weights_->data() : nullptr;
    if (n_times_ > 0) {
      training.times = times_.data();
      training.events = events_.data();
      training.bag_row = bag_rows_.data();
      training.n_times = n_times_;
      training.entries = has_entries_ ? entries_.data() : nullptr;
      training.n_causes = n_causes_;
      return training;
    }
    training.labels = n_classes_ > 0 ? labels_.data() : nullptr;
    training.targets = n_classes_ > 0 ? nullptr : targets_.data();
    if (output_classes_) training.output_classes = as_span(*output_classes_);
    return training;
  }

 private:
  ColumnMatrix X_;
  Vector<int32_t> levels_;
  Vector<float> medians_;
  std::optional<Vector<uint8_t>> has_nan_;
  int32_t n_classes_;
  std::optional<Vector<double>> weights_;
  std::optional<Vector<int32_t>> output_classes_;
  Vector<int32_t> labels_;
  Vector<double> targets_;
  Vector<uint32_t> times_, bag_rows_, entries_;
  Vector<uint8_t> events_;
  int32_t n_times_ = 0;
  bool has_entries_ = false;
  size_t n_causes_ = 1;
};

nb::dict train_forest(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians,
                      Vector<uint8_t> has_nan, nb::object target, int32_t n_classes,
                      std::optional<Vector<double>> weights, const Options& options,
                      Vector<uint64_t> trees, int n_threads, nb::object progress,
                      std::optional<Vector<int32_t>> output_classes,
                      std::optional<nb::tuple> survival) {
  const TrainingArrays arrays(X, levels, medians, has_nan, std::move(target), n_classes, weights,
                              output_classes, std::move(survival));
  Reporter reporter(std::move(progress));
  const Options copy = options;
  const std::span<const uint64_t> numbers(trees.data(), trees.shape(0));
  std::optional<FlatForest> forest;
  run_cancellable(reporter, [&] {
    const DatasetView data = arrays.data();
    const TrainingSet training = arrays.training(data);
    check_shapes(training, copy, numbers);
    forest = train(training, copy, numbers, n_threads,
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
nb::tuple sample_tree(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians,
                      nb::object target, int32_t n_classes, std::optional<Vector<double>> weights,
                      const Options& options, uint64_t tree) {
  const TrainingArrays arrays(X, levels, medians, std::nullopt, std::move(target), n_classes,
                              weights);
  const DatasetView data = arrays.data();
  const TrainingSet training = arrays.training(data);
  check_shapes(training, options, {&tree, 1});
  const std::vector<int32_t> multiplicity = draw_bag(options, data.n_rows, tree, training.weights);
  TrainingRowData row_data;
  row_data.tree = tree;
  row_data.labels = training.labels;
  row_data.targets = training.targets;
  row_data.n_classes = n_classes;
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
  m.def("train", &train_forest, nb::arg("X").noconvert(), nb::arg("levels").noconvert(),
        nb::arg("medians").noconvert(), nb::arg("has_nan").noconvert(), nb::arg("target").none(),
        nb::arg("n_classes"), nb::arg("weights").noconvert().none(), nb::arg("options"),
        nb::arg("trees").noconvert(), nb::arg("n_threads"), nb::arg("progress").none(),
        nb::arg("output_classes").noconvert() = nb::none(), nb::arg("survival") = nb::none());
  m.def(
      "bag",
      [](const Options& options, size_t n_rows, uint64_t tree,
         std::optional<Vector<double>> weights) {
        require(!weights || weights->shape(0) == n_rows, "[bag] length of weights");
        return to_numpy(draw_bag(options, n_rows, tree, weights ? weights->data() : nullptr));
      },
      nb::arg("options"), nb::arg("n_rows"), nb::arg("tree"),
      nb::arg("weights").noconvert() = nb::none());
  m.def("sample_tree", &sample_tree, nb::arg("X").noconvert(), nb::arg("levels").noconvert(),
        nb::arg("medians").noconvert(), nb::arg("target"), nb::arg("n_classes"),
        nb::arg("weights").noconvert().none(), nb::arg("options"), nb::arg("tree"));
  m.def("forest_axes", &forest_axes, nb::arg("options"), nb::arg("levels").noconvert());
  m.def("sample_candidates", &sample_candidates, nb::arg("options"), nb::arg("levels").noconvert(),
        nb::arg("tree"));
}
