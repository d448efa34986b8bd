#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "arrays.h"
#include "bevel/analysis/effects/curves.h"
#include "bevel/support/check.h"
#include "reporter.h"

using namespace bevel;

namespace {

using VariantTable = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Values of one or two features that every row takes.
struct Grid {
  Grid(int32_t first_feature, Vector<float> first, int32_t second_feature, Vector<float> second)
      : first_(first), second_(second) {
    require(first.shape(0) > 0, "[effects] empty grid");
    require(second.shape(0) == 0 || first_feature != second_feature, "[effects] the same feature");
    grid.feature = {first_feature, second_feature};
    grid.values = {as_span(first_), as_span(second_)};
  }
  void check(size_t p) const {
    for (int axis = 0; axis < (second_.shape(0) > 0 ? 2 : 1); ++axis)
      require(0 <= grid.feature[axis] && static_cast<size_t>(grid.feature[axis]) < p,
              "[effects] feature out of range");
  }

  FeatureGrid grid;

 private:
  Vector<float> first_, second_;
};

// Values that each row takes by itself.
struct OwnValues {
  OwnValues(Vector<int32_t> features, VariantTable values) : features_(features), values_(values) {
    require(features.shape(0) > 0 && values.shape(2) == features.shape(0) && values.shape(1) > 0,
            "[effects] shape of values");
    variants = {as_span(features_), values_.data(), values_.shape(1)};
  }
  void check(size_t n, size_t p) const {
    require(values_.shape(0) == n, "[effects] values of other rows");
    for (const int32_t feature : variants.features)
      require(0 <= feature && static_cast<size_t>(feature) < p, "[effects] feature out of range");
  }

  RowVariants variants;

 private:
  Vector<int32_t> features_;
  VariantTable values_;
};

// The arguments that both kinds of curves share, checked.
struct Arguments {
  Arguments(const PackedForest& given_forest, RowMajorMatrix X, nb::object variants, bool hard,
            std::optional<TreeMask> is_evaluated, int n_threads)
      : forest(given_forest), rows{X.data(), X.shape(0)} {
    const size_t n = X.shape(0), p = X.shape(1);
    require(forest.n_outputs == 0, "[effects] the forest has several outputs");
    require(p == static_cast<size_t>(forest.layout.n_columns),
            "[effects] wrong number of features");
    if (nb::isinstance<Grid>(variants)) {
      const auto& grid = nb::cast<const Grid&>(variants);
      grid.check(p);
      given = grid.grid;
    } else {
      const auto& own = nb::cast<const OwnValues&>(variants);
      own.check(n, p);
      given = own.variants;
    }
    require(!is_evaluated ||
                (is_evaluated->shape(0) == n && is_evaluated->shape(1) == forest.n_trees()),
            "[effects] shape of is_evaluated");
    options = {hard,
               is_evaluated ? reinterpret_cast<const uint8_t*>(is_evaluated->data()) : nullptr,
               n_threads};
  }
  size_t n_variants() const {
    return std::visit([](const auto& each) { return each.n_variants(); }, given);
  }
  size_t n_columns() const { return static_cast<size_t>(std::max(1, forest.n_classes)); }

  const PackedForest& forest;
  PlainRows rows;
  Variants given;
  CurveOptions options;
};

nb::ndarray<nb::numpy, double> curves_of_rows(const PackedForest& forest, RowMajorMatrix X,
                                              nb::object variants, bool hard,
                                              std::optional<TreeMask> is_evaluated, int n_threads,
                                              nb::object progress) {
  const Arguments arguments(forest, X, variants, hard, is_evaluated, n_threads);
  const size_t n = X.shape(0), k = arguments.n_columns(), g = arguments.n_variants();
  std::vector<double> out(n * k * g);
  Reporter reporter(std::move(progress));
  run_cancellable(reporter, [&] {
    row_curves(
        forest, arguments.rows, arguments.given, arguments.options,
        [&reporter](size_t done) { return reporter(done); }, out.data());
  });
  return to_numpy(std::move(out), {n, k, g});
}

nb::ndarray<nb::numpy, double> curves_of_trees(const PackedForest& forest, RowMajorMatrix X,
                                               nb::object variants, Vector<int32_t> group,
                                               size_t n_groups, size_t n_parts,
                                               std::optional<Vector<double>> weights, bool hard,
                                               std::optional<TreeMask> is_evaluated, int n_threads,
                                               nb::object progress) {
  const Arguments arguments(forest, X, variants, hard, is_evaluated, n_threads);
  require(group.shape(0) == X.shape(0), "[effects] length of group");
  for (const int32_t g : as_span(group))
    require(g < static_cast<int32_t>(n_groups), "[effects] group out of range");
  require(1 <= n_parts && n_parts <= forest.n_trees(), "[effects] number of parts");
  require(!weights || weights->shape(0) == X.shape(0), "[effects] length of weights");
  RowGroups groups{as_span(group), {}, n_groups};
  if (weights) groups.weight = as_span(*weights);
  const size_t k = arguments.n_columns(), g = arguments.n_variants();
  std::vector<double> out(n_parts * n_groups * k * g);
  Reporter reporter(std::move(progress));
  run_cancellable(reporter, [&] {
    tree_curves(
        forest, arguments.rows, arguments.given, groups, n_parts, arguments.options,
        [&reporter](size_t done) { return reporter(done); }, out.data());
  });
  return to_numpy(std::move(out), {n_parts, n_groups, k, g});
}

}  // namespace

void bind_analysis_effects(nb::module_& m) {
  nb::class_<Grid>(m, "FeatureGrid")
      .def(nb::init<int32_t, Vector<float>, int32_t, Vector<float>>(), nb::arg("first_feature"),
           nb::arg("first").noconvert(), nb::arg("second_feature"), nb::arg("second").noconvert());
  nb::class_<OwnValues>(m, "RowVariants")
      .def(nb::init<Vector<int32_t>, VariantTable>(), nb::arg("features").noconvert(),
           nb::arg("values").noconvert());
  m.def("row_curves", &curves_of_rows, nb::arg("forest"), nb::arg("X").noconvert(),
        nb::arg("variants"), nb::arg("hard"), nb::arg("is_evaluated").noconvert().none(),
        nb::arg("n_threads"), nb::arg("progress").none());
  m.def("tree_curves", &curves_of_trees, nb::arg("forest"), nb::arg("X").noconvert(),
        nb::arg("variants"), nb::arg("group").noconvert(), nb::arg("n_groups"), nb::arg("n_parts"),
        nb::arg("weights").noconvert().none(), nb::arg("hard"),
        nb::arg("is_evaluated").noconvert().none(), nb::arg("n_threads"),
        nb::arg("progress").none());
}
