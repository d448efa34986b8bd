#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>

#include "arrays.h"
#include "bevel/boosting/booster.h"
#include "bevel/boosting/code_groups.h"
#include "bevel/data/scaler.h"
#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/check.h"
#include "conversions/enum_names.h"
#include "reporter.h"

using namespace bevel;

namespace {

// Column after column or row after row.
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
// Bytes of the caller that codes are written to.
using Room = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr auto kLosses = names_of<LossKind>(kLossNames);

// function(raw) -> (gradient, hessian, loss), arrays of doubles by row, gradients and hessians
// output after output, which it has checked.
class PythonLoss : public LossSource {
 public:
  PythonLoss(nb::object function, size_t n_outputs)
      : function_(std::move(function)), n_outputs_(n_outputs) {}
  ~PythonLoss() override {
    nb::gil_scoped_acquire gil;
    function_.reset();
  }

  void evaluate(std::span<const double> raw, std::vector<Gradient>& gradients,
                std::vector<double>& losses) const override {
    nb::gil_scoped_acquire gil;
    const size_t n = raw.size();
    const nb::object result =
        function_(nb::cast(to_numpy(std::vector<double>(raw.begin(), raw.end()))));
    const nb::tuple parts = nb::cast<nb::tuple>(result);
    const auto gradient = nb::cast<Vector<double>>(parts[0], false);
    const auto hessian = nb::cast<Vector<double>>(parts[1], false);
    const auto loss = nb::cast<Vector<double>>(parts[2], false);
    require(gradient.shape(0) == n && hessian.shape(0) == n && loss.shape(0) * n_outputs_ == n,
            "[boost] length of a loss's arrays");
    gradients.resize(n);
    for (size_t i = 0; i < n; ++i) gradients[i] = {gradient(i), hessian(i)};
    losses.assign(loss.data(), loss.data() + loss.shape(0));
  }

 private:
  nb::object function_;
  size_t n_outputs_;
};

// function(raw of the validation rows) -> score, which it has checked.
class PythonScorer : public ScoreSource {
 public:
  explicit PythonScorer(nb::object function) : function_(std::move(function)) {}
  ~PythonScorer() override {
    nb::gil_scoped_acquire gil;
    function_.reset();
  }

  double evaluate(std::vector<double> raw) const override {
    nb::gil_scoped_acquire gil;
    return nb::cast<double>(function_(nb::cast(to_numpy(std::move(raw)))));
  }

 private:
  nb::object function_;
};

void check_values(const BoostingSet& set, const BoostingOptions& options) {
  const DatasetView& data = set.data;
  require(data.n_rows > 0 && data.n_features > 0, "[boost] empty data");
  require(data.n_rows < (size_t{1} << 30), "[boost] too many rows");
  require(options.n_outputs >= 1, "[boost] n_outputs");
  require(options.max_bins >= 2 && options.max_bins <= 255, "[boost] max_bins");
  const bool may_have_many = options.loss == LossKind::multinomial ||
                             options.loss == LossKind::quantile || options.loss == LossKind::user;
  require(may_have_many || options.n_outputs == 1, "[boost] n_outputs");
  const auto n_quantiles = static_cast<int32_t>(options.quantiles.size());
  require(n_quantiles == (options.loss == LossKind::quantile ? options.n_outputs : 1),
          "[boost] number of quantiles");
  const double n_classes = options.loss == LossKind::multinomial ? options.n_outputs : 2;
  const bool of_classes =
      options.loss == LossKind::log_loss || options.loss == LossKind::multinomial;
  for (size_t i = 0; i < data.n_rows; ++i) {
    const double value = set.target.values[i];
    require(std::isfinite(value), "[boost] target that is not finite");
    require(!of_classes || (value >= 0.0 && value < n_classes && value == std::floor(value)),
            "[boost] class out of range");
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

// Samplers of these kinds ask for the shape of the table only.
bool draws_without_data(FamilyKind kind) {
  return kind == FamilyKind::axis || kind == FamilyKind::signs || kind == FamilyKind::combination;
}

nb::dict boost_trees(Matrix X, Vector<int32_t> levels, Vector<float> medians,
                     Vector<uint8_t> has_nan, Vector<double> target,
                     std::optional<Vector<double>> weights, std::optional<Vector<uint8_t>> roles,
                     std::optional<Vector<double>> baseline,
                     std::optional<Vector<double>> raw_before, const Options& options,
                     const BoostingOptions& boosting, int n_threads, nb::object progress,
                     nb::object user_loss, nb::object scorer, std::optional<Room> feature_room,
                     std::optional<Room> direction_room, const Scaler* scaler) {
  const size_t n = X.shape(0), p = X.shape(1);
  const bool by_column =
      (n == 1 || X.stride(0) == 1) && (p == 1 || X.stride(1) == static_cast<int64_t>(n));
  require(by_column || (X.stride(1) == 1 && X.stride(0) == static_cast<int64_t>(p)),
          "[boost] X must be contiguous");
  const bool is_ready = by_column && !scaler;
  for (size_t f = 0; !is_ready && f < p; ++f)
    require(levels(f) == 0, "[boost] nominal columns of a table by rows");
  for (const Family& family : options.families)
    require(is_ready || draws_without_data(family.kind), "[boost] directions of a table by rows");
  require(!scaler || scaler->n_features() == p, "[boost] features of the scaler");
  const auto n_outputs = static_cast<size_t>(boosting.n_outputs);
  require(levels.shape(0) == p && medians.shape(0) == p && has_nan.shape(0) == p,
          "[boost] levels, medians and has_nan need one entry per feature");
  require(target.shape(0) == n && (!weights || weights->shape(0) == n) &&
              (!roles || roles->shape(0) == n),
          "[boost] target, weights and roles need one entry per row");
  require(!baseline || baseline->shape(0) == n_outputs, "[boost] length of baseline");
  require(!raw_before || raw_before->shape(0) == n * n_outputs, "[boost] length of raw_before");
  require((boosting.loss == LossKind::user) == !user_loss.is_none() &&
              (user_loss.is_none() || baseline),
          "[boost] a user's loss comes with a function and a baseline");
  require(scorer.is_none() || roles, "[boost] a scorer needs validation rows");
  const bool has_scorer = !scorer.is_none();
  const PythonLoss source(std::move(user_loss), n_outputs);
  const PythonScorer measure(std::move(scorer));
  Reporter reporter(std::move(progress));
  const Options trees = options;
  const BoostingOptions settings = boosting;
  std::optional<BoostingResult> result;
  run_cancellable(reporter, [&] {
    const DatasetView data(is_ready ? X.data() : nullptr, n, static_cast<int32_t>(p), levels.data(),
                           medians.data(), has_nan.data());
    BoostingSet set{data, {target.data(), weights ? weights->data() : nullptr}};
    if (roles) set.roles = roles->data();
    if (baseline) set.baseline = baseline->data();
    if (raw_before) set.raw_before = raw_before->data();
    if (settings.loss == LossKind::user) set.user_loss = &source;
    if (has_scorer) set.scorer = &measure;
    if (!is_ready) set.table = TableValues{X.data(), by_column ? 1 : p, by_column ? n : 1, scaler};
    if (feature_room) set.feature_room = {feature_room->data(), feature_room->size()};
    if (direction_room) set.direction_room = {direction_room->data(), direction_room->size()};
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
  nb::class_<BoostingOptions> options(m, "BoostingOptions");
  options.def(nb::init<>());
  def_enum(options, "loss", &BoostingOptions::loss, kLosses);
  options.def_rw("quantiles", &BoostingOptions::quantiles)
      .def_rw("n_outputs", &BoostingOptions::n_outputs)
      .def_rw("learning_rate", &BoostingOptions::learning_rate)
      .def_rw("max_iter", &BoostingOptions::max_iter)
      .def_rw("max_leaf_nodes", &BoostingOptions::max_leaf_nodes)
      .def_rw("max_depth", &BoostingOptions::max_depth)
      .def_rw("min_samples_leaf", &BoostingOptions::min_samples_leaf)
      .def_rw("l2", &BoostingOptions::l2)
      .def_rw("min_hessian", &BoostingOptions::min_hessian)
      .def_rw("subsample", &BoostingOptions::subsample)
      .def_rw("samples_by_gradient", &BoostingOptions::samples_by_gradient)
      .def_rw("max_bins", &BoostingOptions::max_bins)
      .def_rw("n_iter_no_change", &BoostingOptions::n_iter_no_change)
      .def_rw("tol", &BoostingOptions::tol)
      .def_rw("first_iter", &BoostingOptions::first_iter);
  m.def("boost", &boost_trees, nb::arg("X").noconvert(), nb::arg("levels").noconvert(),
        nb::arg("medians").noconvert(), nb::arg("has_nan").noconvert(),
        nb::arg("target").noconvert(), nb::arg("weights").noconvert().none(),
        nb::arg("roles").noconvert().none(), nb::arg("baseline").noconvert().none(),
        nb::arg("raw_before").noconvert().none(), nb::arg("options"), nb::arg("boosting"),
        nb::arg("n_threads"), nb::arg("progress").none(), nb::arg("user_loss").none(),
        nb::arg("scorer").none() = nb::none(),
        nb::arg("feature_room").noconvert().none() = nb::none(),
        nb::arg("direction_room").noconvert().none() = nb::none(),
        nb::arg("scaler").none() = nb::none());
}
