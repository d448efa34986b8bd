// Makes the criterion for a training set, and the statistics of its rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "bevel/forest/forest_trainer.h"
#include "bevel/forest/output_targets.h"
#include "bevel/split/absolute_error.h"
#include "bevel/split/criterion.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/log_rank.h"
#include "bevel/split/monotone_criterion.h"
#include "bevel/split/output_criteria.h"
#include "bevel/support/check.h"

namespace bevel {

template <class Criterion>
struct CriterionMaker;

struct RowWeight {
  int64_t whole;  // multiplicity times a whole weight
  double real;    // multiplicity times weight times class weight
};

struct CriterionScales {
  const OutputTargets* outputs = nullptr;  // several of them
  const Kernels* kernels = nullptr;
  double weight = 1.0;  // whole units per unit of weight
  double target = 1.0;  // whole units per unit of weight times target
  double centre = 0.0;
  double gain = 1.0;  // stored gains per unit of gain
  bool whole = true;  // weights are whole numbers
};

// Data shared by the criteria of one forest.
struct CriterionData {
  CriterionScales scales;
  const EntropyTable* table = nullptr;
  RankedTargets<int64_t> whole_ranks;  // absolute error, whole weights
  RankedTargets<double> real_ranks;    // absolute error, real weights
};

// Table for the scores of pairs.
template <class Score>
Score make_score(const EntropyTable* table) {
  if constexpr (Score::kIsEntropy)
    return Score(table);
  else
    return Score();
}

template <class Score>
struct CriterionMaker<PairCriterion<uint64_t, Score>> {
  using Criterion = PairCriterion<uint64_t, Score>;
  static Criterion criterion(const TrainingSet&, const CriterionData& data) {
    return Criterion(Score::kIsEntropy ? 1.0 : 2.0, false, make_score<Score>(data.table));
  }
  static uint64_t stats(const TrainingSet& t, size_t row, RowWeight w, const CriterionData&) {
    const auto weight = static_cast<uint64_t>(w.whole);
    return weight << 32 | (t.labels[row] == 1 ? weight : 0);
  }
};

template <class Score>
struct CriterionMaker<PairCriterion<WidePair, Score>> {
  using Criterion = PairCriterion<WidePair, Score>;
  static Criterion criterion(const TrainingSet& t, const CriterionData& data) {
    const CriterionScales& s = data.scales;
    const auto score = make_score<Score>(data.table);
    if constexpr (std::is_same_v<Score, PoissonScore>)
      return Criterion(1.0 / s.target, true, score);
    if (t.targets) return Criterion(s.weight / (s.target * s.target), true, score);
    return Criterion((Score::kIsEntropy ? 1.0 : 2.0) / s.weight, false, score);
  }
  static WidePair stats(const TrainingSet& t, size_t row, RowWeight w, const CriterionData& data) {
    const CriterionScales& s = data.scales;
    // A row drawn three times has three times the value, so that equal targets have equal means.
    if (t.targets && w.whole > 0)
      return {w.whole, w.whole * std::llround((t.targets[row] - s.centre) * s.target)};
    // No weight may round to zero: a row must have some weight.
    const int64_t weight = std::max<int64_t>(1, std::llround(w.real * s.weight));
    if (!t.targets) return {weight, t.labels[row] == 1 ? weight : 0};
    return {weight, std::llround(w.real * (t.targets[row] - s.centre) * s.target)};
  }
};

template <class Weight, bool kEntropy>
struct CriterionMaker<ClassCriterion<Weight, kEntropy>> {
  using Criterion = ClassCriterion<Weight, kEntropy>;
  static Criterion criterion(const TrainingSet& t, const CriterionData& data) {
    return Criterion(t.n_classes, 1.0, data.table);
  }
  static typename Criterion::RowStats stats(const TrainingSet& t, size_t row, RowWeight w,
                                            const CriterionData&) {
    const auto label = static_cast<decltype(Criterion::RowStats::label)>(t.labels[row]);
    if constexpr (std::is_same_v<Weight, double>) {
      return {label, w.real};
    } else {
      require(w.whole <= std::numeric_limits<Weight>::max(),
              "[train] a row was drawn too often for its weight");
      return {label, static_cast<Weight>(w.whole)};
    }
  }
};

template <class Criterion>
  requires kHasHazard<Criterion>
struct CriterionMaker<Criterion> {
  static Criterion criterion(const TrainingSet& t, const CriterionData& data) {
    const CriterionScales& s = data.scales;
    if constexpr (Criterion::kIsPair)
      return Criterion(s.weight, s.target, s.whole);
    else
      return Criterion(s.whole, t.n_causes);
  }
  static SurvivalRow stats(const TrainingSet& t, size_t row, RowWeight w, const CriterionData&) {
    return {w.real, t.times[row], t.entries ? t.entries[row] : 0, t.events[row]};
  }
};

template <class Sum>
struct CriterionMaker<AbsoluteCriterion<Sum>> {
  using Criterion = AbsoluteCriterion<Sum>;
  static constexpr bool kWhole = std::is_same_v<Sum, int64_t>;
  static const RankedTargets<Sum>& ranked(const CriterionData& data) {
    if constexpr (kWhole)
      return data.whole_ranks;
    else
      return data.real_ranks;
  }
  static Criterion criterion(const TrainingSet&, const CriterionData& data) {
    return Criterion(ranked(data), 1.0 / (kWhole ? data.scales.target : data.scales.weight));
  }
  static RankRowStats stats(const TrainingSet&, size_t row, RowWeight w,
                            const CriterionData& data) {
    const int64_t weight =
        kWhole ? w.whole : std::max<int64_t>(1, std::llround(w.real * data.scales.weight));
    return {ranked(data).ranks[row], weight};
  }
};

// The distinct targets and the rank of each row's. to_grid: value of a target that is summed.
template <class Sum, class ToGrid>
RankedTargets<Sum> rank_targets(const double* targets, size_t n, ToGrid to_grid) {
  RankedTargets<Sum> result;
  result.values.assign(targets, targets + n);
  std::sort(result.values.begin(), result.values.end());
  result.values.erase(std::unique(result.values.begin(), result.values.end()), result.values.end());
  for (const double value : result.values) result.grid.push_back(to_grid(value));
  for (size_t i = 0; i < n; ++i)
    result.ranks.push_back(static_cast<uint32_t>(
        std::lower_bound(result.values.begin(), result.values.end(), targets[i]) -
        result.values.begin()));
  return result;
}

template <class Criterion>
  requires std::is_same_v<typename Criterion::RowStats, OutputRowStats>
struct CriterionMaker<Criterion> {
  static Criterion criterion(const TrainingSet&, const CriterionData& data) {
    const CriterionScales& s = data.scales;
    if constexpr (std::is_same_v<Criterion, OutputErrorCriterion>)
      return Criterion(*s.outputs, *s.kernels, s.weight / (s.target * s.target));
    else
      return Criterion(*s.outputs, 1.0 / s.weight, data.table);
  }
  static OutputRowStats stats(const TrainingSet&, size_t row, RowWeight w,
                              const CriterionData& data) {
    const CriterionScales& s = data.scales;
    const double weight = w.whole > 0 ? static_cast<double>(w.whole)
                                      : std::max(1.0, std::nearbyint(w.real * s.weight));
    return {weight, static_cast<uint32_t>(row)};
  }
};

template <class Base>
struct CriterionMaker<MonotoneCriterion<Base>> {
  static MonotoneCriterion<Base> criterion(const TrainingSet& t, const CriterionData& data) {
    return MonotoneCriterion<Base>(CriterionMaker<Base>::criterion(t, data));
  }
  static typename Base::RowStats stats(const TrainingSet& t, size_t row, RowWeight w,
                                       const CriterionData& data) {
    return CriterionMaker<Base>::stats(t, row, w, data);
  }
};

}  // namespace bevel
