#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "bevel/split/kernels/kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define BEVEL_KERNELS_NAME "avx2"

namespace bevel::kernels_avx2 {
namespace {
#include "bevel/split/kernels/impl.inc"
}  // namespace

const Kernels& table() { return kTable; }

}  // namespace bevel::kernels_avx2
