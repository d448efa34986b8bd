#include "bevel/predict/crown/kernel.h"

#define BEVEL_LANE_BYTES 32

namespace bevel::crown_avx2 {
namespace {
#include "bevel/predict/crown/impl.inc"
}  // namespace

PassCrown find() { return pass_crown; }

}  // namespace bevel::crown_avx2
