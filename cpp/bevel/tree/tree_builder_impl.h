// Definitions of TreeBuilder, included by the one file that compiles them: here which node is grown
// next and when to stop, elsewhere how a node is split, where its rows go and what leaves hold.
#pragma once

#include <algorithm>
#include <utility>

#include "bevel/support/check.h"
#include "bevel/tree/column_use.h"
#include "bevel/tree/leaves_impl.h"
#include "bevel/tree/node_rows_impl.h"
#include "bevel/tree/node_split_impl.h"
#include "bevel/tree/tree_builder.h"

namespace bevel {

namespace growing {

// Subtrees smaller than this are not worth another thread.
constexpr size_t kParallelSubtreeRows = 4096;

}  // namespace growing

template <class Criterion>
TreeBuilder<Criterion>::TreeBuilder(const Options& options, const DatasetView& data,
                                    const ColumnCodes* codes, const Samplers& samplers,
                                    std::vector<std::unique_ptr<Workspace<Criterion>>>& workspaces,
                                    const Kernels& kernels, ThreadPool& pool)
    : options_(options),
      data_(data),
      codes_(codes),
      samplers_(samplers),
      workspaces_(workspaces),
      kernels_(kernels),
      pool_(pool),
      touched_per_node_(features_per_node(options)),
      exceeds_cache_(exceeds_cache(data)) {
  limits_.min_rows = static_cast<size_t>(std::max<int64_t>(1, options.min_samples_leaf));
}

// Every split sends rows to both sides. Were one to send none, the node would be its own child for
// ever; it becomes a leaf instead. Its rows have kept their order.
template <class Criterion>
bool TreeBuilder<Criterion>::is_inside(size_t middle, const NodeItem& item) const {
  const bool inside = item.start < middle && middle < item.end;
  BEVEL_CHECK(inside);
  return inside;
}

template <class Criterion>
NodeItem TreeBuilder<Criterion>::root() const {
  NodeItem item{0, tree_->rows.size(), tree_->root, 0, -1, 0, false};
  item.out_end = tree_->out_of_bag.size();
  if (item.out_end > 0) item.inherited.assign(samplers_.size(), -1);
  return item;
}

template <class Criterion>
NodeStore TreeBuilder<Criterion>::grow(TreeData<Criterion>& tree, int worker) {
  tree_ = &tree;
  limits_.min_weight = options_.min_weight_leaf * tree.total_weight;
  if (options_.growth != Growth::depth_first) return grow_frontier(worker);
  Subtree whole = grow_depth_first(root(), worker);
  return assemble(std::move(whole.nodes), std::move(whole.grafts));
}

// Left children are grown at once, right ones wait on the stack or are passed to idle threads:
//   stack: [right of root][right of its left child] ... ; nodes come out in preorder.
template <class Criterion>
typename TreeBuilder<Criterion>::Subtree TreeBuilder<Criterion>::grow_depth_first(
    const NodeItem& root, int worker) {
  struct PendingNode {
    NodeItem item;
    int32_t given;  // index of the part that grows it, -1: none yet
  };
  Workspace<Criterion>& w = *workspaces_[worker];
  Subtree result;
  std::vector<std::unique_ptr<Subtree>> given;
  std::vector<int32_t> part_of_graft;
  std::vector<PendingNode> stack{{root, -1}};
  Parts parts(pool_);
  SplitRecord split;
  while (!stack.empty()) {
    auto [item, part] = stack.back();
    stack.pop_back();
    NodeStore& nodes = result.nodes;
    if (item.parent >= 0) nodes.right[item.parent] = static_cast<int32_t>(nodes.size());
    if (part >= 0) {
      result.grafts.push_back({nodes.open(0.0f, w.criterion.is_regression()), {}, {}});
      part_of_graft.push_back(part);
      nodes.close();
      continue;
    }
    pool_.throw_if_cancelled();
    compact(item, w);
    const bool may_split = begin_node(item, w);
    const int32_t node = nodes.open(node_weight(w), w.criterion.is_regression());
    if (!may_split || !find_split(item, w, worker, split)) {
      emit_leaf(item, nodes, node, w);
      continue;
    }
    const size_t middle = partition(item, split, w.values.data(), w);
    if (!is_inside(middle, item)) {
      emit_leaf(item, nodes, node, w);
      continue;
    }
    nodes.set_split(node, split);
    const bool dense = item.dense && item.end - item.start >= growing::kMinDenseRows;
    NodeItem left{item.start, middle, child_key(item.key, false), item.depth + 1, -1,
                  item.level, dense};
    NodeItem right{middle,     item.end, child_key(item.key, true), item.depth + 1, node,
                   item.level, dense};
    split_out_of_bag_rows(item, split, w, left, right);
    int32_t index = -1;
    const bool large =
        std::min(right.end - right.start, left.end - left.start) >= growing::kParallelSubtreeRows;
    if (large && item.level == 0 && pool_.has_idle()) {
      index = static_cast<int32_t>(given.size());
      given.push_back(std::make_unique<Subtree>());
      NodeItem alone = right;
      alone.parent = -1;
      parts.offer([this, alone, out = given.back().get()](int helper) {
        *out = grow_depth_first(alone, helper);
      });
    }
    stack.push_back({std::move(right), index});
    stack.push_back({std::move(left), -1});
  }
  fill_single_row_leaves(result.nodes, w);
  parts.wait(worker, true);
  for (size_t g = 0; g < result.grafts.size(); ++g) {
    Subtree& from = *given[part_of_graft[g]];
    result.grafts[g].subtree = std::move(from.nodes);
    result.grafts[g].grafts = std::move(from.grafts);
  }
  return result;
}

// With a budget of leaves the nodes that wait are a frontier, and the rule of growth chooses among
// them: the largest gain, the oldest, or any.
template <class Criterion>
NodeStore TreeBuilder<Criterion>::grow_frontier(int worker) {
  Workspace<Criterion>& w = *workspaces_[worker];
  std::vector<FrontierNode> nodes;
  std::vector<int32_t> frontier;
  auto add = [&](const NodeItem& item) {
    const auto id = static_cast<int32_t>(nodes.size());
    nodes.push_back({item, {}, false, -1, -1});
    nodes[id].splittable = begin_node(item, w) && find_split(item, w, worker, nodes[id].split);
    if (nodes[id].splittable) frontier.push_back(id);
    return id;
  };
  add(root());
  const auto budget = options_.max_leaf_nodes > 0 ? static_cast<size_t>(options_.max_leaf_nodes)
                                                  : tree_->rows.size();
  Stream stream(tree_->root, Purpose::leaf);
  for (size_t n_leaves = 1; n_leaves < budget && !frontier.empty();) {
    pool_.throw_if_cancelled();
    const size_t id = next_in_frontier(nodes, frontier, stream);
    const NodeItem item = nodes[id].item;
    const size_t middle = partition(item, nodes[id].split, project(item, nodes[id].split, w), w);
    if (!is_inside(middle, item)) continue;  // stays a leaf
    ++n_leaves;
    const int32_t depth = item.depth + 1;
    NodeItem left{item.start, middle, child_key(item.key, false), depth, -1, 0, false};
    NodeItem right{middle, item.end, child_key(item.key, true), depth, -1, 0, false};
    split_out_of_bag_rows(item, nodes[id].split, w, left, right);
    const int32_t left_id = add(left);
    const int32_t right_id = add(right);
    nodes[id].left = left_id;
    nodes[id].right = right_id;
  }
  return to_preorder(nodes, w);
}

// Takes the next node to split out of the frontier. Ties of the gain go to the older node.
template <class Criterion>
size_t TreeBuilder<Criterion>::next_in_frontier(const std::vector<FrontierNode>& nodes,
                                                std::vector<int32_t>& frontier,
                                                Stream& stream) const {
  auto worse = [&nodes](int32_t a, int32_t b) {
    const double gain_a = nodes[a].split.gain, gain_b = nodes[b].split.gain;
    return gain_a != gain_b ? gain_a < gain_b : a > b;
  };
  size_t position = 0;  // breadth first: nodes are created level by level, the oldest is next
  if (options_.growth == Growth::best_first)
    position = static_cast<size_t>(std::max_element(frontier.begin(), frontier.end(), worse) -
                                   frontier.begin());
  if (options_.growth == Growth::random_leaf)
    position = static_cast<size_t>(stream.below(frontier.size()));
  const int32_t id = frontier[position];
  frontier.erase(frontier.begin() + static_cast<ptrdiff_t>(position));
  return static_cast<size_t>(id);
}

template <class Criterion>
NodeStore TreeBuilder<Criterion>::to_preorder(const std::vector<FrontierNode>& nodes,
                                              Workspace<Criterion>& w) {
  NodeStore store;
  std::vector<std::pair<int32_t, int32_t>> stack{{0, -1}};  // node, whose right child it is
  while (!stack.empty()) {
    const auto [id, parent] = stack.back();
    stack.pop_back();
    if (parent >= 0) store.right[parent] = static_cast<int32_t>(store.size());
    const FrontierNode& from = nodes[id];
    w.criterion.begin_node(tree_->stats.data() + from.item.start, from.item.end - from.item.start);
    const int32_t node = store.open(node_weight(w), w.criterion.is_regression());
    if (from.left < 0) {
      emit_leaf(from.item, store, node, w);
      continue;
    }
    store.set_split(node, from.split);
    stack.emplace_back(from.right, node);
    stack.emplace_back(from.left, -1);
  }
  fill_single_row_leaves(store, w);
  return store;
}

}  // namespace bevel
