#include "bevel/predict/crown_kernel.h"

#define BEVEL_LANE_BYTES 32

namespace bevel::crown_avx2 {
namespace {
#include "bevel/predict/crown_impl.inc"
}  // namespace

PassCrown find() { return pass_crown; }

}  // namespace bevel::crown_avx2
