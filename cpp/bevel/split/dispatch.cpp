#include <stdexcept>

#include "bevel/split/kernels.h"

#if defined(BEVEL_X86_64) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace bevel {

namespace kernels_baseline {
const Kernels& table();
}
#ifdef BEVEL_X86_64
namespace kernels_avx2 {
const Kernels& table();
}
namespace kernels_avx512 {
const Kernels& table();
}
#endif

namespace {

#ifdef BEVEL_X86_64
#if defined(_MSC_VER)
// Features of leaf 7 together with the operating system's promise to save the registers.
bool supports(int ebx_bits, unsigned long long register_state) {
  int info[4];
  __cpuid(info, 1);
  if (!(info[2] & (1 << 27)) || !(info[2] & (1 << 12))) return false;  // OSXSAVE, FMA
  if ((_xgetbv(0) & register_state) != register_state) return false;
  __cpuidex(info, 7, 0);
  return (info[1] & ebx_bits) == ebx_bits;
}
bool has_avx2() { return supports((1 << 5) | (1 << 3) | (1 << 8), 0x6); }
bool has_avx512() {
  return has_avx2() && supports((1 << 16) | (1 << 17) | (1 << 28) | (1 << 30) | (1 << 31), 0xe6);
}
#else
bool has_avx2() { return __builtin_cpu_supports("x86-64-v3"); }
bool has_avx512() { return __builtin_cpu_supports("x86-64-v4"); }
#endif
#endif

}  // namespace

const Kernels& kernels(const std::string& level) {
#ifdef BEVEL_X86_64
  if ((level == "auto" || level == "avx512") && has_avx512()) return kernels_avx512::table();
  if ((level == "auto" || level == "avx2") && has_avx2()) return kernels_avx2::table();
#endif
  if (level == "auto" || level == "baseline") return kernels_baseline::table();
  throw std::invalid_argument("[kernels] this machine cannot run the instruction set '" + level +
                              "'");
}

}  // namespace bevel
