// Gini and entropy of two classes, squared error and the Poisson deviance.
#include "bevel/forest/criteria/forest_criterion_of.h"
#include "bevel/forest/criteria/pair_makers.h"

namespace bevel {

std::unique_ptr<ForestCriterion> make_pair_criterion(const CriterionData& data) {
  const bool packed = !data.training.targets && data.scales.whole;
  if (data.is_entropy())
    return packed ? forest_criterion<PackedMaker<EntropyScore>>(data)
                  : forest_criterion<WideMaker<EntropyScore>>(data);
  return packed ? forest_criterion<PackedMaker<SquareScore>>(data)
                : forest_criterion<WideMaker<SquareScore>>(data);
}

std::unique_ptr<ForestCriterion> make_squared_error(const CriterionData& data) {
  if (!data.training.output_classes.empty()) return make_output_criterion(data);
  if (data.options.constraints.is_monotone()) return make_monotone_criterion(data);
  return make_pair_criterion(data);
}

std::unique_ptr<ForestCriterion> make_poisson(const CriterionData& data) {
  if (data.options.constraints.is_monotone()) return make_monotone_criterion(data);
  return forest_criterion<WideMaker<PoissonScore>>(data);
}

}  // namespace bevel
