// How criteria of pairs (weight, weighted target) are made: two classes, or one real target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bevel/forest/criteria/forest_criterion.h"
#include "bevel/split/criterion.h"

namespace bevel {

// Scores of pairs are made of this.
template <class Score>
Score make_score(const EntropyTable* table) {
  if constexpr (Score::kIsEntropy)
    return Score(table);
  else
    return Score();
}

template <class Score>
struct PackedMaker {
  using Criterion = PairCriterion<uint64_t, Score>;
  static Criterion criterion(const CriterionData& data) {
    return Criterion(Score::kIsEntropy ? 1.0 : 2.0, false, make_score<Score>(data.table));
  }
  static uint64_t stats(const CriterionData& data, size_t row, RowWeight w) {
    const auto weight = static_cast<uint64_t>(w.whole);
    return weight << 32 | (data.training.labels[row] == 1 ? weight : 0);
  }
};

template <class Score>
struct WideMaker {
  using Criterion = PairCriterion<WidePair, Score>;
  static Criterion criterion(const CriterionData& data) {
    const CriterionScales& s = data.scales;
    const auto score = make_score<Score>(data.table);
    if constexpr (Score::kIsCount) return Criterion(1.0 / s.target, true, score);
    if (data.training.targets) return Criterion(s.weight / (s.target * s.target), true, score);
    return Criterion((Score::kIsEntropy ? 1.0 : 2.0) / s.weight, false, score);
  }
  static WidePair stats(const CriterionData& data, size_t row, RowWeight w) {
    const TrainingSet& t = data.training;
    const CriterionScales& s = data.scales;
    // A row drawn three times carries three times the same: equal targets keep equal means.
    if (t.targets && w.whole > 0)
      return {w.whole, w.whole * std::llround((t.targets[row] - s.centre) * s.target)};
    // No weight may round to zero: a row has to weigh something.
    const int64_t weight = std::max<int64_t>(1, std::llround(w.real * s.weight));
    if (!t.targets) return {weight, t.labels[row] == 1 ? weight : 0};
    return {weight, std::llround(w.real * (t.targets[row] - s.centre) * s.target)};
  }
};

}  // namespace bevel
