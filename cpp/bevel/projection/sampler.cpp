#include "bevel/projection/sampler.h"

#include <numeric>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/projection/samplers/column_samplers.h"

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

Stream forest_stream(const Options& options) {
  return {root_key(options.seed, 0), Purpose::forest_rotations};
}

}  // namespace

Samplers make_samplers(const Options& options, const DatasetView& data) {
  Samplers samplers;
  Stream forest = forest_stream(options);
  const SamplerInput input{data, forest, first_perfect_cut_wins(options)};
  int32_t next_axis = data.n_features;
  for (const auto& family : options.families) {
    if (!family->per_tree()) {
      samplers.push_back(family->make_sampler(input));
      continue;
    }
    std::vector<int32_t> axes(data.numeric.size());
    std::iota(axes.begin(), axes.end(), next_axis);
    next_axis += static_cast<int32_t>(axes.size());
    samplers.push_back(make_list_sampler(std::move(axes), family->n_draws));
  }
  return samplers;
}

Candidates draw_forest_axes(const Options& options, const DatasetView& data) {
  Stream forest = forest_stream(options);
  Candidates axes;
  for (const auto& family : options.families) family->append_forest_axes(data, forest, axes);
  return axes;
}

}  // namespace bevel
