// Memory for large arrays with random access: in huge pages if available, so that address
// translation does not cost more than the access.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bevel {

template <class T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr size_t kHugePage = 2 << 20;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t n) {
    const size_t alignment = is_large(n) ? kHugePage : 64;
    void* memory = ::operator new(n * sizeof(T), std::align_val_t(alignment));
#if defined(__linux__)
    if (is_large(n)) madvise(memory, n * sizeof(T), MADV_HUGEPAGE);  // a hint; failure does no harm
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t n) {
    ::operator delete(memory, std::align_val_t(is_large(n) ? kHugePage : 64));
  }
  friend bool operator==(HugePageAllocator, HugePageAllocator) { return true; }

 private:
  static bool is_large(size_t n) { return n * sizeof(T) >= kHugePage; }
};

template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace bevel
