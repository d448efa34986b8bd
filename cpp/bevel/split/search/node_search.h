// Common state of the searches of one node: the node, its criterion, the limits of both sides of a
// cut, and the best cut so far.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bevel/projection/candidates.h"
#include "bevel/split/node_view.h"
#include "bevel/split/search/search_context.h"

namespace bevel {

template <class Criterion>
struct NodeSearch {
  const NodeView* node = nullptr;
  const Criterion* criterion = nullptr;
  const Candidates* candidates = nullptr;
  Limits limits;
  BestSplit* found = nullptr;

  SearchContext context(size_t candidate) const {
    SearchContext c;
    c.limits = limits;
    c.n_rows = node->n;
    c.total_weight = criterion->weight();
    c.candidate = static_cast<int32_t>(candidate);
    c.best = &found->cut;
    return c;
  }

  // Neither this candidate nor a later one can beat a cut that leaves both sides pure; bins of
  // earlier ones that may contain a better cut are on the histogram's list of pending bins.
  bool is_decided(int32_t candidate) const {
    return found->cut.score >= criterion->perfect_score() && found->cut.candidate < candidate;
  }
};

}  // namespace bevel
