// For functions that are one plain loop over integers, or floats compared and never added up:
// compiled for wider registers too where the system can choose among the versions when it loads
// the library. They give the same bits.
#pragma once

#include <cstddef>  // tells which C library it is

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BEVEL_WIDE_LOOP __attribute__((target_clones("default", "avx2")))
#else
#define BEVEL_WIDE_LOOP
#endif
