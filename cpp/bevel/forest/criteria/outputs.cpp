// Several outputs.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bevel/forest/criteria/forest_criterion_of.h"
#include "bevel/split/output_criteria.h"

namespace bevel {
namespace {

OutputRowStats output_stats(const CriterionData& data, size_t row, RowWeight w) {
  const double weight = w.whole > 0 ? static_cast<double>(w.whole)
                                    : std::max(1.0, std::nearbyint(w.real * data.scales.weight));
  return {weight, static_cast<uint32_t>(row)};
}

struct OutputErrorMaker {
  using Criterion = OutputErrorCriterion;
  static Criterion criterion(const CriterionData& data) {
    const CriterionScales& s = data.scales;
    return Criterion(*s.outputs, *s.kernels, s.weight / (s.target * s.target));
  }
  static constexpr auto stats = output_stats;
};

template <bool kEntropy>
struct OutputClassMaker {
  using Criterion = OutputClassCriterion<kEntropy>;
  static Criterion criterion(const CriterionData& data) {
    return Criterion(*data.scales.outputs, 1.0 / data.scales.weight, data.table);
  }
  static constexpr auto stats = output_stats;
};

}  // namespace

std::unique_ptr<ForestCriterion> make_output_criterion(const CriterionData& data) {
  if (data.training.targets) return forest_criterion<OutputErrorMaker>(data);
  return data.is_entropy() ? forest_criterion<OutputClassMaker<true>>(data)
                           : forest_criterion<OutputClassMaker<false>>(data);
}

}  // namespace bevel
