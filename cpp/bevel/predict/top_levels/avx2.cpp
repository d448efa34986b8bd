#include "bevel/predict/top_levels/kernel.h"

#define BEVEL_LANE_BYTES 32

namespace bevel::top_levels_avx2 {
namespace {
#include "bevel/predict/top_levels/impl.inc"
}  // namespace

TopLevelKernels find() { return {pass_top_levels, add_symmetric_trees}; }

}  // namespace bevel::top_levels_avx2
