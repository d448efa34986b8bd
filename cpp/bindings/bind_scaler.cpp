#include <nanobind/nanobind.h>

#include "arrays.h"
#include "bevel/data/scaler.h"
#include "bevel/support/check.h"
#include "reporter.h"

using namespace bevel;

namespace {

template <class Number>
using Source = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;
using ScaledArray = nb::ndarray<float, nb::ndim<2>, nb::device::cpu>;

template <class Number>
void transform(const Scaler& scaler, Source<Number> source, size_t first_feature, int n_threads,
               ScaledArray target) {
  require(source.shape(0) == target.shape(0) && source.shape(1) == target.shape(1),
          "[Scaler.transform] shapes differ");
  const StridedTable<Number> from{source.data(), source.shape(0), source.shape(1), source.stride(0),
                                  source.stride(1)};
  const ScaledTable to{target.data(), target.stride(0), target.stride(1)};
  run_cancellable([&] { scaler.transform(from, first_feature, n_threads, to); });
}

// Columns one after the other, each of its own length.
template <class Number>
nb::ndarray<nb::numpy, float> transform_columns(const Scaler& scaler, Vector<Number> source,
                                                Vector<int64_t> offset) {
  const size_t n = source.shape(0);
  require(offset.shape(0) == scaler.n_features() + 1 && offset(0) == 0 &&
              offset(scaler.n_features()) == static_cast<int64_t>(n),
          "[Scaler.transform_columns] offsets");
  for (size_t f = 0; f < scaler.n_features(); ++f)
    require(offset(f) <= offset(f + 1), "[Scaler.transform_columns] offsets");
  std::vector<float> scaled(n);
  run_cancellable([&] { scaler.transform_columns(source.data(), offset.data(), scaled.data()); });
  return to_numpy(std::move(scaled));
}

Scaler linear(Vector<double> shift, Vector<double> span, bool clip) {
  return Scaler::linear(as_span(shift), as_span(span), clip);
}

Scaler quantile(Vector<double> low, Vector<double> high) {
  return Scaler::quantile(as_span(low), as_span(high));
}

Scaler rank(bool relative, Vector<int64_t> n_present, Vector<bool> complete, Vector<int64_t> offset,
            Vector<double> knots, Vector<double> ranks) {
  return Scaler::rank(relative, as_span(n_present), as_span(complete), as_span(offset),
                      as_span(knots), as_span(ranks));
}

Scaler with_codes(const Scaler& scaler, Vector<int32_t> levels) {
  return scaler.with_codes(as_span(levels));
}

}  // namespace

void bind_scaler(nb::module_& m) {
  nb::class_<Scaler> scaler(m, "Scaler");
  scaler.def_static("identity", &Scaler::identity, nb::arg("n_features"))
      .def_static("linear", &linear, nb::arg("shift").noconvert(), nb::arg("span").noconvert(),
                  nb::arg("clip"))
      .def_static("quantile", &quantile, nb::arg("low").noconvert(), nb::arg("high").noconvert())
      .def_static("rank", &rank, nb::arg("relative"), nb::arg("n_present").noconvert(),
                  nb::arg("complete").noconvert(), nb::arg("offset").noconvert(),
                  nb::arg("knots").noconvert(), nb::arg("ranks").noconvert())
      .def("with_codes", &with_codes, nb::arg("levels").noconvert())
      .def_prop_ro("n_features", &Scaler::n_features)
      .def("transform_columns", &transform_columns<float>, nb::arg("source").noconvert(),
           nb::arg("offset").noconvert())
      .def("transform_columns", &transform_columns<double>, nb::arg("source").noconvert(),
           nb::arg("offset").noconvert())
      .def("transform", &transform<float>, nb::arg("source").noconvert(), nb::arg("first_feature"),
           nb::arg("n_threads"), nb::arg("target").noconvert())
      .def("transform", &transform<double>, nb::arg("source").noconvert(), nb::arg("first_feature"),
           nb::arg("n_threads"), nb::arg("target").noconvert());
  scaler.attr("MAX_STORED") = kMaxStored;
}
