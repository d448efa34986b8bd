// Attributes against inlining of the rare cases of a tight loop, whose registers they would take,
// and for inlining of the body of a loop that is compiled for several instruction
// sets.
#pragma once

#if defined(_MSC_VER)
#define BEVEL_NEVER_INLINE __declspec(noinline)
#define BEVEL_ALWAYS_INLINE __forceinline
#else
#define BEVEL_NEVER_INLINE __attribute__((noinline))
#define BEVEL_ALWAYS_INLINE inline __attribute__((always_inline))
#endif
