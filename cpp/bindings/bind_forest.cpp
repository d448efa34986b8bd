#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bevel/forest/bag.h"
#include "bevel/predict/pruned_out_of_bag.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/predict/survival_curves.h"
#include "bevel/support/check.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

void check_width(const ForestArrays& forest, size_t n_features) {
  require(static_cast<int32_t>(n_features) == forest.n_features,
          "[ForestView] wrong number of features");
}

RowMatrix row_matrix(const ForestArrays& forest, const RowMajorMatrix& X) {
  check_width(forest, X.shape(1));
  return {X.data(), X.shape(0), X.shape(1), 1};
}

nb::ndarray<nb::numpy, int32_t> apply_view(const ForestView& view, RowMajorMatrix X,
                                           int n_threads) {
  const ForestArrays& forest = view.arrays();
  const RowMatrix rows = row_matrix(forest, X);
  std::vector<int32_t> out(rows.n_rows * forest.n_trees());
  run_cancellable([&] { apply(forest, rows, n_threads, out.data()); });
  return to_numpy(std::move(out), {rows.n_rows, forest.n_trees()});
}

nb::ndarray<nb::numpy, double> proba_of_view(const ForestView& view, RowMajorMatrix X,
                                             int n_threads, bool hard) {
  const ForestArrays& forest = view.arrays();
  const RowMatrix rows = row_matrix(forest, X);
  const auto k = static_cast<size_t>(forest.n_classes);
  std::vector<double> out(rows.n_rows * k);
  run_cancellable([&] { predict_proba(forest, rows, n_threads, hard, out.data()); });
  return to_numpy(std::move(out), {rows.n_rows, k});
}

nb::ndarray<nb::numpy, double> value_of_view(const ForestView& view, RowMajorMatrix X,
                                             int n_threads) {
  const RowMatrix rows = row_matrix(view.arrays(), X);
  const size_t m = view.arrays().n_outputs();
  std::vector<double> out(rows.n_rows * std::max<size_t>(1, m));
  run_cancellable([&] { predict_value(view.arrays(), rows, n_threads, out.data()); });
  return m ? to_numpy(std::move(out), {rows.n_rows, m}) : to_numpy(std::move(out));
}

nb::tuple out_of_bag_of_view(const ForestView& view, ColumnMatrix X, const Options& options,
                             uint64_t first_tree, bool hard, int n_threads,
                             std::optional<std::pair<size_t, size_t>> range,
                             std::optional<Vector<double>> weights,
                             std::optional<std::pair<size_t, size_t>> row_range) {
  const ForestArrays& forest = view.arrays();
  check_width(forest, X.shape(1));
  const auto given = range.value_or(std::pair<size_t, size_t>{0, forest.n_trees()});
  const TreeRange trees{given.first, given.second};
  require(trees.begin <= trees.end && trees.end <= forest.n_trees(), "[ForestView] no such trees");
  const size_t n = X.shape(0);
  require(!weights || weights->shape(0) == n, "[ForestView] length of weights");
  const double* weight = weights ? weights->data() : nullptr;
  const auto [first, last] = row_range.value_or(std::pair<size_t, size_t>{0, n});
  require(first <= last && last <= n, "[ForestView] no such rows");
  const size_t k = forest.width(), n_rows = last - first;
  std::vector<double> sums(n_rows * k);
  std::vector<int32_t> counts(n_rows);
  run_cancellable([&, first = first, last = last] {
    const auto bag = [&](size_t tree) {  // of all rows, also where some are asked for
      std::vector<int32_t> drawn = draw_bag(options, n, first_tree + tree, weight);
      if (first == 0 && last == n) return drawn;
      return std::vector<int32_t>(drawn.begin() + static_cast<ptrdiff_t>(first),
                                  drawn.begin() + static_cast<ptrdiff_t>(last));
    };
    out_of_bag(forest, {X.data() + first, n_rows, 1, n}, bag, trees, n_threads, hard, sums.data(),
               counts.data());
  });
  return nb::make_tuple(to_numpy(std::move(sums), {n_rows, k}), to_numpy(std::move(counts)));
}

nb::tuple pruned_out_of_bag_of_view(const ForestView& view, ColumnMatrix X, const Options& options,
                                    uint64_t first_tree, bool hard, int n_threads,
                                    std::pair<size_t, size_t> range,
                                    std::optional<Vector<double>> weights,
                                    Vector<float> node_weight, Vector<int64_t> sizes,
                                    size_t row_step) {
  const ForestArrays& forest = view.one_output();
  check_width(forest, X.shape(1));
  const TreeRange trees{range.first, range.second};
  require(trees.begin <= trees.end && trees.end <= forest.n_trees(), "[ForestView] no such trees");
  const size_t n = X.shape(0);
  require(!weights || weights->shape(0) == n, "[ForestView] length of weights");
  require(node_weight.shape(0) == forest.right.size(), "[ForestView] weights of the nodes");
  require(row_step > 0, "[ForestView] row_step");
  const PruningRequest request{as_span(sizes), as_span(node_weight), row_step};
  const size_t n_rows = request.n_rows(n), k = forest.width();
  std::vector<double> sums(request.sizes.size() * n_rows * k);
  std::vector<int32_t> counts(n_rows);
  run_cancellable([&] {
    pruned_out_of_bag(forest, {X.data(), n, 1, n}, weights ? weights->data() : nullptr, options,
                      first_tree, trees, request, n_threads, hard, sums.data(), counts.data());
  });
  return nb::make_tuple(to_numpy(std::move(sums), {request.sizes.size(), n_rows, k}),
                        to_numpy(std::move(counts)));
}

using Leaves = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// first_point: of each event time, see CurveRequest. kind: as in CurveKind.
nb::ndarray<nb::numpy, double> curves_of_view(const ForestView& view, Leaves leaves,
                                              Vector<int32_t> first_point, size_t n_points,
                                              int kind, int n_threads, size_t n_causes,
                                              size_t cause) {
  const ForestArrays& forest = view.arrays();
  require(leaves.shape(1) == forest.n_trees(), "[ForestView] leaves of other trees");
  for (int32_t point : as_span(first_point))
    require(point >= 0 && static_cast<size_t>(point) <= n_points, "[ForestView] point of a curve");
  require(kind >= 0 && kind <= 2, "[ForestView] kind of a curve");
  require(n_causes > 0 && cause < n_causes, "[ForestView] cause of a curve");
  const size_t n = leaves.shape(0);
  std::vector<double> out(n * n_points);
  const CurveRequest request{static_cast<CurveKind>(kind), as_span(first_point), n_points, n_causes,
                             cause};
  run_cancellable(
      [&] { survival_curves(forest, request, leaves.data(), n, n_threads, out.data()); });
  return to_numpy(std::move(out), {n, n_points});
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<ForestView>(m, "ForestView")
      .def(nb::init<nb::dict, int32_t, int32_t, Vector<int32_t>, Vector<float>>(),
           nb::arg("arrays"), nb::arg("n_features"), nb::arg("n_classes"),
           nb::arg("levels").noconvert(), nb::arg("medians").noconvert())
      .def("apply", &apply_view, nb::arg("X").noconvert(), nb::arg("n_threads"))
      .def("predict_proba", &proba_of_view, nb::arg("X").noconvert(), nb::arg("n_threads"),
           nb::arg("hard"))
      .def("predict_value", &value_of_view, nb::arg("X").noconvert(), nb::arg("n_threads"))
      .def("out_of_bag", &out_of_bag_of_view, nb::arg("X").noconvert(), nb::arg("options"),
           nb::arg("first_tree"), nb::arg("hard"), nb::arg("n_threads"),
           nb::arg("trees") = nb::none(), nb::arg("weights").noconvert() = nb::none(),
           nb::arg("rows") = nb::none())
      .def("pruned_out_of_bag", &pruned_out_of_bag_of_view, nb::arg("X").noconvert(),
           nb::arg("options"), nb::arg("first_tree"), nb::arg("hard"), nb::arg("n_threads"),
           nb::arg("trees"), nb::arg("weights").noconvert().none(),
           nb::arg("node_weight").noconvert(), nb::arg("sizes").noconvert(), nb::arg("row_step"))
      .def("survival_curves", &curves_of_view, nb::arg("leaves").noconvert(),
           nb::arg("first_point").noconvert(), nb::arg("n_points"), nb::arg("kind"),
           nb::arg("n_threads"), nb::arg("n_causes") = 1, nb::arg("cause") = 0);
}
