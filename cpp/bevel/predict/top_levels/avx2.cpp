#include "bevel/predict/top_levels/kernel.h"

#define BEVEL_LANE_BYTES 32

namespace bevel::top_levels_avx2 {
namespace {
#include "bevel/predict/top_levels/impl.inc"
}  // namespace

PassTopLevels find() { return pass_top_levels; }

}  // namespace bevel::top_levels_avx2
