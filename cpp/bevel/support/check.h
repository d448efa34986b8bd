// Internal assertions: enabled in developer builds, removed in releases.
#pragma once

#include <stdexcept>
#include <string>

#ifdef BEVEL_CHECKS
#define BEVEL_STRINGIFY_(x) #x
#define BEVEL_STRINGIFY(x) BEVEL_STRINGIFY_(x)
#define BEVEL_CHECK(condition)                                                       \
  do {                                                                               \
    if (!(condition))                                                                \
      throw std::logic_error("[bevel] broken invariant: " #condition " at " __FILE__ \
                             ":" BEVEL_STRINGIFY(__LINE__));                         \
  } while (false)
#else
#define BEVEL_CHECK(condition) ((void)0)
#endif

namespace bevel {

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace bevel
