#include "bevel/projection/sampler.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bevel/projection/samplers.h"

namespace bevel {

bool Sampler::sample_more(Stream&, SamplerScratch&, Candidates&) const { return false; }
void Sampler::end_node(SamplerScratch&) const {}

std::unique_ptr<Sampler> make_sampler(const Family& family, const DatasetView& data) {
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
      if (family.per_node) return make_node_rotation_sampler(family, data);
      std::vector<int32_t> axes(static_cast<size_t>(
          std::min<int64_t>(family.n_nonzeros, static_cast<int64_t>(data.numeric.size()))));
      for (size_t i = 0; i < axes.size(); ++i) axes[i] = data.n_features + static_cast<int32_t>(i);
      return make_list_sampler(std::move(axes), family.n_draws);
  }
  throw std::logic_error("[make_sampler] unknown family");
}

}  // namespace bevel
