// Chooses the node of a tree to split next, and when growth stops, if the number of leaves is
// limited or the best leaf comes first. The splitter searches and splits nodes: one by one on
// projected values in forests, by histograms in boosting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bevel/options.h"
#include "bevel/random/stream.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// Limits that make a node a leaf regardless of its candidates.
struct NodeLimits {
  int32_t max_depth = -1;  // -1: no limit
  size_t min_rows = 2;     // rows of a node that is split
  size_t min_side_rows = 1;
  double min_side_weight = 0.0;

  bool allow_split(size_t n_rows, double weight, int32_t depth) const {
    return n_rows >= min_rows && n_rows >= 2 * min_side_rows && weight >= 2.0 * min_side_weight &&
           (max_depth < 0 || depth < max_depth);
  }
};

// Order of growth, and its limit.
struct GrowthRule {
  Growth order = Growth::best_first;  // not depth_first, which TreeBuilder does by itself
  int64_t max_leaves = 0;             // 0: no limit

  size_t budget() const {
    return max_leaves > 0 ? static_cast<size_t>(max_leaves) : std::numeric_limits<size_t>::max();
  }
};

template <class Node>
struct GrowingNode {
  Node node;
  int32_t left = -1, right = -1;  // -1: a leaf, so far
};

// Takes the next node to split out of the frontier. Ties of the gain go to the older node.
template <class Node>
size_t take_next(const std::vector<GrowingNode<Node>>& nodes, Growth order,
                 std::vector<int32_t>& frontier, Stream& stream) {
  auto worse = [&nodes](int32_t a, int32_t b) {
    const double gain_a = nodes[a].node.gain(), gain_b = nodes[b].node.gain();
    return gain_a != gain_b ? gain_a < gain_b : a > b;
  };
  size_t position = 0;  // breadth first: nodes are created level by level, the oldest is next
  if (order == Growth::best_first)
    position = static_cast<size_t>(std::max_element(frontier.begin(), frontier.end(), worse) -
                                   frontier.begin());
  if (order == Growth::random_leaf) position = static_cast<size_t>(stream.below(frontier.size()));
  const int32_t id = frontier[position];
  frontier.erase(frontier.begin() + static_cast<ptrdiff_t>(position));
  return static_cast<size_t>(id);
}

// Grows a tree from its root. Nodes know their gain() and whether they have a split,
// is_splittable().
//   splitter.search_root(root)                    finds the split of the root
//   splitter.split(node, left, right)             gives the children their rows; false: stays a
//   leaf splitter.search_children(node, left, right)   finds their splits splitter.end_node(node)
//   instead of it, when no more splits are wanted splitter.throw_if_cancelled()
template <class Splitter, class Node>
std::vector<GrowingNode<Node>> grow_frontier(Splitter& splitter, Node root, const GrowthRule& rule,
                                             Stream stream) {
  std::vector<GrowingNode<Node>> nodes;
  std::vector<int32_t> frontier;
  auto wait = [&](size_t id) {
    if (nodes[id].node.is_splittable()) frontier.push_back(static_cast<int32_t>(id));
  };
  nodes.push_back({std::move(root)});
  splitter.search_root(nodes[0].node);
  wait(0);
  const size_t budget = rule.budget();
  for (size_t n_leaves = 1; n_leaves < budget && !frontier.empty();) {
    splitter.throw_if_cancelled();
    const size_t id = take_next(nodes, rule.order, frontier, stream);
    Node left, right;
    if (!splitter.split(nodes[id].node, left, right)) continue;
    ++n_leaves;
    const size_t child = nodes.size();
    nodes[id].left = static_cast<int32_t>(child);
    nodes[id].right = static_cast<int32_t>(child + 1);
    nodes.push_back({std::move(left)});
    nodes.push_back({std::move(right)});
    if (n_leaves == budget) {
      splitter.end_node(nodes[id].node);
      break;
    }
    splitter.search_children(nodes[id].node, nodes[child].node, nodes[child + 1].node);
    wait(child);
    wait(child + 1);
  }
  return nodes;
}

// Nodes in preorder. write(store, node, is_leaf) appends a node and returns its number.
template <class Node, class Write>
NodeStore to_preorder(const std::vector<GrowingNode<Node>>& nodes, Write write) {
  NodeStore store;
  std::vector<std::pair<int32_t, int32_t>> stack{{0, -1}};  // node, whose right child it is
  while (!stack.empty()) {
    const auto [id, parent] = stack.back();
    stack.pop_back();
    if (parent >= 0) store.right[parent] = static_cast<int32_t>(store.size());
    const GrowingNode<Node>& from = nodes[static_cast<size_t>(id)];
    const int32_t node = write(store, from.node, from.left < 0);
    if (from.left < 0) continue;
    stack.emplace_back(from.right, node);
    stack.emplace_back(from.left, -1);
  }
  return store;
}

// Stable:  [l r l l r]  ->  [l l l | r r]. Returns the number on the left; the buffer has an entry
// more than go right.
template <class T>
size_t partition_stably(T* values, size_t n, const uint8_t* goes_left, T* buffer) {
  size_t left = 0, right = 0;
  for (size_t i = 0; i < n; ++i) {
    const T value = values[i];
    values[left] = value;
    buffer[right] = value;
    left += goes_left[i];
    right += !goes_left[i];
  }
  std::copy_n(buffer, right, values + left);
  return left;
}

}  // namespace bevel
