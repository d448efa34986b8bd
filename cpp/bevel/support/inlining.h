// What a compiler shall not copy into its callers: the rare cases of a tight loop, whose registers
// they would take.
#pragma once

#if defined(_MSC_VER)
#define BEVEL_NEVER_INLINE __declspec(noinline)
#else
#define BEVEL_NEVER_INLINE __attribute__((noinline))
#endif
