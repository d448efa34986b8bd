#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.h"
#include "bevel/predict/packed_predictor.h"
#include "bevel/predict/share_power.h"
#include "bevel/support/check.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

template <class Number>
using Table = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;
template <class Number>
using Target = nb::ndarray<Number, nb::c_contig, nb::device::cpu>;

// Runs predict(rows, out); false if a number is too large, and then out holds nothing of use.
template <class Number, class Out, class Predict>
bool parallel_rows(const PackedForest& forest, const Table<Number>& X, const Scaler& scaler,
                   double limit, const Target<Out>& out, size_t width, Predict predict) {
  require(static_cast<int32_t>(X.shape(1)) == forest.layout.n_columns,
          "[PackedForest] wrong number of features");
  require(is_aligned(X.data()) && is_aligned(out.data()),
          "[PackedForest] X and out must be aligned");
  require(scaler.n_features() == X.shape(1), "[PackedForest] the scaler has other features");
  require(out.size() == X.shape(0) * width, "[PackedForest] out has the wrong size");
  const StridedTable<Number> table{X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
  const RowSource rows{table, scaler, limit};
  try {
    run_cancellable([&] { predict(rows, out.data()); });
  } catch (const NumberBeyondLimit&) {
    return false;
  }
  return true;
}

Voting voting(bool hard) { return hard ? Voting::hard : Voting::soft; }

// Leaves of classes and of values are not alike: one walked as the other reads what is not there.
void require_classes(const PackedForest& forest, bool has_classes) {
  require((forest.n_classes > 0) == has_classes,
          has_classes ? "[PackedForest] a forest of values has no classes"
                      : "[PackedForest] a forest of classes has no values");
}

template <class Number>
bool proba(const PackedForest& forest, Table<Number> X, const Scaler& scaler, double limit,
           bool hard, int n_threads, Target<double> out) {
  require_classes(forest, true);
  const auto k = static_cast<size_t>(forest.n_classes);
  return parallel_rows(forest, X, scaler, limit, out, k, [&](const RowSource& rows, double* to) {
    predict_proba(forest, rows, voting(hard), n_threads, to);
  });
}

template <class Number>
bool classes(const PackedForest& forest, Table<Number> X, const Scaler& scaler, double limit,
             bool hard, int n_threads, Target<int32_t> out) {
  require_classes(forest, true);
  require(forest.n_outputs == 0, "[PackedForest] one class of several outputs");
  return parallel_rows(forest, X, scaler, limit, out, 1, [&](const RowSource& rows, int32_t* to) {
    predict_class(forest, rows, voting(hard), n_threads, to);
  });
}

template <class Number>
bool values(const PackedForest& forest, Table<Number> X, const Scaler& scaler, double limit,
            int n_threads, Target<double> out) {
  require_classes(forest, false);
  const size_t m = std::max<size_t>(1, forest.n_outputs);
  return parallel_rows(forest, X, scaler, limit, out, m, [&](const RowSource& rows, double* to) {
    predict_value(forest, rows, n_threads, to);
  });
}

// Adds the values of trees [first, last) to out, tree t to output t % n_outputs.
template <class Number>
bool add_outputs(const PackedForest& forest, Table<Number> X, const Scaler& scaler, double limit,
                 size_t first, size_t last, size_t n_outputs, int n_threads, Target<double> out) {
  require_classes(forest, false);
  require(forest.n_outputs == 0, "[PackedForest] leaves have several values");
  require(first <= last && last <= forest.n_trees() && n_outputs > 0,
          "[PackedForest] no such trees or outputs");
  return parallel_rows(forest, X, scaler, limit, out, n_outputs,
                       [&](const RowSource& rows, double* to) {
                         add_values(forest, rows, {first, last}, n_outputs, n_threads, to);
                       });
}

template <class Number>
void bind_predictions(nb::class_<PackedForest>& packed) {
  packed
      .def("predict_proba", &proba<Number>, nb::arg("X").noconvert(), nb::arg("scaler"),
           nb::arg("limit"), nb::arg("hard"), nb::arg("n_threads"), nb::arg("out").noconvert())
      .def("predict_class", &classes<Number>, nb::arg("X").noconvert(), nb::arg("scaler"),
           nb::arg("limit"), nb::arg("hard"), nb::arg("n_threads"), nb::arg("out").noconvert())
      .def("predict_value", &values<Number>, nb::arg("X").noconvert(), nb::arg("scaler"),
           nb::arg("limit"), nb::arg("n_threads"), nb::arg("out").noconvert())
      .def("add_values", &add_outputs<Number>, nb::arg("X").noconvert(), nb::arg("scaler"),
           nb::arg("limit"), nb::arg("first"), nb::arg("last"), nb::arg("n_outputs"),
           nb::arg("n_threads"), nb::arg("out").noconvert());
}

}  // namespace

void bind_packed(nb::module_& m) {
  nb::class_<PackedForest> packed(m, "PackedForest");
  packed
      .def(
          "__init__",
          [](PackedForest* self, const ForestView& view, const std::string& simd) {
            run_cancellable([&] { new (self) PackedForest(view.arrays(), simd); });
          },
          nb::arg("view"), nb::arg("simd") = "auto", nb::keep_alive<1, 2>())
      .def_prop_ro("nbytes", &PackedForest::nbytes);
  bind_predictions<float>(packed);
  bind_predictions<double>(packed);
  m.def(
      "raise_shares",
      [](nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> shares, int halves) {
        require(halves >= 1 && halves <= kMaxHalves, "[raise_shares] no such power");
        raise_shares(shares.data(), shares.shape(0), shares.shape(1), halves);
      },
      nb::arg("shares").noconvert(), nb::arg("halves"));
}
