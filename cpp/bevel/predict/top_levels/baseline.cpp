#include "bevel/predict/top_levels/kernel.h"

#define BEVEL_LANE_BYTES 16

namespace bevel::top_levels_baseline {
namespace {
#include "bevel/predict/top_levels/impl.inc"
}  // namespace

TopLevelKernels find() { return {pass_top_levels, add_symmetric_trees}; }

}  // namespace bevel::top_levels_baseline
