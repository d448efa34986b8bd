#include "bevel/forest/criteria/forest_criterion_of.h"
#include "bevel/split/log_rank.h"

namespace bevel {
namespace {

SurvivalRow survival_row(const CriterionData& data, size_t row, RowWeight w) {
  const TrainingSet& t = data.training;
  return {w.real, t.times[row], t.entries ? t.entries[row] : 0, t.events[row]};
}

struct LogRankMaker {
  using Criterion = LogRankCriterion;
  static Criterion criterion(const CriterionData& data) {
    return Criterion(data.scales.whole, data.training.n_causes);
  }
  static constexpr auto stats = survival_row;
};

struct LogRankScoreMaker {
  using Criterion = LogRankScoreCriterion;
  static Criterion criterion(const CriterionData& data) {
    const CriterionScales& s = data.scales;
    return Criterion(s.weight, s.target, s.whole);
  }
  static constexpr auto stats = survival_row;
};

}  // namespace

std::unique_ptr<ForestCriterion> make_log_rank(const CriterionData& data) {
  return forest_criterion<LogRankMaker>(data);
}
std::unique_ptr<ForestCriterion> make_log_rank_score(const CriterionData& data) {
  return forest_criterion<LogRankScoreMaker>(data);
}

}  // namespace bevel
