// Instruction sets of this machine, for loops that are compiled once per instruction set.
#pragma once

#include <string>

namespace bevel {

enum class InstructionSet { baseline, avx2, avx512 };

// "auto" (the best there is), "baseline", "avx2" or "avx512"; throws when this machine cannot run
// it.
InstructionSet find_instruction_set(const std::string& name);

}  // namespace bevel
