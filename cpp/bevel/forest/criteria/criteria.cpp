// The table of criteria: a function for each CriterionKind that makes the criterion for a training
// set. It is defined in a source of this folder.
#include <iterator>
#include <memory>

#include "bevel/forest/criteria/forest_criterion.h"
#include "bevel/options.h"

namespace bevel {

using CriterionMaker = std::unique_ptr<ForestCriterion>(const CriterionData& data);
CriterionMaker make_class_criterion, make_squared_error, make_poisson, make_absolute_error,
    make_log_rank, make_log_rank_score;

namespace {

// In the order of CriterionKind.
constexpr CriterionMaker* kMakers[] = {
    make_class_criterion,  // gini
    make_class_criterion,  // entropy
    make_squared_error,    //
    make_poisson,          //
    make_absolute_error,   //
    make_log_rank,         //
    make_log_rank_score,   //
};
static_assert(std::size(kMakers) == kCriterionNames.size());

}  // namespace

std::unique_ptr<ForestCriterion> make_criterion(const CriterionData& data) {
  return kMakers[static_cast<size_t>(data.options.criterion)](data);
}

}  // namespace bevel
