#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bevel/boosting/booster.h"
#include "bevel/boosting/code_groups.h"
#include "bevel/boosting/losses/loss.h"
#include "bevel/data/scaler.h"
#include "bevel/projection/family.h"
#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/check.h"
#include "reporter.h"
#include "sparse_table.h"

using namespace bevel;

namespace {

// Column after column or row after row.
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
// Bytes of the caller that codes are written to.
using Room = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// function(raw) -> (gradient, hessian, loss), arrays of doubles by row, gradients and hessians
// output after output, which it has checked.
class PythonLoss : public LossSource {
 public:
  explicit PythonLoss(nb::object function) : function_(std::move(function)) {}
  ~PythonLoss() override {
    nb::gil_scoped_acquire gil;
    function_.reset();
  }

  const nb::object& function() const { return function_; }
  void evaluate(const RawPredictions& raw, std::vector<Gradient>& gradients,
                std::vector<double>& losses) const override {
    nb::gil_scoped_acquire gil;
    const size_t n = raw.values.size();
    const nb::object result = function_(nb::cast(to_numpy(std::vector<double>(raw.values))));
    const nb::tuple parts = nb::cast<nb::tuple>(result);
    const auto gradient = nb::cast<Vector<double>>(parts[0], false);
    const auto hessian = nb::cast<Vector<double>>(parts[1], false);
    const auto loss = nb::cast<Vector<double>>(parts[2], false);
    require(gradient.shape(0) == n && hessian.shape(0) == n && loss.shape(0) == raw.n_rows,
            "[boost] length of a loss's arrays");
    gradients.resize(n);
    for (size_t i = 0; i < n; ++i) gradients[i] = {gradient(i), hessian(i)};
    losses.assign(loss.data(), loss.data() + loss.shape(0));
  }

 private:
  nb::object function_;
};

// function(raw of the validation rows) -> score, which it has checked.
class PythonScorer : public ScoreSource {
 public:
  explicit PythonScorer(nb::object function) : function_(std::move(function)) {}
  ~PythonScorer() override {
    nb::gil_scoped_acquire gil;
    function_.reset();
  }

  const nb::object& function() const { return function_; }
  double evaluate(std::vector<double> raw) const override {
    nb::gil_scoped_acquire gil;
    return nb::cast<double>(function_(nb::cast(to_numpy(std::move(raw)))));
  }

 private:
  nb::object function_;
};

// The function that a member of the options calls; None: there is none.
template <auto member, class Caller>
nb::object get_function(const BoostingOptions& options) {
  if (!(options.*member)) return nb::none();
  return static_cast<const Caller&>(*(options.*member)).function();
}
template <auto member, class Caller>
void set_function(BoostingOptions& options, nb::object function) {
  (options.*member).reset();
  if (!function.is_none()) options.*member = std::make_shared<Caller>(std::move(function));
}

void check_values(const BoostingSet& set, const BoostingOptions& options) {
  const DatasetView& data = set.data;
  require(data.n_rows > 0 && data.n_features > 0, "[boost] empty data");
  require(data.n_rows < (size_t{1} << 30), "[boost] too many rows");
  require(options.n_outputs >= 1, "[boost] n_outputs");
  require(options.max_bins >= 2 && options.max_bins <= 255, "[boost] max_bins");
  for (size_t i = 0; i < data.n_rows; ++i) {
    const double weight = set.target.weight(i);
    require(weight >= 0.0 && std::isfinite(weight), "[boost] weight that is negative or infinite");
  }
  // Validation rows may have levels that the training rows lack.
  const auto validates = [&](size_t row) {
    return set.roles && set.roles[row] == static_cast<uint8_t>(RowRole::validation);
  };
  for (int32_t f : data.categorical)
    for (size_t i = 0; i < data.n_rows; ++i) {
      const float level = data.column(f)[i];
      const bool is_known = level < static_cast<float>(data.levels[f]);
      require(level >= 0.0f && (is_known || validates(i)), "[boost] level out of range");
    }
}

nb::dict to_dict(BoostingResult&& result) {
  nb::dict arrays, all;
  for_each_array(result.forest, [&](const ForestField& field, auto& array) {
    arrays[field.name] = to_numpy(std::move(array));
  });
  all["forest"] = arrays;
  all["baseline"] = to_numpy(std::move(result.baseline));
  all["training_loss"] = to_numpy(std::move(result.training_loss));
  all["validation_loss"] = to_numpy(std::move(result.validation_loss));
  all["n_iter"] = result.n_iter;
  all["interrupted"] = result.interrupted;
  return all;
}

// The arrays of a fit, kept alive and checked against each other.
class BoostingData {
 public:
  BoostingData(std::optional<Matrix> X, std::optional<SparseTable> sparse, Vector<int32_t> levels,
               Vector<float> medians, Vector<uint8_t> has_nan, Vector<double> target,
               std::optional<Vector<double>> weights, std::optional<Vector<uint8_t>> roles,
               std::optional<Vector<double>> baseline, std::optional<Vector<double>> raw_before,
               std::optional<Scaler> scaler, std::optional<Room> feature_room,
               std::optional<Room> direction_room, std::optional<LevelTermTable> level_terms,
               std::optional<Vector<uint8_t>> is_idle, std::optional<Vector<uint32_t>> groups,
               std::optional<Vector<uint8_t>> event, std::optional<Vector<double>> entry)
      : X_(X),
        sparse_(std::move(sparse)),
        levels_(levels),
        medians_(medians),
        has_nan_(has_nan),
        target_(target),
        weights_(weights),
        roles_(roles),
        baseline_(baseline),
        raw_before_(raw_before),
        scaler_(std::move(scaler)),
        feature_room_(feature_room),
        direction_room_(direction_room),
        level_terms_(read_level_terms(level_terms, levels)),
        is_idle_(is_idle),
        groups_(groups),
        event_(event),
        entry_(entry) {
    require(X_.has_value() != sparse_.has_value(), "[boost] X or sparse columns");
    require(X_ || level_terms_.empty(), "[boost] level terms of sparse columns");
    const size_t n = n_rows(), p = n_features();
    require(!is_idle || is_idle->shape(0) == p, "[boost] length of is_idle");
    if (X_) {
      const int64_t down = X_->stride(0), across = X_->stride(1);
      by_column_ = (n == 1 || down == 1) && (p == 1 || across == static_cast<int64_t>(n));
      require(by_column_ || (across == 1 && down == static_cast<int64_t>(p)),
              "[boost] X must be contiguous");
    }
    require(X_ || (!scaler_ && !feature_room_ && !direction_room_),
            "[boost] sparse columns that are not scaled, or codes outside of memory");
    require(levels.shape(0) == p, "[boost] levels need one entry per feature");
    for (size_t f = 0; !is_ready() && f < p; ++f)
      require(levels(f) == 0, "[boost] nominal columns of a table by rows");
    require(!scaler_ || scaler_->n_features() == p, "[boost] features of the scaler");
    require(levels.shape(0) == p && medians.shape(0) == p && has_nan.shape(0) == p,
            "[boost] levels, medians and has_nan need one entry per feature");
    require(target.shape(0) == n && (!weights || weights->shape(0) == n) &&
                (!roles || roles->shape(0) == n) && (!groups || groups->shape(0) == n) &&
                (!event || event->shape(0) == n) && (!entry || entry->shape(0) == n),
            "[boost] target, weights, roles, groups and times need one entry per row");
  }

  // Whether trees can be grown on X as it is: column after column, and scaled.
  bool is_ready() const { return by_column_ && !scaler_; }
  size_t n_rows() const { return X_ ? X_->shape(0) : sparse_->view().n_rows; }
  size_t n_features() const { return X_ ? X_->shape(1) : sparse_->view().n_features; }
  DatasetView data() const {
    DatasetView data(is_ready() ? X_->data() : nullptr, n_rows(),
                     static_cast<int32_t>(n_features()), levels_.data(), medians_.data(),
                     has_nan_.data(), level_terms_, is_idle_ ? is_idle_->data() : nullptr);
    if (sparse_) data.sparse = &sparse_->view();
    return data;
  }
  BoostingSet set(const DatasetView& data, const BoostingOptions& options) const {
    const auto n_outputs = static_cast<size_t>(options.n_outputs);
    require(!baseline_ || baseline_->shape(0) == n_outputs, "[boost] length of baseline");
    require(!raw_before_ || raw_before_->shape(0) == data.n_rows * n_outputs,
            "[boost] length of raw_before");
    require((options.loss == "user") == (options.user_loss != nullptr) &&
                (!options.user_loss || baseline_),
            "[boost] a user's loss comes with a function and a baseline");
    require(!options.scorer || roles_, "[boost] a scorer needs validation rows");
    BoostingSet set{data, {target_.data(), weights_ ? weights_->data() : nullptr}};
    if (groups_) set.target.groups = groups_->data();
    if (event_) set.target.event = event_->data();
    if (entry_) set.target.entry = entry_->data();
    if (roles_) set.roles = roles_->data();
    if (baseline_) set.baseline = baseline_->data();
    if (raw_before_) set.raw_before = raw_before_->data();
    const size_t n = n_rows(), p = n_features();
    if (X_ && !is_ready())
      set.table = TableValues{X_->data(), by_column_ ? 1 : p, by_column_ ? n : 1,
                              scaler_ ? &*scaler_ : nullptr};
    if (feature_room_) set.feature_room = {feature_room_->data(), feature_room_->size()};
    if (direction_room_) set.direction_room = {direction_room_->data(), direction_room_->size()};
    return set;
  }

 private:
  std::optional<Matrix> X_;
  std::optional<SparseTable> sparse_;
  Vector<int32_t> levels_;
  Vector<float> medians_;
  Vector<uint8_t> has_nan_;
  Vector<double> target_;
  std::optional<Vector<double>> weights_;
  std::optional<Vector<uint8_t>> roles_;
  std::optional<Vector<double>> baseline_, raw_before_;
  std::optional<Scaler> scaler_;
  std::optional<Room> feature_room_, direction_room_;
  std::vector<LevelTerm> level_terms_;
  std::optional<Vector<uint8_t>> is_idle_;
  std::optional<Vector<uint32_t>> groups_;
  std::optional<Vector<uint8_t>> event_;
  std::optional<Vector<double>> entry_;
  bool by_column_ = false;
};

nb::dict boost_trees(const BoostingData& arrays, const Options& options,
                     const BoostingOptions& boosting, int n_threads, nb::object progress) {
  for (const auto& family : options.families)
    require(arrays.is_ready() || family->needs_no_values(),
            "[boost] directions of a table by rows");
  Reporter reporter(std::move(progress));
  const Options trees = options;
  const BoostingOptions settings = boosting;
  std::optional<BoostingResult> result;
  run_cancellable(reporter, [&] {
    const DatasetView data = arrays.data();
    const BoostingSet set = arrays.set(data, settings);
    check_values(set, settings);
    result = boost(set, settings, trees, n_threads,
                   [&reporter](size_t done, double loss) { return reporter(done, loss); });
  });
  // Ctrl-C keeps what is grown; an error of the callback is raised.
  if (result->interrupted && !reporter.drop(PyExc_KeyboardInterrupt)) reporter.raise();
  return to_dict(std::move(*result));
}

}  // namespace

void bind_boosting(nb::module_& m) {
  m.def(
      "code_bytes", [](size_t n_columns) { return CodeGroups::n_bytes(1, n_columns); },
      nb::arg("n_columns"));
  m.def(
      "exponentials",
      [](Vector<double> x) {
        std::vector<double> result(x.shape(0));
        for (size_t i = 0; i < result.size(); ++i) result[i] = fixed_exp(x(i));
        return to_numpy(std::move(result));
      },
      nb::arg("x").noconvert());
  nb::class_<BoostingOptions>(m, "BoostingOptions")
      .def(nb::init<>())
      .def_rw("loss", &BoostingOptions::loss)
      .def_rw("quantiles", &BoostingOptions::quantiles)
      .def_rw("n_outputs", &BoostingOptions::n_outputs)
      .def_rw("learning_rate", &BoostingOptions::learning_rate)
      .def_rw("max_iter", &BoostingOptions::max_iter)
      .def_rw("symmetric", &BoostingOptions::symmetric)
      .def_rw("shares_trees", &BoostingOptions::shares_trees)
      .def_rw("max_leaf_nodes", &BoostingOptions::max_leaf_nodes)
      .def_rw("max_depth", &BoostingOptions::max_depth)
      .def_rw("min_samples_leaf", &BoostingOptions::min_samples_leaf)
      .def_rw("l2", &BoostingOptions::l2)
      .def_rw("linear_leaves", &BoostingOptions::linear_leaves)
      .def_rw("min_hessian", &BoostingOptions::min_hessian)
      .def_rw("subsample", &BoostingOptions::subsample)
      .def_rw("samples_by_gradient", &BoostingOptions::samples_by_gradient)
      .def_rw("max_bins", &BoostingOptions::max_bins)
      .def_rw("n_iter_no_change", &BoostingOptions::n_iter_no_change)
      .def_rw("tol", &BoostingOptions::tol)
      .def_rw("eval_at", &BoostingOptions::eval_at)
      .def_rw("first_iter", &BoostingOptions::first_iter)
      .def_prop_rw("user_loss", get_function<&BoostingOptions::user_loss, PythonLoss>,
                   set_function<&BoostingOptions::user_loss, PythonLoss>,
                   nb::for_setter(nb::arg("function").none()))
      .def_prop_rw("scorer", get_function<&BoostingOptions::scorer, PythonScorer>,
                   set_function<&BoostingOptions::scorer, PythonScorer>,
                   nb::for_setter(nb::arg("function").none()));
  using OptionalRoom = std::optional<Room>;
  using OptionalNumbers = std::optional<Vector<double>>;
  nb::class_<BoostingData>(m, "BoostingData")
      .def(
          nb::init<std::optional<Matrix>, std::optional<SparseTable>, Vector<int32_t>,
                   Vector<float>, Vector<uint8_t>, Vector<double>, OptionalNumbers,
                   std::optional<Vector<uint8_t>>, OptionalNumbers, OptionalNumbers,
                   std::optional<Scaler>, OptionalRoom, OptionalRoom, std::optional<LevelTermTable>,
                   std::optional<Vector<uint8_t>>, std::optional<Vector<uint32_t>>,
                   std::optional<Vector<uint8_t>>, OptionalNumbers>(),
          nb::kw_only(), nb::arg("X").noconvert().none(), nb::arg("sparse") = nb::none(),
          nb::arg("levels").noconvert(), nb::arg("medians").noconvert(),
          nb::arg("has_nan").noconvert(), nb::arg("target").noconvert(),
          nb::arg("weights").noconvert() = nb::none(), nb::arg("roles").noconvert() = nb::none(),
          nb::arg("baseline").noconvert() = nb::none(),
          nb::arg("raw_before").noconvert() = nb::none(), nb::arg("scaler") = nb::none(),
          nb::arg("feature_room").noconvert() = nb::none(),
          nb::arg("direction_room").noconvert() = nb::none(),
          nb::arg("level_terms").noconvert() = nb::none(),
          nb::arg("is_idle").noconvert() = nb::none(), nb::arg("groups").noconvert() = nb::none(),
          nb::arg("event").noconvert() = nb::none(), nb::arg("entry").noconvert() = nb::none());
  m.def("boost", &boost_trees, nb::arg("data"), nb::arg("options"), nb::arg("boosting"),
        nb::arg("n_threads"), nb::arg("progress") = nb::none());
}
