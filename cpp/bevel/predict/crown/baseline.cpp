#include "bevel/predict/crown/kernel.h"

#define BEVEL_LANE_BYTES 16

namespace bevel::crown_baseline {
namespace {
#include "bevel/predict/crown/impl.inc"
}  // namespace

PassCrown find() { return pass_crown; }

}  // namespace bevel::crown_baseline
