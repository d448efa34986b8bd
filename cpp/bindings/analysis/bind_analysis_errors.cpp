#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <functional>
#include <optional>

#include "arrays.h"
#include "bevel/analysis/error_increase.h"
#include "bevel/support/check.h"
#include "reporter.h"

using namespace bevel;

namespace {

using Strata = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Which features are replaced together, and by what.
struct Replacement {
  Vector<int32_t> group;
  Vector<uint64_t> key;
  size_t n_repeats;
  bool permutes;
  uint64_t seed;
  std::optional<Strata> strata;  // of each group, for each row
};

// The arguments of a call, kept alive and checked against each other.
class ErrorArguments {
 public:
  ErrorArguments(const PackedForest& forest, RowMajorMatrix X, ColumnMatrix replacement,
                 const Replacement& how, nb::object target, std::optional<Vector<double>> weights,
                 std::optional<TreeMask> is_evaluated)
      : X_(X),
        replacement_(replacement),
        how_(how),
        weights_(weights),
        is_evaluated_(is_evaluated) {
    const size_t n = X.shape(0), p = X.shape(1);
    require(forest.n_outputs == 0, "[errors] the forest has several outputs");
    require(static_cast<int32_t>(p) == forest.layout.n_columns && n > 0,
            "[errors] wrong number of features, or no rows");
    require(n < (size_t{1} << 32), "[errors] too many rows");
    require(replacement.shape(0) == n && replacement.shape(1) == p,
            "[errors] shape of replacement");
    require(how.group.shape(0) == p && how.n_repeats > 0, "[errors] groups");
    for (int32_t g : as_span(how.group))
      require(-1 <= g && g < static_cast<int32_t>(how.key.shape(0)), "[errors] group out of range");
    require(!how.strata || (how.permutes && how.strata->shape(0) == how.key.shape(0) &&
                            how.strata->shape(1) == n),
            "[errors] shape of strata");
    require(!weights || weights->shape(0) == n, "[errors] length of weights");
    require(!is_evaluated ||
                (is_evaluated->shape(0) == n && is_evaluated->shape(1) == forest.n_trees()),
            "[errors] shape of is_evaluated");
    if (forest.n_classes > 0)
      labels_ = nb::cast<Vector<int32_t>>(target, false);
    else
      targets_ = nb::cast<Vector<double>>(target, false);
    require((forest.n_classes > 0 ? labels_.shape(0) : targets_.shape(0)) == n,
            "[errors] length of target");
    is_classification_ = forest.n_classes > 0;
  }

  Perturbation perturbation() const {
    std::span<const int32_t> strata;
    if (how_.strata) strata = {how_.strata->data(), how_.strata->size()};
    return {X_.data(),           replacement_.data(), X_.shape(0),
            as_span(how_.group), as_span(how_.key),   how_.n_repeats,
            how_.permutes,       how_.seed,           strata};
  }
  EvaluatedRows rows() const {
    EvaluatedRows rows;
    rows.labels = is_classification_ ? labels_.data() : nullptr;
    rows.targets = is_classification_ ? nullptr : targets_.data();
    rows.weights = weights_ ? weights_->data() : nullptr;
    rows.is_evaluated =
        is_evaluated_ ? reinterpret_cast<const uint8_t*>(is_evaluated_->data()) : nullptr;
    return rows;
  }

 private:
  RowMajorMatrix X_;
  ColumnMatrix replacement_;
  Replacement how_;
  std::optional<Vector<double>> weights_;
  std::optional<TreeMask> is_evaluated_;
  bool is_classification_;
  Vector<int32_t> labels_;
  Vector<double> targets_;
};

// The result of compute(progress); raises what has stopped it.
template <class Result>
Result result(nb::object progress, const std::function<Result(const ErrorProgress&)>& compute) {
  Reporter reporter(std::move(progress));
  Result result;
  run_cancellable(
      reporter, [&] { result = compute([&reporter](size_t n_done) { return reporter(n_done); }); });
  return result;
}

nb::tuple errors_of_trees(const PackedForest& forest, RowMajorMatrix X, ColumnMatrix replacement,
                          const Replacement& how, nb::object target,
                          std::optional<Vector<double>> weights,
                          std::optional<TreeMask> is_evaluated, int n_threads,
                          nb::object progress) {
  const ErrorArguments arguments(forest, X, replacement, how, std::move(target), weights,
                                 is_evaluated);
  TreeErrors errors = result<TreeErrors>(std::move(progress), [&](const ErrorProgress& report) {
    return tree_errors(forest, arguments.perturbation(), arguments.rows(), n_threads, report);
  });
  const size_t n_trees = forest.n_trees();
  return nb::make_tuple(
      to_numpy(std::move(errors.error)),
      to_numpy(std::move(errors.increase), {n_trees, how.key.shape(0), how.n_repeats}));
}

nb::tuple errors_of_forest(const PackedForest& forest, RowMajorMatrix X, ColumnMatrix replacement,
                           const Replacement& how, nb::object target,
                           std::optional<Vector<double>> weights,
                           std::optional<TreeMask> is_evaluated, bool hard, int n_threads,
                           nb::object progress) {
  const ErrorArguments arguments(forest, X, replacement, how, std::move(target), weights,
                                 is_evaluated);
  ForestErrors errors = result<ForestErrors>(std::move(progress), [&](const ErrorProgress& report) {
    return forest_errors(forest, arguments.perturbation(), arguments.rows(), hard, n_threads,
                         report);
  });
  return nb::make_tuple(errors.error,
                        to_numpy(std::move(errors.increase), {how.key.shape(0), how.n_repeats}),
                        to_numpy(std::move(errors.standard_error)));
}

nb::ndarray<nb::numpy, uint32_t> permutation(uint64_t seed, uint64_t tree, uint64_t key,
                                             uint64_t repeat, size_t n_rows,
                                             std::optional<Vector<int32_t>> strata) {
  require(!strata || strata->shape(0) == n_rows, "[permutation] length of strata");
  std::vector<uint32_t> order(n_rows);
  draw_permutation(seed, tree, key, repeat, strata ? as_span(*strata) : std::span<const int32_t>(),
                   order);
  return to_numpy(std::move(order));
}

}  // namespace

void bind_analysis_errors(nb::module_& m) {
  nb::class_<Replacement>(m, "Replacement")
      .def(
          "__init__",
          [](Replacement* self, Vector<int32_t> group, Vector<uint64_t> key, size_t n_repeats,
             bool permutes, uint64_t seed, std::optional<Strata> strata) {
            new (self) Replacement{group, key, n_repeats, permutes, seed, strata};
          },
          nb::arg("group").noconvert(), nb::arg("key").noconvert(), nb::arg("n_repeats"),
          nb::arg("permutes"), nb::arg("seed"), nb::arg("strata").noconvert().none() = nb::none());
  m.def("tree_errors", &errors_of_trees, nb::arg("forest"), nb::arg("X").noconvert(),
        nb::arg("replacement").noconvert(), nb::arg("how"), nb::arg("target"),
        nb::arg("weights").noconvert().none(), nb::arg("is_evaluated").noconvert().none(),
        nb::arg("n_threads"), nb::arg("progress").none());
  m.def("forest_errors", &errors_of_forest, nb::arg("forest"), nb::arg("X").noconvert(),
        nb::arg("replacement").noconvert(), nb::arg("how"), nb::arg("target"),
        nb::arg("weights").noconvert().none(), nb::arg("is_evaluated").noconvert().none(),
        nb::arg("hard"), nb::arg("n_threads"), nb::arg("progress").none());
  m.def("permutation", &permutation, nb::arg("seed"), nb::arg("tree"), nb::arg("key"),
        nb::arg("repeat"), nb::arg("n_rows"), nb::arg("strata").noconvert().none() = nb::none());
}
