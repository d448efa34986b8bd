#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "arrays.h"
#include "bevel/data/medians.h"
#include "bevel/data/store.h"
#include "bevel/support/check.h"
#include "reporter.h"
#include "sparse_table.h"

using namespace bevel;

namespace {

nb::tuple to_tuple(ColumnSummary&& summary) {
  return nb::make_tuple(to_numpy(std::move(summary.median)), to_numpy(std::move(summary.has_nan)));
}

nb::tuple summary_of_columns(ColumnMatrix X, Vector<int32_t> levels, int n_threads) {
  require(levels.shape(0) == X.shape(1), "[summarise_columns] levels need one entry per feature");
  ColumnSummary summary;
  run_cancellable(
      [&] { summary = summarise_columns(X.data(), X.shape(0), as_span(levels), n_threads); });
  return to_tuple(std::move(summary));
}

template <class Number>
using SourceTable = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;
using EncodedTable = nb::ndarray<float, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// The place of a number beyond the limit, or None; and the summary of the columns, or None.
template <class Number>
nb::tuple store(SourceTable<Number> source, double limit, int n_threads, EncodedTable target) {
  require(source.shape(0) == target.shape(0) && source.shape(1) == target.shape(1),
          "[store_columns] shapes differ");
  const StridedTable<Number> table{source.data(), source.shape(0), source.shape(1),
                                   source.stride(0), source.stride(1)};
  std::optional<TablePlace> beyond;
  ColumnSummary summary;
  run_cancellable([&] { beyond = store_columns(table, limit, n_threads, target.data(), summary); });
  if (beyond) return nb::make_tuple(nb::make_tuple(beyond->row, beyond->column), nb::none());
  return nb::make_tuple(nb::none(), to_tuple(std::move(summary)));
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<SparseTable>(m, "SparseTable")
      .def(nb::init<size_t, Vector<int64_t>, Vector<int32_t>, Vector<float>, Vector<float>>(),
           nb::arg("n_rows"), nb::arg("offset").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("values").noconvert(), nb::arg("common").noconvert())
      .def(
          "summarise",
          [](const SparseTable& table, int n_threads) {
            ColumnSummary summary;
            run_cancellable([&] { summary = summarise_columns(table.view(), n_threads); });
            return to_tuple(std::move(summary));
          },
          nb::arg("n_threads"));
  m.def("summarise_columns", &summary_of_columns, nb::arg("X").noconvert(),
        nb::arg("levels").noconvert(), nb::arg("n_threads"));
  m.def("store_columns", &store<float>, nb::arg("source").noconvert(), nb::arg("limit"),
        nb::arg("n_threads"), nb::arg("target").noconvert());
  m.def("store_columns", &store<double>, nb::arg("source").noconvert(), nb::arg("limit"),
        nb::arg("n_threads"), nb::arg("target").noconvert());
}
