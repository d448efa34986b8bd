#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "arrays.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/split/kernels/kernels.h"
#include "conversions/enum_names.h"
#include "python_source.h"

namespace nb = nanobind;
using namespace bevel;

namespace {

constexpr auto kFamilies = names_of<FamilyKind>(kFamilyNames);
constexpr auto kTunings = names_of<Tuning>(kTuningNames);
constexpr auto kPatchWeights = names_of<PatchWeights>(kPatchWeightsNames);
constexpr auto kCriteria = names_of<CriterionKind>(kCriterionNames);
constexpr auto kThresholds = names_of<ThresholdRule>(kThresholdRuleNames);
constexpr auto kSearches = names_of<SplitSearch>(kSplitSearchNames);
constexpr auto kGrowths = names_of<Growth>(kGrowthNames);

std::shared_ptr<const Candidates> read_pool(const nb::tuple& arrays) {
  const auto offset = nb::cast<Vector<uint32_t>>(arrays[0], false);
  const auto index = nb::cast<Vector<int32_t>>(arrays[1], false);
  const auto weight = nb::cast<Vector<float>>(arrays[2], false);
  auto pool = std::make_shared<Candidates>();
  pool->offset.assign(offset.data(), offset.data() + offset.shape(0));
  pool->index.assign(index.data(), index.data() + index.shape(0));
  pool->weight.assign(weight.data(), weight.data() + weight.shape(0));
  return pool;
}

}  // namespace

void bind_options(nb::module_& m) {
  nb::class_<Patch> patch(m, "Patch");
  patch.def(
      "__init__",
      [](Patch* self, const std::vector<std::array<int32_t, 4>>& axes, int32_t n_channels,
         int32_t channel_stride, bool one_channel, const std::string& weights, bool shuffle,
         bool wrap, bool inside) {
        new (self)
            Patch{{},      n_channels, channel_stride, one_channel, kPatchWeights.parse(weights),
                  shuffle, wrap,       inside};
        for (auto [length, stride, shortest, longest] : axes)
          self->axes.push_back({length, stride, shortest, longest});
      },
      nb::arg("axes"), nb::arg("n_channels") = 1, nb::arg("channel_stride") = 1,
      nb::arg("one_channel") = false, nb::arg("weights") = "signs", nb::arg("shuffle") = false,
      nb::arg("wrap") = false, nb::arg("inside") = false);

  nb::class_<ModelSettings> model(m, "ModelSettings");
  model.def(
      "__init__",
      [](ModelSettings* self, std::vector<double> alphas, const std::string& tune,
         bool parent_when_exhausted, int32_t n_steps, int32_t n_components, bool bootstrap,
         bool record) {
        new (self) ModelSettings{std::move(alphas),
                                 kTunings.parse(tune),
                                 parent_when_exhausted,
                                 n_steps,
                                 n_components,
                                 bootstrap,
                                 record};
      },
      nb::arg("alphas"), nb::arg("tune") = "none", nb::arg("parent_when_exhausted") = false,
      nb::arg("n_steps") = 0, nb::arg("n_components") = 0, nb::arg("bootstrap") = false,
      nb::arg("record") = false);

  nb::class_<Family> family(m, "Family");
  family.def(
      "__init__",
      [](Family* self, const std::string& kind, int32_t n_draws, int64_t n_nonzeros, bool flip,
         bool per_node, int32_t n_rotations, double share, std::optional<Patch> patch,
         std::optional<ModelSettings> model, nb::object source, nb::object pool,
         std::vector<int32_t> rotation_of_tree, bool direct) {
        new (self) Family{kFamilies.parse(kind),
                          n_draws,
                          n_nonzeros,
                          flip,
                          per_node,
                          n_rotations,
                          share,
                          patch.value_or(Patch{}),
                          model.value_or(ModelSettings{}),
                          source.is_none() ? nullptr : make_python_source(std::move(source)),
                          pool.is_none() ? nullptr : read_pool(nb::cast<nb::tuple>(pool)),
                          std::move(rotation_of_tree),
                          direct};
      },
      nb::arg("kind"), nb::arg("n_draws"), nb::arg("n_nonzeros") = 0, nb::arg("flip") = false,
      nb::arg("per_node") = false, nb::arg("n_rotations") = 1, nb::arg("share") = 1.0,
      nb::arg("patch") = nb::none(), nb::arg("model") = nb::none(), nb::arg("source") = nb::none(),
      nb::arg("pool") = nb::none(), nb::arg("rotation_of_tree") = std::vector<int32_t>{},
      nb::arg("direct") = false);
  family.def_prop_ro("kind", [](const Family& f) { return kFamilies.name(f.kind); });
  family.def_ro("n_draws", &Family::n_draws);
  family.def_ro("n_nonzeros", &Family::n_nonzeros);
  family.def_ro("flip", &Family::flip);
  family.def_ro("per_node", &Family::per_node);
  family.def_ro("n_rotations", &Family::n_rotations);
  family.def_ro("share", &Family::share);

  nb::class_<Options> options(m, "Options");
  options.def(nb::init<>());
  def_enum(options, "criterion", &Options::criterion, kCriteria);
  def_enum(options, "threshold", &Options::threshold, kThresholds);
  def_enum(options, "split_search", &Options::split_search, kSearches);
  def_enum(options, "growth", &Options::growth, kGrowths);
  options.def_rw("n_thresholds", &Options::n_thresholds)
      .def_rw("max_depth", &Options::max_depth)
      .def_rw("min_samples_split", &Options::min_samples_split)
      .def_rw("min_samples_leaf", &Options::min_samples_leaf)
      .def_rw("min_weight_leaf", &Options::min_weight_leaf)
      .def_rw("max_leaf_nodes", &Options::max_leaf_nodes)
      .def_rw("min_impurity_decrease", &Options::min_impurity_decrease)
      .def_rw("split_pure_nodes", &Options::split_pure_nodes)
      .def_rw("bag_size", &Options::bag_size)
      .def_rw("replace", &Options::replace)
      .def_rw("balanced_subsample", &Options::balanced_subsample)
      .def_rw("families", &Options::families)
      .def_prop_rw(
          "monotone", [](const Options& o) { return o.constraints.monotone; },
          [](Options& o, std::vector<int8_t> values) {
            o.constraints.monotone = std::move(values);
          })
      .def_prop_rw(
          "interaction_groups", [](const Options& o) { return o.constraints.groups; },
          [](Options& o, std::vector<std::vector<int32_t>> groups) {
            o.constraints.groups = std::move(groups);
          })
      .def_rw("seed", &Options::seed)
      .def_rw("simd", &Options::simd);

  m.def("simd_level", [] { return std::string(kernels("auto").name); });
}
