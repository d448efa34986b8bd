#include "bevel/predict/top_levels/kernel.h"

#define BEVEL_LANE_BYTES 64

namespace bevel::top_levels_avx512 {
namespace {
#include "bevel/predict/top_levels/impl.inc"
}  // namespace

TopLevelKernels find() { return {pass_top_levels, add_symmetric_trees}; }

}  // namespace bevel::top_levels_avx512
