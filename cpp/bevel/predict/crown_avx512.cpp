#include "bevel/predict/crown_kernel.h"

#define BEVEL_LANE_BYTES 64

namespace bevel::crown_avx512 {
namespace {
#include "bevel/predict/crown_impl.inc"
}  // namespace

PassCrown find() { return pass_crown; }

}  // namespace bevel::crown_avx512
