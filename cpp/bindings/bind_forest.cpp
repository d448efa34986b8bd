#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "arrays.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/support/check.h"

using namespace bevel;

namespace {

// Keeps the arrays alive and hands out spans of them.
class ForestView {
 public:
  ForestView(nb::dict arrays, int32_t n_features, int32_t n_classes, Vector<int32_t> levels,
             Vector<float> medians) {
    require(static_cast<int32_t>(levels.shape(0)) == n_features &&
                static_cast<int32_t>(medians.shape(0)) == n_features,
            "[ForestView] levels and medians need one entry per feature");
    forest_.n_features = n_features;
    forest_.n_classes = n_classes;
    forest_.levels = keep(levels);
    forest_.medians = keep(medians);
    forest_.tree_offset = take<int64_t>(arrays, "tree_offset");
    forest_.right = take<int32_t>(arrays, "right");
    forest_.threshold = take<float>(arrays, "threshold");
    forest_.flags = take<uint8_t>(arrays, "flags");
    forest_.entry_offset = take<int64_t>(arrays, "entry_offset");
    forest_.entry_index = take<int32_t>(arrays, "entry_index");
    forest_.entry_weight = take<float>(arrays, "entry_weight");
    forest_.leaf_value = take<double>(arrays, "leaf_value");
    forest_.bits_index = take<int32_t>(arrays, "bits_index");
    forest_.bits_offset = take<int64_t>(arrays, "bits_offset");
    forest_.bits = take<uint32_t>(arrays, "bits");
    forest_.rotation_offset = take<int64_t>(arrays, "rotation_offset");
    forest_.rotation_entry_offset = take<int64_t>(arrays, "rotation_entry_offset");
    forest_.rotation_index = take<int32_t>(arrays, "rotation_index");
    forest_.rotation_weight = take<float>(arrays, "rotation_weight");
    require(!forest_.tree_offset.empty() &&
                static_cast<size_t>(forest_.tree_offset.back()) == forest_.right.size(),
            "[ForestView] tree_offset does not match the nodes");
  }

  nb::ndarray<nb::numpy, int32_t> apply(RowMajorMatrix X, int n_threads) const {
    std::vector<int32_t> out(X.shape(0) * forest_.n_trees());
    const RowMatrix rows = row_matrix(X);
    {
      nb::gil_scoped_release release;
      bevel::apply(forest_, rows, n_threads, out.data());
    }
    return to_numpy(std::move(out), {rows.n_rows, forest_.n_trees()});
  }
  nb::ndarray<nb::numpy, double> predict_proba(RowMajorMatrix X, int n_threads, bool hard) const {
    const auto k = static_cast<size_t>(forest_.n_classes);
    std::vector<double> out(X.shape(0) * k);
    const RowMatrix rows = row_matrix(X);
    {
      nb::gil_scoped_release release;
      bevel::predict_proba(forest_, rows, n_threads, hard, out.data());
    }
    return to_numpy(std::move(out), {rows.n_rows, k});
  }
  nb::ndarray<nb::numpy, double> predict_value(RowMajorMatrix X, int n_threads) const {
    std::vector<double> out(X.shape(0));
    const RowMatrix rows = row_matrix(X);
    {
      nb::gil_scoped_release release;
      bevel::predict_value(forest_, rows, n_threads, out.data());
    }
    return to_numpy(std::move(out));
  }
  nb::tuple out_of_bag(ColumnMatrix X, const Options& options, uint64_t first_tree, bool hard,
                       int n_threads) const {
    check_width(X.shape(1));
    const size_t n = X.shape(0);
    const auto k = static_cast<size_t>(std::max(1, forest_.n_classes));
    std::vector<double> sums(n * k);
    std::vector<int32_t> counts(n);
    {
      nb::gil_scoped_release release;
      bevel::out_of_bag(forest_, {X.data(), n, 1, n}, options, first_tree, n_threads, hard,
                        sums.data(), counts.data());
    }
    return nb::make_tuple(to_numpy(std::move(sums), {n, k}), to_numpy(std::move(counts)));
  }

 private:
  void check_width(size_t n_features) const {
    require(static_cast<int32_t>(n_features) == forest_.n_features,
            "[ForestView] wrong number of features");
  }
  RowMatrix row_matrix(const RowMajorMatrix& X) const {
    check_width(X.shape(1));
    return {X.data(), X.shape(0), X.shape(1), 1};
  }
  template <class T>
  std::span<const T> keep(Vector<T> array) {
    kept_.append(nb::cast(array));
    return as_span(array);
  }
  template <class T>
  std::span<const T> take(const nb::dict& arrays, const char* name) {
    return keep(nb::cast<Vector<T>>(arrays[name], false));
  }

  ForestArrays forest_;
  nb::list kept_;
};

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<ForestView>(m, "ForestView")
      .def(nb::init<nb::dict, int32_t, int32_t, Vector<int32_t>, Vector<float>>(),
           nb::arg("arrays"), nb::arg("n_features"), nb::arg("n_classes"),
           nb::arg("levels").noconvert(), nb::arg("medians").noconvert())
      .def("apply", &ForestView::apply, nb::arg("X").noconvert(), nb::arg("n_threads"))
      .def("predict_proba", &ForestView::predict_proba, nb::arg("X").noconvert(),
           nb::arg("n_threads"), nb::arg("hard"))
      .def("predict_value", &ForestView::predict_value, nb::arg("X").noconvert(),
           nb::arg("n_threads"))
      .def("out_of_bag", &ForestView::out_of_bag, nb::arg("X").noconvert(), nb::arg("options"),
           nb::arg("first_tree"), nb::arg("hard"), nb::arg("n_threads"));
}
