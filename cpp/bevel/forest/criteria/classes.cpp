// Gini and entropy, with two classes or more.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "bevel/forest/criteria/forest_criterion_of.h"
#include "bevel/split/criterion.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

template <class Weight, bool kEntropy>
struct ClassMaker {
  using Criterion = ClassCriterion<Weight, kEntropy>;
  static Criterion criterion(const CriterionData& data) {
    return Criterion(data.training.n_classes, 1.0, data.table);
  }
  static typename Criterion::RowStats stats(const CriterionData& data, size_t row, RowWeight w) {
    const auto label = static_cast<decltype(Criterion::RowStats::label)>(data.training.labels[row]);
    if constexpr (std::is_same_v<Weight, double>) {
      return {label, w.real};
    } else {
      require(w.whole <= std::numeric_limits<Weight>::max(),
              "[train] a row was drawn too often for its weight");
      return {label, static_cast<Weight>(w.whole)};
    }
  }
};

template <bool kEntropy>
std::unique_ptr<ForestCriterion> by_counts(const CriterionData& data) {
  if (data.scales.whole) return forest_criterion<ClassMaker<uint16_t, kEntropy>>(data);
  return forest_criterion<ClassMaker<double, kEntropy>>(data);
}

}  // namespace

std::unique_ptr<ForestCriterion> make_class_criterion(const CriterionData& data) {
  if (!data.training.output_classes.empty()) return make_output_criterion(data);
  if (data.options.constraints.is_monotone()) {
    require(data.training.n_classes == 2, "[train] a monotone forest of classes");
    return make_monotone_criterion(data);
  }
  if (data.training.n_classes == 2) return make_pair_criterion(data);
  return data.is_entropy() ? by_counts<true>(data) : by_counts<false>(data);
}

}  // namespace bevel
