#include "bevel/predict/crown/kernel.h"

#include "bevel/support/instruction_set.h"

namespace bevel {

namespace crown_baseline {
PassCrown find();
}
#ifdef BEVEL_X86_64
namespace crown_avx2 {
PassCrown find();
}
namespace crown_avx512 {
PassCrown find();
}
#endif

PassCrown find_pass_crown(const std::string& simd) {
  switch (find_instruction_set(simd)) {
#ifdef BEVEL_X86_64
    case InstructionSet::avx512:
      return crown_avx512::find();
    case InstructionSet::avx2:
      return crown_avx2::find();
#endif
    default:
      return crown_baseline::find();
  }
}

}  // namespace bevel
