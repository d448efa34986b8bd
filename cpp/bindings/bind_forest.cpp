#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bevel/forest/bag.h"
#include "bevel/forest/bag_bits.h"
#include "bevel/predict/pruned_out_of_bag.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/predict/survival_curves.h"
#include "bevel/support/check.h"
#include "bevel/support/memory.h"
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
  auto out = allocate<int32_t>(rows.n_rows * forest.n_trees(), "a leaf for each row and tree");
  run_cancellable([&] { apply(forest, rows, n_threads, out.data()); });
  return to_numpy(std::move(out), {rows.n_rows, forest.n_trees()});
}

nb::ndarray<nb::numpy, double> proba_of_view(const ForestView& view, RowMajorMatrix X,
                                             int n_threads, bool hard) {
  const ForestArrays& forest = view.arrays();
  const RowMatrix rows = row_matrix(forest, X);
  const auto k = static_cast<size_t>(forest.n_classes);
  auto out = allocate<double>(rows.n_rows * k, "a number for each row and class");
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

using RowRange = std::pair<size_t, size_t>;
using Bits = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Bags of n_trees trees from the one of number first_tree on, as BagBits.
nb::ndarray<nb::numpy, uint8_t> draw_bags(const Options& options, size_t n_rows,
                                          uint64_t first_tree, size_t n_trees,
                                          std::optional<Vector<double>> weights, int n_threads) {
  require(!weights || weights->shape(0) == n_rows, "[draw_bags] length of weights");
  auto out = allocate<uint8_t>(n_trees * BagBits::bytes_for(n_rows), "a bit for each row and tree");
  run_cancellable([&] {
    draw_bag_bits(options, n_rows, first_tree, n_trees, weights ? weights->data() : nullptr,
                  n_threads, out.data());
  });
  return to_numpy(std::move(out), {n_trees, BagBits::bytes_for(n_rows)});
}

// The bags of a forest's trees for some of its n training rows: first, first + step, ... before
// last. They are drawn from the seed unless there are bits of them.
class TrainingBags {
 public:
  TrainingBags(const ForestArrays& forest, const Options& options, uint64_t first_tree, size_t n,
               const std::optional<Vector<double>>& weights, const std::optional<Bits>& bits,
               RowRange rows, size_t step)
      : options_(options),
        first_tree_(first_tree),
        n_(n),
        weights_(weights ? weights->data() : nullptr),
        first_(rows.first),
        last_(rows.second),
        step_(step) {
    require(!weights || weights->shape(0) == n, "[ForestView] length of weights");
    require(step > 0 && first_ <= last_ && last_ <= n, "[ForestView] no such rows");
    if (!bits) return;
    require(bits->shape(0) == forest.n_trees() && bits->shape(1) == BagBits::bytes_for(n),
            "[ForestView] bags of other trees or rows");
    bits_ = BagBits{bits->data(), bits->shape(1)};
  }

  size_t n_rows() const { return (last_ - first_ + step_ - 1) / step_; }

  std::vector<int32_t> times(size_t tree) const {
    if (!bits_ && n_rows() == n_) return draw_bag(options_, n_, first_tree_ + tree, weights_);
    return some(tree).times;
  }

  BagOfSome some(size_t tree) const {
    BagOfSome bag{std::vector<int32_t>(n_rows()), 0};
    if (bits_) {
      for (size_t i = 0; i < n_rows(); ++i) bag.times[i] = bits_->has(tree, first_ + i * step_);
      bag.n_distinct = bits_->n_distinct(tree);
      return bag;
    }
    const std::vector<int32_t> drawn = draw_bag(options_, n_, first_tree_ + tree, weights_);
    for (size_t i = 0; i < n_rows(); ++i) bag.times[i] = drawn[first_ + i * step_];
    bag.n_distinct = static_cast<size_t>(
        std::count_if(drawn.begin(), drawn.end(), [](int32_t n) { return n > 0; }));
    return bag;
  }

 private:
  const Options& options_;
  uint64_t first_tree_;
  size_t n_;
  const double* weights_;
  size_t first_, last_, step_;
  std::optional<BagBits> bits_;
};

// The first of the chosen rows; X has all rows, or those alone.
const float* first_value(const ColumnMatrix& X, bool has_chosen, const RowRange& chosen) {
  require(!has_chosen || X.shape(0) == chosen.second - chosen.first,
          "[ForestView] rows of a range");
  return has_chosen ? X.data() : X.data() + chosen.first;
}

nb::tuple out_of_bag_of_view(const ForestView& view, ColumnMatrix X, const Options& options,
                             uint64_t first_tree, bool hard, int n_threads,
                             std::optional<std::pair<size_t, size_t>> range,
                             std::optional<Vector<double>> weights,
                             std::optional<RowRange> row_range, std::optional<Bits> bits,
                             std::optional<size_t> of_rows) {
  const ForestArrays& forest = view.arrays();
  check_width(forest, X.shape(1));
  const auto given = range.value_or(std::pair<size_t, size_t>{0, forest.n_trees()});
  const TreeRange trees{given.first, given.second};
  require(trees.begin <= trees.end && trees.end <= forest.n_trees(), "[ForestView] no such trees");
  const size_t n = of_rows.value_or(X.shape(0)), k = forest.width();
  const RowRange chosen = row_range.value_or(RowRange{0, n});
  const float* values = first_value(X, of_rows.has_value(), chosen);
  const TrainingBags bags(forest, options, first_tree, n, weights, bits, chosen, 1);
  const size_t n_rows = bags.n_rows();
  auto sums = allocate<double>(n_rows * k, "out-of-bag sums for each row and class");
  std::vector<int32_t> counts(n_rows);
  run_cancellable([&] {
    out_of_bag(
        forest, {values, n_rows, 1, X.shape(0)}, [&](size_t tree) { return bags.times(tree); },
        trees, n_threads, hard, sums.data(), counts.data());
  });
  return nb::make_tuple(to_numpy(std::move(sums), {n_rows, k}), to_numpy(std::move(counts)));
}

// Out-of-bag predictions of pruned trees for the rows 0, row_step, 2 row_step, ..., or for those of
// them that row_range counts.
nb::tuple pruned_out_of_bag_of_view(const ForestView& view, ColumnMatrix X, const Options& options,
                                    uint64_t first_tree, bool hard, int n_threads,
                                    std::pair<size_t, size_t> range,
                                    std::optional<Vector<double>> weights,
                                    Vector<float> node_weight, Vector<int64_t> sizes,
                                    size_t row_step, std::optional<RowRange> row_range,
                                    std::optional<Bits> bits, std::optional<size_t> of_rows) {
  const ForestArrays& forest = view.one_output();
  check_width(forest, X.shape(1));
  const TreeRange trees{range.first, range.second};
  require(trees.begin <= trees.end && trees.end <= forest.n_trees(), "[ForestView] no such trees");
  const size_t n = of_rows.value_or(X.shape(0)), k = forest.width();
  require(node_weight.shape(0) == forest.right.size(), "[ForestView] weights of the nodes");
  require(row_step > 0, "[ForestView] row_step");
  const auto [first, last] = row_range.value_or(RowRange{0, (n + row_step - 1) / row_step});
  require(first <= last && last <= (n + row_step - 1) / row_step, "[ForestView] no such rows");
  const RowRange chosen{std::min(n, first * row_step), std::min(n, last * row_step)};
  const TrainingBags bags(forest, options, first_tree, n, weights, bits, chosen, row_step);
  const float* values = first_value(X, of_rows.has_value(), chosen);
  const PruningRequest request{as_span(sizes), as_span(node_weight)};
  const size_t n_rows = bags.n_rows();
  auto sums = allocate<double>(request.sizes.size() * n_rows * k,
                               "out-of-bag sums for each size of nodes, row and class");
  std::vector<int32_t> counts(n_rows);
  run_cancellable([&] {
    pruned_out_of_bag(
        forest, {values, n_rows, row_step, X.shape(0)},
        [&](size_t tree) { return bags.some(tree); }, trees, request, n_threads, hard, sums.data(),
        counts.data());
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
  m.def("draw_bags", &draw_bags, nb::arg("options"), nb::arg("n_rows"), nb::arg("first_tree"),
        nb::arg("n_trees"), nb::arg("weights").noconvert().none(), nb::arg("n_threads"));
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
           nb::arg("rows") = nb::none(), nb::arg("bags").noconvert() = nb::none(),
           nb::arg("n_rows") = nb::none())
      .def("pruned_out_of_bag", &pruned_out_of_bag_of_view, nb::arg("X").noconvert(),
           nb::arg("options"), nb::arg("first_tree"), nb::arg("hard"), nb::arg("n_threads"),
           nb::arg("trees"), nb::arg("weights").noconvert().none(),
           nb::arg("node_weight").noconvert(), nb::arg("sizes").noconvert(), nb::arg("row_step"),
           nb::arg("rows") = nb::none(), nb::arg("bags").noconvert() = nb::none(),
           nb::arg("n_rows") = nb::none())
      .def("survival_curves", &curves_of_view, nb::arg("leaves").noconvert(),
           nb::arg("first_point").noconvert(), nb::arg("n_points"), nb::arg("kind"),
           nb::arg("n_threads"), nb::arg("n_causes") = 1, nb::arg("cause") = 0);
}
