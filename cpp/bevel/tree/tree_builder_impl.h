// Definitions of TreeBuilder, included by the one file that compiles them: here depth-first growth,
// and the work on a node for the orders of growth.h; other files split nodes, move their rows and
// make leaves.
#pragma once

#include <algorithm>
#include <utility>

#include "bevel/support/check.h"
#include "bevel/tree/bounded_leaves.h"
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
                                    const DirectionConstraints& constraints,
                                    std::vector<std::unique_ptr<Workspace<Criterion>>>& workspaces,
                                    const Kernels& kernels, ThreadPool& pool)
    : options_(options),
      data_(data),
      codes_(codes),
      samplers_(samplers),
      constraints_(constraints),
      workspaces_(workspaces),
      kernels_(kernels),
      pool_(pool),
      touched_per_node_(features_per_node(options)),
      exceeds_cache_(exceeds_cache(data)) {
  limits_.min_rows = static_cast<size_t>(std::max<int64_t>(1, options.min_samples_leaf));
  node_limits_.max_depth = options.max_depth;
  node_limits_.min_rows = static_cast<size_t>(std::max<int64_t>(2, options.min_samples_split));
  node_limits_.min_side_rows = limits_.min_rows;
}

// Every split sends rows to both sides. If one sent none, the node would be its own child without
// end; it becomes a leaf instead. Its rows have kept their order.
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
  node_limits_.min_side_weight = limits_.min_weight;
  NodeStore nodes;
  if (options_.growth != Growth::depth_first) {
    nodes = grow_in_order(worker);
  } else {
    Subtree whole = grow_depth_first(root(), worker);
    nodes = assemble(std::move(whole.nodes), std::move(whole.grafts));
  }
  if (constraints_.is_monotone())
    bound_leaves(nodes, constraints_, workspaces_[worker]->criterion.is_regression());
  return nodes;
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
      const bool has_values = w.criterion.is_regression() || constraints_.is_monotone();
      result.grafts.push_back({nodes.open(0.0f, has_values), {}, {}});
      part_of_graft.push_back(part);
      if constexpr (requires {
                      w.criterion.n_leaf_values();
                    })  // until it is replaced by the subtree
        nodes.output_value.resize(nodes.output_value.size() + w.criterion.n_leaf_values(), 0.0);
      nodes.close();
      continue;
    }
    pool_.throw_if_cancelled();
    compact(item, w);
    const bool may_split = begin_node(item, w);
    const int32_t node = open(item, nodes, w);
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
    close_groups(item, split, left, right);
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

template <class Criterion>
struct TreeBuilder<Criterion>::FrontierSplitter {
  TreeBuilder& builder;
  Workspace<Criterion>& w;
  int worker;

  void throw_if_cancelled() { builder.pool_.throw_if_cancelled(); }
  void search(WaitingNode& node) {
    node.has_split =
        builder.begin_node(node.item, w) && builder.find_split(node.item, w, worker, node.split);
  }
  void search_root(WaitingNode& root) { search(root); }
  void search_children(WaitingNode&, WaitingNode& left, WaitingNode& right) {
    search(left);
    search(right);
  }
  void end_node(WaitingNode&) {}
  bool split(const WaitingNode& node, WaitingNode& left, WaitingNode& right) {
    const NodeItem& item = node.item;
    const float* values = builder.project(item, node.split, w);
    const size_t middle = builder.partition(item, node.split, values, w);
    if (!builder.is_inside(middle, item)) return false;
    const int32_t depth = item.depth + 1;
    left.item = {item.start, middle, child_key(item.key, false), depth, -1, 0, false};
    right.item = {middle, item.end, child_key(item.key, true), depth, -1, 0, false};
    builder.split_out_of_bag_rows(item, node.split, w, left.item, right.item);
    builder.close_groups(item, node.split, left.item, right.item);
    return true;
  }
};

template <class Criterion>
NodeStore TreeBuilder<Criterion>::grow_in_order(int worker) {
  Workspace<Criterion>& w = *workspaces_[worker];
  FrontierSplitter splitter{*this, w, worker};
  WaitingNode start;
  start.item = root();
  const auto nodes =
      grow_frontier(splitter, std::move(start), {options_.growth, options_.max_leaf_nodes},
                    Stream(tree_->root, Purpose::leaf));
  NodeStore store = to_preorder(nodes, [&](NodeStore& out, const WaitingNode& from, bool is_leaf) {
    const NodeItem& item = from.item;
    w.criterion.begin_node(tree_->stats.data() + item.start, item.end - item.start);
    const int32_t node = open(item, out, w);
    if (is_leaf)
      emit_leaf(item, out, node, w);
    else
      out.set_split(node, from.split);
    return node;
  });
  fill_single_row_leaves(store, w);
  return store;
}

}  // namespace bevel
