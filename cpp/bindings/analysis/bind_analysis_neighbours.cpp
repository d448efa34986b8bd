#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "arrays.h"
#include "bevel/analysis/neighbours.h"
#include "bevel/support/check.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

using TreeFlags = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

RowMatrix row_matrix(const ForestArrays& forest, const RowMajorMatrix& X) {
  require(static_cast<int32_t>(X.shape(1)) == forest.n_features,
          "[neighbours] wrong number of features");
  return {X.data(), X.shape(0), X.shape(1), 1};
}

LeafRows leaf_rows_of(const ForestArrays& forest, const Vector<int64_t>& offset,
                      const Vector<int32_t>& row, const Vector<double>& weight, size_t n_rows) {
  require(offset.shape(0) == forest.right.size() + 1 &&
              offset.data()[forest.right.size()] == static_cast<int64_t>(row.shape(0)),
          "[neighbours] offsets do not match the nodes or the rows");
  require(weight.shape(0) == 0 || weight.shape(0) == row.shape(0),
          "[neighbours] number of weights");
  return {as_span(offset), as_span(row), as_span(weight), n_rows};
}

TreesOfRow trees_of(const ForestArrays& forest, const RowMatrix& rows,
                    const std::optional<TreeFlags>& trees) {
  if (!trees) return nullptr;
  require(trees->shape(0) == rows.n_rows && trees->shape(1) == forest.n_trees(),
          "[neighbours] shape of trees");
  return reinterpret_cast<const uint8_t*>(trees->data());
}

nb::tuple weights_of_view(const ForestView& view, RowMajorMatrix X, Vector<int64_t> offset,
                          Vector<int32_t> row, Vector<double> weight, size_t n_rows,
                          std::optional<TreeFlags> trees, int n_threads) {
  const ForestArrays& forest = view.arrays();
  const RowMatrix rows = row_matrix(forest, X);
  const LeafRows leaf_rows = leaf_rows_of(forest, offset, row, weight, n_rows);
  const TreesOfRow chosen = trees_of(forest, rows, trees);
  SparseRows result;
  run_cancellable([&] { result = neighbour_weights(forest, rows, leaf_rows, chosen, n_threads); });
  return nb::make_tuple(to_numpy(std::move(result.value)), to_numpy(std::move(result.column)),
                        to_numpy(std::move(result.offset)));
}

nb::ndarray<nb::numpy, double> quantiles_of_view(const ForestView& view, RowMajorMatrix X,
                                                 Vector<int64_t> offset, Vector<int32_t> row,
                                                 Vector<double> weight, Vector<double> targets,
                                                 Vector<double> levels,
                                                 std::optional<TreeFlags> trees, int n_threads) {
  const ForestArrays& forest = view.arrays();
  const RowMatrix rows = row_matrix(forest, X);
  const LeafRows leaf_rows = leaf_rows_of(forest, offset, row, weight, targets.shape(0));
  const TreesOfRow chosen = trees_of(forest, rows, trees);
  std::vector<double> out(rows.n_rows * levels.shape(0));
  run_cancellable([&] {
    neighbour_quantiles(forest, rows, leaf_rows, as_span(targets), as_span(levels), chosen,
                        n_threads, out.data());
  });
  return to_numpy(std::move(out), {rows.n_rows, levels.shape(0)});
}

}  // namespace

void bind_analysis_neighbours(nb::module_& m) {
  m.def("neighbour_weights", &weights_of_view, nb::arg("view"), nb::arg("X").noconvert(),
        nb::arg("offset").noconvert(), nb::arg("row").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("n_rows"), nb::arg("trees").noconvert().none(), nb::arg("n_threads"));
  m.def("neighbour_quantiles", &quantiles_of_view, nb::arg("view"), nb::arg("X").noconvert(),
        nb::arg("offset").noconvert(), nb::arg("row").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("targets").noconvert(), nb::arg("levels").noconvert(),
        nb::arg("trees").noconvert().none(), nb::arg("n_threads"));
}
