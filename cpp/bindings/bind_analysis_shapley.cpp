#include <nanobind/nanobind.h>

#include <vector>

#include "arrays.h"
#include "bevel/analysis/shapley/shapley.h"
#include "bevel/support/check.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

nb::tuple shapley(const ForestView& view, RowMajorMatrix X, RowMajorMatrix background, bool hard,
                  int max_exact_features, int n_samples, uint64_t seed, int n_threads,
                  nb::object progress) {
  const ForestArrays& forest = view.arrays();
  const auto p = static_cast<size_t>(forest.n_features);
  const auto k = static_cast<size_t>(std::max(1, forest.n_classes));
  require(X.shape(1) == p && background.shape(1) == p, "[shapley_values] wrong number of features");
  require(background.shape(0) > 0, "[shapley_values] no background");
  require(0 <= max_exact_features && max_exact_features < 32 && n_samples >= 2,
          "[shapley_values] max_exact_features or n_samples");
  const size_t n = X.shape(0);
  std::vector<double> values(n * p * k), variances(n * p * k);
  std::vector<int64_t> n_sampled(n);
  Reporter reporter(std::move(progress));
  run_cancellable(reporter, [&] {
    shapley_values(forest, {X.data(), n, p, 1}, {background.data(), background.shape(0), p, 1},
                   {hard, max_exact_features, n_samples, seed}, n_threads,
                   [&reporter](size_t done) { return reporter(done); },
                   {values.data(), variances.data(), n_sampled.data()});
  });
  return nb::make_tuple(to_numpy(std::move(values), {n, p, k}),
                        to_numpy(std::move(variances), {n, p, k}), to_numpy(std::move(n_sampled)));
}

}  // namespace

void bind_analysis_shapley(nb::module_& m) {
  m.def("shapley_values", &shapley, nb::arg("view"), nb::arg("X").noconvert(),
        nb::arg("background").noconvert(), nb::arg("hard"), nb::arg("max_exact_features"),
        nb::arg("n_samples"), nb::arg("seed"), nb::arg("n_threads"), nb::arg("progress").none());
}
