#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/family.h"
#include "bevel/projection/family_settings.h"
#include "bevel/split/kernels/kernels.h"
#include "conversions/enum_names.h"
#include "python_source.h"

namespace nb = nanobind;
using namespace bevel;

namespace {

constexpr auto kCriteria = names_of<CriterionKind>(kCriterionNames);
constexpr auto kThresholds = names_of<ThresholdRule>(kThresholdRuleNames);
constexpr auto kSearches = names_of<SplitSearch>(kSplitSearchNames);
constexpr auto kGrowths = names_of<Growth>(kGrowthNames);

// The settings of a family as keyword arguments.
class KeywordSettings : public FamilySettings {
 public:
  explicit KeywordSettings(const nb::kwargs& given) : given_(given) {}

  void read(const char* name, SettingTarget target) override {
    read_.insert(name);
    if (!given_.contains(name)) return;
    const nb::object value = given_[name];
    try {
      std::visit([&](auto* place) { take(value, *place); }, target);
    } catch (const nb::cast_error&) {
      throw nb::type_error((std::string("[Family] type of the setting ") + name).c_str());
    }
  }
  // Throws if a setting was given that the family has not read.
  void check_names() const {
    for (const auto& [key, value] : given_) {
      const auto name = nb::cast<std::string>(key);
      if (!read_.contains(name)) throw nb::type_error(("[Family] no setting " + name).c_str());
    }
  }

 private:
  template <class T>
  static void take(const nb::object& value, T& place) {
    place = nb::cast<T>(value);
  }
  static void take(const nb::object& value, std::shared_ptr<const DirectionSource>& place) {
    place = make_python_source(value);
  }
  // Offsets, indices and weights.
  static void take(const nb::object& value, std::shared_ptr<const Candidates>& place) {
    const auto arrays = nb::cast<nb::tuple>(value);
    const auto offset = nb::cast<Vector<uint32_t>>(arrays[0], false);
    const auto index = nb::cast<Vector<int32_t>>(arrays[1], false);
    const auto weight = nb::cast<Vector<float>>(arrays[2], false);
    auto directions = std::make_shared<Candidates>();
    directions->offset.assign(offset.data(), offset.data() + offset.shape(0));
    directions->index.assign(index.data(), index.data() + index.shape(0));
    directions->weight.assign(weight.data(), weight.data() + weight.shape(0));
    place = std::move(directions);
  }

  const nb::kwargs& given_;
  std::set<std::string> read_;
};

// A family of directions as Python holds it.
struct NamedFamily {
  std::shared_ptr<const Family> family;
};

}  // namespace

void bind_options(nb::module_& m) {
  nb::class_<NamedFamily>(m, "Family")
      .def(
          "__init__",
          [](NamedFamily* self, const std::string& kind, int32_t n_draws, int64_t n_nonzeros,
             const nb::kwargs& settings) {
            KeywordSettings given(settings);
            auto family = make_family(kind, {n_draws, n_nonzeros}, given);
            given.check_names();
            new (self) NamedFamily{std::move(family)};
          },
          nb::arg("kind"), nb::arg("n_draws"), nb::arg("n_nonzeros") = 0, nb::arg("settings"))
      .def_prop_ro("n_draws", [](const NamedFamily& self) { return self.family->n_draws; });

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
      .def_rw("max_redraws", &Options::max_redraws)
      .def_rw("split_pure_nodes", &Options::split_pure_nodes)
      .def_rw("bag_size", &Options::bag_size)
      .def_rw("leaf_share", &Options::leaf_share)
      .def_rw("replace", &Options::replace)
      .def(
          "set_bag_groups",
          [](Options& o, Vector<uint32_t> groups, uint32_t n_groups) {
            o.bag_groups.assign(groups.data(), groups.data() + groups.shape(0));
            o.n_bag_groups = n_groups;
          },
          nb::arg("groups").noconvert(), nb::arg("n_groups"))
      .def_rw("balanced_subsample", &Options::balanced_subsample)
      .def_prop_rw(
          "families",
          [](const Options& o) {
            std::vector<NamedFamily> families;
            for (const auto& family : o.families) families.push_back({family});
            return families;
          },
          [](Options& o, const std::vector<NamedFamily>& families) {
            o.families.clear();
            for (const NamedFamily& each : families) o.families.push_back(each.family);
          })
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
