#include "bevel/predict/top_levels/kernel.h"

#include "bevel/support/instruction_set.h"

namespace bevel {

namespace top_levels_baseline {
TopLevelKernels find();
}
#ifdef BEVEL_X86_64
namespace top_levels_avx2 {
TopLevelKernels find();
}
namespace top_levels_avx512 {
TopLevelKernels find();
}
#endif

TopLevelKernels find_top_level_kernels(const std::string& simd) {
  switch (find_instruction_set(simd)) {
#ifdef BEVEL_X86_64
    case InstructionSet::avx512:
      return top_levels_avx512::find();
    case InstructionSet::avx2:
      return top_levels_avx2::find();
#endif
    default:
      return top_levels_baseline::find();
  }
}

}  // namespace bevel
