#pragma once

#include <cstddef>

namespace bevel {

// Some neighbouring trees of a forest.
struct TreeRange {
  size_t begin, end;
};

}  // namespace bevel
