#include "bevel/projection/sampler.h"

#include <numeric>
#include <stdexcept>
#include <utility>

#include "bevel/projection/samplers/samplers.h"
#include "bevel/projection/tree_axes.h"

namespace bevel {

bool Sampler::sample_more(Stream&, SamplerScratch&, Candidates&) const { return false; }
void Sampler::end_node(SamplerScratch&) const {}

namespace {

// Whether the first perfect cut of a node is taken, and later draws do not matter: every cut is
// searched, all are allowed, and no other family reads the stream.
bool first_perfect_cut_wins(const Options& options) {
  return options.families.size() == 1 && options.threshold == ThresholdRule::best &&
         options.split_search != SplitSearch::histogram && options.min_samples_leaf <= 1 &&
         options.min_weight_leaf == 0.0;
}

std::unique_ptr<Sampler> make_node_sampler(const Family& family, const DatasetView& data,
                                           const Options& options, Stream& forest) {
  switch (family.kind) {
    case FamilyKind::axis:
      return make_list_sampler(data.numeric, family.n_draws);
    case FamilyKind::categorical:
      return make_list_sampler(data.categorical, family.n_draws);
    case FamilyKind::signs:
      return make_signs_sampler(family, data);
    case FamilyKind::combination:
      return make_combination_sampler(family, data);
    case FamilyKind::gaussian:
      return make_gaussian_sampler(family, data);
    case FamilyKind::rotation:
      return make_node_rotation_sampler(family, data);
    case FamilyKind::multirotation:
      return make_multirotation_sampler(family, data, forest);
    case FamilyKind::principal:
      return make_principal_sampler(family, data);
    case FamilyKind::patches:
      return make_patches_sampler(family);
    case FamilyKind::ridge:
    case FamilyKind::lda:
    case FamilyKind::logistic:
    case FamilyKind::pls:
    case FamilyKind::cca:
    case FamilyKind::cox:
      return make_model_sampler(family, data, first_perfect_cut_wins(options));
    case FamilyKind::custom:
      return make_custom_sampler(family, data);
  }
  throw std::logic_error("[make_samplers] unknown family");
}

Stream forest_stream(const Options& options) {
  return {root_key(options.seed, 0), Purpose::forest_rotations};
}

}  // namespace

Samplers make_samplers(const Options& options, const DatasetView& data) {
  Samplers samplers;
  Stream forest = forest_stream(options);
  int32_t next_axis = data.n_features;
  for (const Family& family : options.families) {
    if (!family.per_tree()) {
      samplers.push_back(make_node_sampler(family, data, options, forest));
      continue;
    }
    std::vector<int32_t> axes(data.numeric.size());
    std::iota(axes.begin(), axes.end(), next_axis);
    next_axis += static_cast<int32_t>(axes.size());
    samplers.push_back(make_list_sampler(std::move(axes), family.n_draws));
  }
  return samplers;
}

Candidates draw_forest_axes(const Options& options, const DatasetView& data) {
  Stream forest = forest_stream(options);
  Candidates axes;
  for (const Family& family : options.families)
    if (family.kind == FamilyKind::multirotation) append_multirotation(family, data, forest, axes);
  return axes;
}

}  // namespace bevel
