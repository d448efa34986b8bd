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

using Judges = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Which features are replaced together, and by what.
struct Replacement {
  Vector<int32_t> group;
  Vector<uint64_t> key;
  size_t n_repeats;
  bool permutes;
  uint64_t seed;
};

// The arrays of a question, kept alive and checked against each other.
class Question {
 public:
  Question(const PackedForest& forest, RowMajorMatrix X, ColumnMatrix replacement,
           const Replacement& how, nb::object target, std::optional<Vector<double>> weights,
           std::optional<Judges> judges)
      : X_(X), replacement_(replacement), how_(how), weights_(weights), judges_(judges) {
    const size_t n = X.shape(0), p = X.shape(1);
    require(static_cast<int32_t>(p) == forest.layout.n_features && n > 0,
            "[errors] wrong number of features, or no rows");
    require(n < (size_t{1} << 32), "[errors] too many rows");
    require(replacement.shape(0) == n && replacement.shape(1) == p,
            "[errors] shape of replacement");
    require(how.group.shape(0) == p && how.n_repeats > 0, "[errors] groups");
    for (int32_t g : as_span(how.group))
      require(-1 <= g && g < static_cast<int32_t>(how.key.shape(0)), "[errors] group out of range");
    require(!weights || weights->shape(0) == n, "[errors] length of weights");
    require(!judges || (judges->shape(0) == n && judges->shape(1) == forest.n_trees()),
            "[errors] shape of judges");
    if (forest.n_classes > 0)
      labels_ = nb::cast<Vector<int32_t>>(target, false);
    else
      targets_ = nb::cast<Vector<double>>(target, false);
    require((forest.n_classes > 0 ? labels_.shape(0) : targets_.shape(0)) == n,
            "[errors] length of target");
    is_classification_ = forest.n_classes > 0;
  }

  Perturbation perturbation() const {
    return {X_.data(),         replacement_.data(), X_.shape(0),   as_span(how_.group),
            as_span(how_.key), how_.n_repeats,      how_.permutes, how_.seed};
  }
  JudgedRows rows() const {
    JudgedRows rows;
    rows.labels = is_classification_ ? labels_.data() : nullptr;
    rows.targets = is_classification_ ? nullptr : targets_.data();
    rows.weights = weights_ ? weights_->data() : nullptr;
    rows.judges = judges_ ? reinterpret_cast<const uint8_t*>(judges_->data()) : nullptr;
    return rows;
  }

 private:
  RowMajorMatrix X_;
  ColumnMatrix replacement_;
  Replacement how_;
  std::optional<Vector<double>> weights_;
  std::optional<Judges> judges_;
  bool is_classification_;
  Vector<int32_t> labels_;
  Vector<double> targets_;
};

// The answer to ask(progress); raises what has stopped it.
template <class Answer>
Answer answer(nb::object progress, const std::function<Answer(const ErrorProgress&)>& ask) {
  Reporter reporter(std::move(progress));
  Answer answer;
  run_cancellable(reporter,
                  [&] { answer = ask([&reporter](size_t n_done) { return reporter(n_done); }); });
  return answer;
}

nb::tuple ask_trees(const PackedForest& forest, RowMajorMatrix X, ColumnMatrix replacement,
                    const Replacement& how, nb::object target,
                    std::optional<Vector<double>> weights, std::optional<Judges> judges,
                    int n_threads, nb::object progress) {
  const Question question(forest, X, replacement, how, std::move(target), weights, judges);
  TreeErrors errors = answer<TreeErrors>(std::move(progress), [&](const ErrorProgress& report) {
    return tree_errors(forest, question.perturbation(), question.rows(), n_threads, report);
  });
  const size_t n_trees = forest.n_trees();
  return nb::make_tuple(
      to_numpy(std::move(errors.error)),
      to_numpy(std::move(errors.increase), {n_trees, how.key.shape(0), how.n_repeats}));
}

nb::tuple ask_forest(const PackedForest& forest, RowMajorMatrix X, ColumnMatrix replacement,
                     const Replacement& how, nb::object target,
                     std::optional<Vector<double>> weights, std::optional<Judges> judges, bool hard,
                     int n_threads, nb::object progress) {
  const Question question(forest, X, replacement, how, std::move(target), weights, judges);
  ForestErrors errors = answer<ForestErrors>(std::move(progress), [&](const ErrorProgress& report) {
    return forest_errors(forest, question.perturbation(), question.rows(), hard, n_threads, report);
  });
  return nb::make_tuple(errors.error,
                        to_numpy(std::move(errors.increase), {how.key.shape(0), how.n_repeats}),
                        to_numpy(std::move(errors.standard_error)));
}

nb::ndarray<nb::numpy, uint32_t> permutation(uint64_t seed, uint64_t tree, uint64_t key,
                                             uint64_t repeat, size_t n_rows) {
  std::vector<uint32_t> order(n_rows);
  draw_permutation(seed, tree, key, repeat, order);
  return to_numpy(std::move(order));
}

}  // namespace

void bind_analysis_errors(nb::module_& m) {
  nb::class_<Replacement>(m, "Replacement")
      .def(
          "__init__",
          [](Replacement* self, Vector<int32_t> group, Vector<uint64_t> key, size_t n_repeats,
             bool permutes,
             uint64_t seed) { new (self) Replacement{group, key, n_repeats, permutes, seed}; },
          nb::arg("group").noconvert(), nb::arg("key").noconvert(), nb::arg("n_repeats"),
          nb::arg("permutes"), nb::arg("seed"));
  m.def("tree_errors", &ask_trees, nb::arg("forest"), nb::arg("X").noconvert(),
        nb::arg("replacement").noconvert(), nb::arg("how"), nb::arg("target"),
        nb::arg("weights").noconvert().none(), nb::arg("judges").noconvert().none(),
        nb::arg("n_threads"), nb::arg("progress").none());
  m.def("forest_errors", &ask_forest, nb::arg("forest"), nb::arg("X").noconvert(),
        nb::arg("replacement").noconvert(), nb::arg("how"), nb::arg("target"),
        nb::arg("weights").noconvert().none(), nb::arg("judges").noconvert().none(),
        nb::arg("hard"), nb::arg("n_threads"), nb::arg("progress").none());
  m.def("permutation", &permutation, nb::arg("seed"), nb::arg("tree"), nb::arg("key"),
        nb::arg("repeat"), nb::arg("n_rows"));
}
