// The input of a search, one node, and its result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bevel/data/codes.h"
#include "bevel/options.h"
#include "bevel/random/stream.h"
#include "bevel/split/cut.h"

namespace bevel {

struct NodeView {
  const float* const* columns;  // per feature, then per axis of the tree's rotation
  const uint32_t* rows;         // ascending
  size_t n;
  NodeKey key;
  bool exceeds_cache = false;          // its columns are not in a cache
  const ColumnCodes* codes = nullptr;  // codes of its columns, if there are any
  ThresholdRule threshold = ThresholdRule::best;
};

// Best cut and, when it is on a nominal column, the levels that go left.
struct BestSplit {
  Cut cut;
  LevelSet levels;
};

}  // namespace bevel
