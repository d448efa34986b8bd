// For functions that are a plain loop, in which nothing depends on the order of floating-point
// sums: compiled for wider registers too, where the system can choose among versions when it loads
// the library. All give the same bits.
#pragma once

#include <cstddef>  // defines the macro of the C library

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BEVEL_WIDE_LOOP __attribute__((target_clones("default", "avx2")))
#else
#define BEVEL_WIDE_LOOP
#endif
