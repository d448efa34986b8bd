// Memory that cannot be had: an error that says what was to be stored and how large it is.
#pragma once

#include <cstddef>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <vector>

namespace bevel {

class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(const char* what, double n_bytes) noexcept {
    std::snprintf(text_, sizeof text_, "%s: %.3g GB", what, n_bytes / 1e9);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[160];  // nothing is allocated where there is no memory
};

// A vector of n values that are zero; what: they are, for the message.
template <class T>
std::vector<T> allocate(size_t n, const char* what) {
  try {
    return std::vector<T>(n);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(what, static_cast<double>(n) * sizeof(T));
  } catch (const std::length_error&) {
    throw OutOfMemory(what, static_cast<double>(n) * sizeof(T));
  }
}

}  // namespace bevel
