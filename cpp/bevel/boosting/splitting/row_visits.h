// Visits rows of a table whose codes may not fit in the caches.
#pragma once

#include <cstddef>

namespace bevel {

// Codes of more rows than this do not fit in the caches beside other data. Rows of a node are
// scattered over the table, and their codes are then fetched some rows before their use.
constexpr size_t kRowsInCache = 1 << 18;
constexpr size_t kRowsAhead = 48;

// Calls visit(i) for the i-th of n rows; address(i): the memory that it will read.
template <class Address, class Visit>
void visit_rows(size_t n, [[maybe_unused]] bool prefetch, [[maybe_unused]] Address address,
                Visit visit) {
  size_t i = 0;
#if defined(__GNUC__)
  if (prefetch)
    for (; i + kRowsAhead < n; ++i) {
      __builtin_prefetch(address(i + kRowsAhead));
      visit(i);
    }
#endif
  for (; i < n; ++i) visit(i);
}

}  // namespace bevel
