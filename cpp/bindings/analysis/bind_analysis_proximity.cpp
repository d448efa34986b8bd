#include <nanobind/nanobind.h>

#include "arrays.h"
#include "bevel/analysis/leaf_sharing.h"
#include "reporter.h"

using namespace bevel;

namespace {

using Leaves = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

LeafMatrix leaf_matrix(const Leaves& leaves) {
  return {leaves.data(), leaves.shape(0), leaves.shape(1)};
}

void make_sharing(LeafSharing* self, Leaves leaves, Vector<int64_t> tree_offset) {
  run_cancellable([&] { new (self) LeafSharing(leaf_matrix(leaves), as_span(tree_offset)); });
}

nb::tuple nearest(const LeafSharing& sharing, Leaves queries, int64_t first_own, size_t k,
                  int n_threads) {
  SparseRows found;
  run_cancellable([&] { found = sharing.nearest(leaf_matrix(queries), first_own, k, n_threads); });
  return nb::make_tuple(to_numpy(std::move(found.offset)), to_numpy(std::move(found.column)),
                        to_numpy(std::move(found.value)));
}

}  // namespace

void bind_analysis_proximity(nb::module_& m) {
  nb::class_<LeafSharing>(m, "LeafSharing")
      .def("__init__", &make_sharing, nb::arg("leaves").noconvert(),
           nb::arg("tree_offset").noconvert())
      .def("nearest", &nearest, nb::arg("queries").noconvert(), nb::arg("first_own"), nb::arg("k"),
           nb::arg("n_threads"));
}
