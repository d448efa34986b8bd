// Pairs with monotone constraints: two classes, squared error and the Poisson deviance.
#include "bevel/forest/criteria/forest_criterion_of.h"
#include "bevel/forest/criteria/pair_makers.h"
#include "bevel/split/monotone_criterion.h"

namespace bevel {
namespace {

template <class Score>
struct MonotoneMaker {
  using Base = WideMaker<Score>;
  using Criterion = MonotoneCriterion<typename Base::Criterion>;
  static Criterion criterion(const CriterionData& data) { return Criterion(Base::criterion(data)); }
  static WidePair stats(const CriterionData& data, size_t row, RowWeight w) {
    return Base::stats(data, row, w);
  }
};

}  // namespace

std::unique_ptr<ForestCriterion> make_monotone_criterion(const CriterionData& data) {
  if (data.options.criterion == CriterionKind::poisson)
    return forest_criterion<MonotoneMaker<PoissonScore>>(data);
  if (data.is_entropy()) return forest_criterion<MonotoneMaker<EntropyScore>>(data);
  return forest_criterion<MonotoneMaker<SquareScore>>(data);
}

}  // namespace bevel
