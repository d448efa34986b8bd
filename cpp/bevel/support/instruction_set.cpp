#include "bevel/support/instruction_set.h"

#include <stdexcept>

#if defined(BEVEL_X86_64) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace bevel {
namespace {

#ifdef BEVEL_X86_64
#if defined(_MSC_VER)
// Features of leaf 7 and whether the operating system saves the registers.
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
#elif defined(__clang__)
// Some versions of clang lack the names of the levels; processors with these have the others too.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool has_avx2() { return __builtin_cpu_supports("x86-64-v3"); }
bool has_avx512() { return __builtin_cpu_supports("x86-64-v4"); }
#endif
#endif

}  // namespace

InstructionSet find_instruction_set(const std::string& name) {
#ifdef BEVEL_X86_64
  if ((name == "auto" || name == "avx512") && has_avx512()) return InstructionSet::avx512;
  if ((name == "auto" || name == "avx2") && has_avx2()) return InstructionSet::avx2;
#endif
  if (name == "auto" || name == "baseline") return InstructionSet::baseline;
  throw std::invalid_argument(
      "[find_instruction_set] this machine cannot run the instruction set '" + name + "'");
}

}  // namespace bevel
