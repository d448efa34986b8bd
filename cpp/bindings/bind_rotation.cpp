#include <nanobind/nanobind.h>

#include <vector>

#include "arrays.h"
#include "bevel/data/rotate.h"
#include "bevel/projection/haar.h"
#include "bevel/random/stream.h"
#include "bevel/support/check.h"
#include "reporter.h"

using namespace bevel;

namespace {

using Rotation = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using RotatedTable = nb::ndarray<float, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Row k of the result is axis k.
nb::ndarray<nb::numpy, double> draw(int32_t n_features, bool flip, uint64_t seed, uint64_t tree) {
  require(n_features > 0, "[haar_rotation] no features");
  std::vector<double> axes;
  run_cancellable([&] {
    Stream stream(root_key(seed, tree), Purpose::rotation);
    axes = haar_columns(n_features, n_features, flip, stream);
  });
  const auto m = static_cast<size_t>(n_features);
  return to_numpy(std::move(axes), {m, m});
}

void rotate(ColumnMatrix rows, Rotation rotation, int n_threads, RotatedTable target) {
  const size_t n_rows = rows.shape(0), n_features = rows.shape(1);
  require(rotation.shape(0) == n_features && rotation.shape(1) == n_features &&
              target.shape(0) == n_rows && target.shape(1) == n_features,
          "[rotate_rows] shapes differ");
  run_cancellable([&] {
    rotate_rows(rows.data(), n_rows, n_features, rotation.data(), n_threads, target.data());
  });
}

}  // namespace

void bind_rotation(nb::module_& m) {
  m.def("haar_rotation", &draw, nb::arg("n_features"), nb::arg("flip"), nb::arg("seed"),
        nb::arg("tree"));
  m.def("rotate_rows", &rotate, nb::arg("rows").noconvert(), nb::arg("rotation").noconvert(),
        nb::arg("n_threads"), nb::arg("target").noconvert());
}
