#include "bevel/split/kernels/kernels.h"
#include "bevel/support/instruction_set.h"

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

const Kernels& kernels(const std::string& level) {
  switch (find_instruction_set(level)) {
#ifdef BEVEL_X86_64
    case InstructionSet::avx512:
      return kernels_avx512::table();
    case InstructionSet::avx2:
      return kernels_avx2::table();
#endif
    default:
      return kernels_baseline::table();
  }
}

}  // namespace bevel
