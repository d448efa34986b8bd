#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "arrays.h"
#include "bevel/analysis/shapley/interactions.h"
#include "bevel/analysis/shapley/paths/path_values.h"
#include "bevel/analysis/shapley/shapley.h"
#include "bevel/support/check.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

using Weights = Vector<double>;
using Drawn = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

BackgroundRows read_background(const ForestArrays& forest, const RowMajorMatrix& rows,
                               const std::optional<Weights>& weights,
                               const std::optional<Drawn>& drawn) {
  const auto p = static_cast<size_t>(forest.n_features);
  require(rows.shape(1) == p, "[shapley_values] wrong number of features");
  require(rows.shape(0) > 0, "[shapley_values] no background");
  BackgroundRows background{{rows.data(), rows.shape(0), p, 1}};
  if (weights) {
    require(weights->shape(0) == rows.shape(0), "[shapley_values] number of weights");
    background.weights = weights->data();
  }
  if (drawn) {
    require(drawn->shape(0) == forest.n_trees() && drawn->shape(1) >= 2,
            "[shapley_values] shape of the drawn rows");
    for (size_t i = 0; i < drawn->size(); ++i)
      require(0 <= drawn->data()[i] && static_cast<size_t>(drawn->data()[i]) < rows.shape(0),
              "[shapley_values] number of a drawn row");
    background.drawn = drawn->data();
    background.per_tree = drawn->shape(1);
  }
  return background;
}

nb::tuple shapley(const ForestView& view, RowMajorMatrix X, RowMajorMatrix background,
                  std::optional<Weights> weights, std::optional<Drawn> drawn, bool hard,
                  int max_exact_features, int n_samples, uint64_t seed, int n_threads,
                  nb::object progress) {
  const ForestArrays& forest = view.one_output();
  const auto p = static_cast<size_t>(forest.n_features);
  const auto k = static_cast<size_t>(std::max(1, forest.n_classes));
  require(X.shape(1) == p, "[shapley_values] wrong number of features");
  const BackgroundRows rows = read_background(forest, background, weights, drawn);
  require(0 <= max_exact_features && max_exact_features < 32 && n_samples >= 2,
          "[shapley_values] max_exact_features or n_samples");
  const size_t n = X.shape(0);
  std::vector<double> values(n * p * k), variances(n * p * k), base(k);
  std::vector<int64_t> n_sampled(n);
  Reporter reporter(std::move(progress));
  run_cancellable(reporter, [&] {
    shapley_values(forest, {X.data(), n, p, 1}, rows, {hard, max_exact_features, n_samples, seed},
                   n_threads, [&reporter](size_t done) { return reporter(done); },
                   {values.data(), variances.data(), n_sampled.data(), base.data()});
  });
  return nb::make_tuple(to_numpy(std::move(values), {n, p, k}),
                        to_numpy(std::move(variances), {n, p, k}), to_numpy(std::move(n_sampled)),
                        to_numpy(std::move(base)));
}

nb::tuple interactions(const ForestView& view, RowMajorMatrix X, RowMajorMatrix background,
                       std::optional<Weights> weights, std::optional<Drawn> drawn, bool hard,
                       int max_exact_features, int n_threads, nb::object progress) {
  const ForestArrays& forest = view.one_output();
  const auto p = static_cast<size_t>(forest.n_features);
  const auto k = static_cast<size_t>(std::max(1, forest.n_classes));
  require(X.shape(1) == p, "[shapley_interactions] wrong number of features");
  require(0 <= max_exact_features && max_exact_features < 32,
          "[shapley_interactions] max_exact_features");
  const BackgroundRows rows = read_background(forest, background, weights, drawn);
  const size_t n = X.shape(0);
  std::vector<double> values(n * p * p * k), base(k);
  bool within = false;
  Reporter reporter(std::move(progress));
  run_cancellable(reporter, [&] {
    within = shapley_interactions(
        forest, {X.data(), n, p, 1}, rows, {hard, max_exact_features}, n_threads,
        [&reporter](size_t done) { return reporter(done); }, values.data(), base.data());
  });
  return nb::make_tuple(to_numpy(std::move(values), {n, p, p, k}), within,
                        to_numpy(std::move(base)));
}

nb::tuple of_paths(const ForestView& view, Vector<float> node_weight, RowMajorMatrix X, bool hard,
                   size_t most_boxes, int n_threads, nb::object progress) {
  ForestArrays forest = view.one_output();
  forest.weight = as_span(node_weight);
  const auto p = static_cast<size_t>(forest.n_features);
  const auto k = static_cast<size_t>(std::max(1, forest.n_classes));
  require(X.shape(1) == p, "[path_values] wrong number of features");
  require(forest.weight.size() == forest.right.size(), "[path_values] no weights of nodes");
  const size_t n = X.shape(0);
  std::vector<double> values(n * p * k), base(k);
  bool within = false;
  Reporter reporter(std::move(progress));
  run_cancellable(reporter, [&] {
    within = path_values(
        forest, {X.data(), n, p, 1}, hard, most_boxes, n_threads,
        [&reporter](size_t done) { return reporter(done); }, values.data(), base.data());
  });
  return nb::make_tuple(to_numpy(std::move(values), {n, p, k}), within, to_numpy(std::move(base)));
}

}  // namespace

void bind_analysis_shapley(nb::module_& m) {
  m.def("shapley_values", &shapley, nb::arg("view"), nb::arg("X").noconvert(),
        nb::arg("background").noconvert(), nb::arg("weights").none(), nb::arg("drawn").none(),
        nb::arg("hard"), nb::arg("max_exact_features"), nb::arg("n_samples"), nb::arg("seed"),
        nb::arg("n_threads"), nb::arg("progress").none());
  m.def("shapley_interactions", &interactions, nb::arg("view"), nb::arg("X").noconvert(),
        nb::arg("background").noconvert(), nb::arg("weights").none(), nb::arg("drawn").none(),
        nb::arg("hard"), nb::arg("max_exact_features"), nb::arg("n_threads"),
        nb::arg("progress").none());
  m.def("path_values", &of_paths, nb::arg("view"), nb::arg("node_weight"), nb::arg("X").noconvert(),
        nb::arg("hard"), nb::arg("most_boxes"), nb::arg("n_threads"), nb::arg("progress").none());
}
