#include "bevel/split/absolute_error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "bevel/forest/criteria/forest_criterion_of.h"

namespace bevel {
namespace {

template <class Sum>
struct AbsoluteMaker {
  using Criterion = AbsoluteCriterion<Sum>;
  static constexpr bool kWhole = std::is_same_v<Sum, int64_t>;
  static const RankedTargets<Sum>& ranked(const CriterionData& data) {
    if constexpr (kWhole)
      return data.whole_ranks;
    else
      return data.real_ranks;
  }
  static Criterion criterion(const CriterionData& data) {
    return Criterion(ranked(data), 1.0 / (kWhole ? data.scales.target : data.scales.weight));
  }
  static RankRowStats stats(const CriterionData& data, size_t row, RowWeight w) {
    const int64_t weight =
        kWhole ? w.whole : std::max<int64_t>(1, std::llround(w.real * data.scales.weight));
    return {ranked(data).ranks[row], weight};
  }
};

}  // namespace

std::unique_ptr<ForestCriterion> make_absolute_error(const CriterionData& data) {
  return data.scales.whole ? forest_criterion<AbsoluteMaker<int64_t>>(data)
                           : forest_criterion<AbsoluteMaker<double>>(data);
}

}  // namespace bevel
