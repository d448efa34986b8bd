// Bounds on leaf values that make a tree monotone: where a direction must only raise predictions,
// all leaves on its left stay below a value, and all leaves on its right above it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "bevel/tree/node_store.h"

namespace bevel {

struct ValueBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool any() const {
    return low > -std::numeric_limits<double>::infinity() ||
           high < std::numeric_limits<double>::infinity();
  }
  double clamp(double value) const { return std::min(std::max(value, low), high); }
};

// Bounds of the children of a node by their own predictions. push: 1 where values must not fall
// from left to right, -1 where they must not rise, 0 where they may do either.
inline std::pair<ValueBounds, ValueBounds> bound_children(const ValueBounds& node, int push,
                                                          double left, double right) {
  std::pair<ValueBounds, ValueBounds> children{node, node};
  if (push == 0) return children;
  const double middle = 0.5 * (node.clamp(left) + node.clamp(right));
  (push > 0 ? children.first : children.second).high = middle;
  (push > 0 ? children.second : children.first).low = middle;
  return children;
}

// Bounds of all nodes of a grown tree. push(node): push of its split; value(node): its own
// prediction, called for the children of splits that push.
template <class Push, class Value>
std::vector<ValueBounds> bound_nodes(const NodeStore& nodes, Push push, Value value) {
  std::vector<ValueBounds> bounds(nodes.size());
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (nodes.right[node] < 0) continue;
    const size_t left = node + 1;
    const auto right = static_cast<size_t>(nodes.right[node]);
    const int way = push(node);
    std::tie(bounds[left], bounds[right]) =
        way == 0 ? std::pair{bounds[node], bounds[node]}
                 : bound_children(bounds[node], way, value(left), value(right));
  }
  return bounds;
}

}  // namespace bevel
