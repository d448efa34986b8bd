#include "bevel/tree/bounded_leaves.h"

#include <utility>
#include <vector>

#include "bevel/tree/value_bounds.h"

namespace bevel {
namespace {

// Recomputes the shares of two classes in the leaves from the share of class 1.
void write_shares(NodeStore& nodes) {
  NodeStore old = std::move(nodes);
  nodes = old;
  nodes.entry_offset.assign(1, 0);
  nodes.entry_index.clear();
  nodes.entry_weight.clear();
  for (size_t node = 0; node < old.size(); ++node) {
    if (old.right[node] < 0) {
      const double one = old.leaf_value[node];
      if (one < 1.0) nodes.add_entry(0, static_cast<float>(1.0 - one));
      if (one > 0.0) nodes.add_entry(1, static_cast<float>(one));
    } else {
      for (auto k = static_cast<size_t>(old.entry_offset[node]);
           k < static_cast<size_t>(old.entry_offset[node + 1]); ++k)
        nodes.add_entry(old.entry_index[k], old.entry_weight[k]);
    }
    nodes.close();
  }
  nodes.leaf_value.clear();
}

}  // namespace

void bound_leaves(NodeStore& nodes, const DirectionConstraints& constraints, bool is_regression) {
  auto push = [&](size_t node) {
    if (nodes.flags[node] & kCategoryNode) return 0;
    const auto first = static_cast<size_t>(nodes.entry_offset[node]);
    const auto last = static_cast<size_t>(nodes.entry_offset[node + 1]);
    return constraints.push(nodes.entry_index.data() + first, nodes.entry_weight.data() + first,
                            static_cast<int>(last - first));
  };
  const std::vector<ValueBounds> bounds =
      bound_nodes(nodes, push, [&](size_t node) { return nodes.leaf_value[node]; });
  for (size_t node = 0; node < nodes.size(); ++node)
    nodes.leaf_value[node] =
        nodes.right[node] < 0 ? bounds[node].clamp(nodes.leaf_value[node]) : 0.0;
  if (!is_regression) write_shares(nodes);
}

}  // namespace bevel
