// Definitions of TreeBuilder, included by the one file per task that compiles them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "bevel/support/check.h"
#include "bevel/tree/tree_builder.h"

namespace bevel {

namespace growing {

// Random directions that all miss are drawn again this often before the node becomes a leaf.
constexpr int kMaxRedraws = 8;
// Nodes and subtrees smaller than these are not worth another thread.
constexpr size_t kParallelNodeRows = 32768;
constexpr size_t kParallelSubtreeRows = 4096;
// Blocks that subtrees are copied into: a share of the outer cache, then of the inner one.
constexpr size_t kBlockBytes[kBlockLevels] = {size_t{4} << 20, size_t{384} << 10};
// A block whose columns are partitioned at every split: rows stay together, so it may be larger.
constexpr size_t kDenseBlockBytes = size_t{16} << 20;
constexpr size_t kMinBlockRows = 64;
// Below this the columns of a dense block are left as they are and rows are listed.
constexpr size_t kMinDenseRows = 32;

inline Candidates as_candidate(const SplitRecord& split) {
  Candidates only;
  for (size_t k = 0; k < split.index.size(); ++k)
    only.add_entry(split.index[k], split.coefficient[k]);
  only.close();
  return only;
}

}  // namespace growing

template <class Task>
TreeBuilder<Task>::TreeBuilder(const Options& options, const DatasetView& data,
                               const Samplers& samplers,
                               std::vector<std::unique_ptr<Workspace<Task>>>& workspaces,
                               const Kernels& kernels, Crew& crew)
    : options_(options),
      data_(data),
      samplers_(samplers),
      workspaces_(workspaces),
      kernels_(kernels),
      crew_(crew),
      touched_per_node_(0),
      data_is_far_(data.n_rows * static_cast<size_t>(data.n_features) * sizeof(float) >
                   growing::kBlockBytes[0]) {
  limits_.min_rows = static_cast<size_t>(std::max<int64_t>(1, options.min_samples_leaf));
  for (const Family& f : options.families) {
    const bool one_each =
        f.kind == FamilyKind::axis || f.kind == FamilyKind::categorical || f.per_tree();
    const auto draws = static_cast<size_t>(f.n_draws);
    const auto nonzeros = static_cast<size_t>(f.n_nonzeros);
    touched_per_node_ += one_each                      ? draws
                         : f.kind == FamilyKind::signs ? nonzeros
                                                       : draws * nonzeros;
  }
}

template <class Task>
NodeItem TreeBuilder<Task>::root() const {
  NodeItem item{0, tree_->rows.size(), tree_->root, 0, -1, 0, false};
  item.out_end = tree_->out_of_bag.size();
  if (item.out_end > 0) item.inherited.assign(samplers_.size(), -1);
  return item;
}

template <class Task>
NodeStore TreeBuilder<Task>::grow(TreeData<Task>& tree, int worker) {
  tree_ = &tree;
  limits_.min_weight = options_.min_weight_leaf * tree.total_weight;
  if (options_.growth != Growth::depth_first) return grow_frontier(worker);
  Subtree whole = grow_depth_first(root(), worker);
  return assemble(std::move(whole.nodes), std::move(whole.grafts));
}

// Left children are grown at once, right ones wait on the stack or are given away:
//   stack: [right of root][right of its left child] ... ; nodes come out in preorder.
template <class Task>
typename TreeBuilder<Task>::Subtree TreeBuilder<Task>::grow_depth_first(const NodeItem& root,
                                                                        int worker) {
  struct Waiting {
    NodeItem item;
    int32_t given;  // index of the part that grows it, -1: nobody yet
  };
  Workspace<Task>& w = *workspaces_[worker];
  Subtree result;
  std::vector<std::unique_ptr<Subtree>> given;
  std::vector<int32_t> part_of_graft;
  std::vector<Waiting> stack{{root, -1}};
  Parts parts(crew_);
  SplitRecord split;
  while (!stack.empty()) {
    auto [item, part] = stack.back();
    stack.pop_back();
    NodeStore& nodes = result.nodes;
    if (item.parent >= 0) nodes.right[item.parent] = static_cast<int32_t>(nodes.size());
    if (part >= 0) {
      result.grafts.push_back({nodes.open(0.0f, w.task.is_regression()), {}, {}});
      part_of_graft.push_back(part);
      nodes.close();
      continue;
    }
    crew_.throw_if_cancelled();
    compact(item, w);
    const bool may_split = begin_node(item, w);
    const int32_t node = nodes.open(node_weight(w), w.task.is_regression());
    if (!may_split || !find_split(item, w, worker, split)) {
      emit_leaf(item, nodes, node, w);
      continue;
    }
    const size_t middle = partition(item, split, w.values.data(), w);
    nodes.set_split(node, split);
    const bool dense = item.dense && item.end - item.start >= growing::kMinDenseRows;
    NodeItem left{item.start, middle, child_key(item.key, false), item.depth + 1, -1,
                  item.level, dense};
    NodeItem right{middle,     item.end, child_key(item.key, true), item.depth + 1, node,
                   item.level, dense};
    pass_on(item, split, w, left, right);
    int32_t index = -1;
    const bool large =
        std::min(right.end - right.start, left.end - left.start) >= growing::kParallelSubtreeRows;
    if (large && item.level == 0 && crew_.has_idle()) {
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
  fill_lone_leaves(result.nodes, w);
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
template <class Task>
NodeStore TreeBuilder<Task>::grow_frontier(int worker) {
  Workspace<Task>& w = *workspaces_[worker];
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
  for (size_t n_leaves = 1; n_leaves < budget && !frontier.empty(); ++n_leaves) {
    crew_.throw_if_cancelled();
    const size_t id = next_in_frontier(nodes, frontier, stream);
    const NodeItem item = nodes[id].item;
    const size_t middle = partition(item, nodes[id].split, project(item, nodes[id].split, w), w);
    const int32_t depth = item.depth + 1;
    NodeItem left{item.start, middle, child_key(item.key, false), depth, -1, 0, false};
    NodeItem right{middle, item.end, child_key(item.key, true), depth, -1, 0, false};
    pass_on(item, nodes[id].split, w, left, right);
    const int32_t left_id = add(left);
    const int32_t right_id = add(right);
    nodes[id].left = left_id;
    nodes[id].right = right_id;
  }
  return to_preorder(nodes, w);
}

// Takes the next node to split out of the frontier. Ties of the gain go to the older node.
template <class Task>
size_t TreeBuilder<Task>::next_in_frontier(const std::vector<FrontierNode>& nodes,
                                           std::vector<int32_t>& frontier, Stream& stream) const {
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

template <class Task>
NodeStore TreeBuilder<Task>::to_preorder(const std::vector<FrontierNode>& nodes,
                                         Workspace<Task>& w) {
  NodeStore store;
  std::vector<std::pair<int32_t, int32_t>> stack{{0, -1}};  // node, whose right child it is
  while (!stack.empty()) {
    const auto [id, parent] = stack.back();
    stack.pop_back();
    if (parent >= 0) store.right[parent] = static_cast<int32_t>(store.size());
    const FrontierNode& from = nodes[id];
    w.task.begin_node(tree_->payload.data() + from.item.start, from.item.end - from.item.start);
    const int32_t node = store.open(node_weight(w), w.task.is_regression());
    if (from.left < 0) {
      emit_leaf(from.item, store, node, w);
      continue;
    }
    store.set_split(node, from.split);
    stack.emplace_back(from.right, node);
    stack.emplace_back(from.left, -1);
  }
  fill_lone_leaves(store, w);
  return store;
}

template <class Task>
bool TreeBuilder<Task>::begin_node(const NodeItem& item, Workspace<Task>& w) {
  const size_t n = item.end - item.start;
  w.task.begin_node(tree_->payload.data() + item.start, n);
  if (n < static_cast<size_t>(std::max<int64_t>(2, options_.min_samples_split))) return false;
  if (n < 2 * limits_.min_rows || w.task.weight() < 2.0 * limits_.min_weight) return false;
  if (options_.max_depth >= 0 && item.depth >= options_.max_depth) return false;
  if (options_.threshold == ThresholdRule::purely_random) return true;  // purity is not looked at
  return !w.task.pure() && !(w.task.is_regression() && same_targets(item, w));
}

template <class Task>
bool TreeBuilder<Task>::same_targets(const NodeItem& item, const Workspace<Task>& w) const {
  if constexpr (std::is_same_v<Task, WideTask>) {
    // Equal targets with whole weights have equal means on the grid: a look at what is at hand.
    if (tree_->weight_unit == 1.0) {
      const WidePair* p = tree_->payload.data();
      const WidePair first = p[item.start];
      for (size_t i = item.start + 1; i < item.end; ++i)
        if (p[i].weight == first.weight ? p[i].sum != first.sum
                                        : p[i].sum / p[i].weight != first.sum / first.weight)
          return false;
    }
  }
  const auto* rows = origin(item.level, w);
  auto target = [&](size_t i) {
    const uint32_t row = tree_->rows[i];
    return tree_->facts.targets[rows ? (*rows)[row] : row];
  };
  const double first = target(item.start);
  for (size_t i = item.start + 1; i < item.end; ++i)
    if (target(i) != first) return false;
  return true;
}

template <class Task>
bool TreeBuilder<Task>::find_split(const NodeItem& item, Workspace<Task>& w, int worker,
                                   SplitRecord& out) {
  const NodeView node = view(item, w);
  Stream stream(item.key, Purpose::candidates);
  Found found;
  w.candidates.clear();
  w.inherited = item.inherited;
  const NodeRows rows = rows_of(item, w);
  for (size_t f = 0; f < samplers_.size(); ++f) sample(f, rows, stream, w);
  if (options_.threshold == ThresholdRule::purely_random) keep_one(stream, 0, w.candidates);
  search(node, 0, w, worker, found);
  // A forest on single features goes on until one of them can be cut, as scikit-learn's does.
  for (int redraws = 0; !found.cut.found(); ++redraws) {
    const size_t first = w.candidates.size();
    bool asked = false;
    for (size_t f = 0; f < samplers_.size(); ++f) {
      if (!samplers_[f]->can_redraw()) {
        asked |= samplers_[f]->sample_more(stream, w.samplers[f], w.candidates);
      } else if (redraws < growing::kMaxRedraws) {
        sample(f, rows, stream, w);
        asked = true;  // though a draw may come back empty
      }
    }
    if (!asked) break;
    if (w.candidates.size() == first) continue;
    if (options_.threshold == ThresholdRule::purely_random) keep_one(stream, first, w.candidates);
    search(node, first, w, worker, found);
  }
  for (size_t f = 0; f < samplers_.size(); ++f) samplers_[f]->end_node(w.samplers[f]);
  if (!found.cut.found()) return false;
  record(node, found, w, out);
  out.inherited = w.inherited;
  constexpr double kSlack = 1e-12;  // a split that removes exactly what is asked for is kept
  const double total_weight = tree_->total_weight / tree_->weight_unit;
  return out.gain >= (options_.min_impurity_decrease - kSlack) * total_weight;
}

template <class Task>
void TreeBuilder<Task>::sample(size_t family, NodeRows node, Stream& stream,
                               Workspace<Task>& w) const {
  if (!w.inherited.empty()) node.inherited = &w.inherited[family];
  samplers_[family]->sample(node, stream, w.samplers[family], w.candidates);
}

// Purely random trees look at one direction: a nominal column as often as columns are nominal.
template <class Task>
void TreeBuilder<Task>::keep_one(Stream& stream, size_t first, Candidates& candidates) const {
  std::vector<size_t> numeric, nominal;
  for (size_t c = first; c < candidates.size(); ++c) {
    const int32_t f = *candidates.indices(c);
    (f < data_.n_features && data_.levels[f] > 0 ? nominal : numeric).push_back(c);
  }
  if (numeric.empty() && nominal.empty()) return;
  const bool take_nominal =
      !nominal.empty() &&
      (numeric.empty() ||
       stream.below(static_cast<uint64_t>(data_.n_features)) < data_.categorical.size());
  const auto& from = take_nominal ? nominal : numeric;
  const size_t chosen = from[stream.below(from.size())];
  const std::vector<int32_t> index(candidates.indices(chosen),
                                   candidates.indices(chosen) + candidates.n_nonzeros(chosen));
  const std::vector<float> weight(candidates.weights(chosen),
                                  candidates.weights(chosen) + candidates.n_nonzeros(chosen));
  candidates.offset.resize(first + 1);
  candidates.index.resize(candidates.offset.back());
  candidates.weight.resize(candidates.offset.back());
  for (size_t k = 0; k < index.size(); ++k) candidates.add_entry(index[k], weight[k]);
  candidates.close();
}

// A large node is searched by all idle threads, each with some of the candidates. The order of cuts
// is total, so the winner does not depend on who searched what.
template <class Task>
void TreeBuilder<Task>::search(const NodeView& node, size_t first, Workspace<Task>& w, int worker,
                               Found& found) {
  const size_t last = w.candidates.size();
  if (node.n < growing::kParallelNodeRows || last - first < 2 || !crew_.has_idle())
    return w.finder.search(node, w.task, limits_, w.candidates, first, last, found);
  const auto n_parts = std::min<size_t>(static_cast<size_t>(crew_.size()), last - first);
  std::vector<Found> partial(n_parts);
  Parts parts(crew_);
  for (size_t i = 1; i < n_parts; ++i) {
    const size_t begin = first + (last - first) * i / n_parts;
    const size_t end = first + (last - first) * (i + 1) / n_parts;
    parts.offer([&, i, begin, end](int helper) {
      workspaces_[helper]->finder.search(node, w.task, limits_, w.candidates, begin, end,
                                         partial[i]);
    });
  }
  w.finder.search(node, w.task, limits_, w.candidates, first, first + (last - first) / n_parts,
                  partial[0]);
  parts.wait(worker, false);
  for (Found& part : partial) {
    if (beats(part.cut, found.cut)) {
      found.cut = part.cut;
      found.levels = std::move(part.levels);
    }
  }
}

template <class Task>
void TreeBuilder<Task>::record(const NodeView& node, Found& found, Workspace<Task>& w,
                               SplitRecord& out) const {
  Cut& cut = found.cut;
  if (w.values.size() < node.n) w.values.resize(node.n);
  w.finder.project(static_cast<size_t>(cut.candidate), node, w.candidates, w.values.data());
  cut.settle(kernels_, w.values.data(), node.n);
  const int32_t* index = w.candidates.indices(cut.candidate);
  const float* weight = w.candidates.weights(cut.candidate);
  const int n = w.candidates.n_nonzeros(cut.candidate);
  out.index.assign(index, index + n);
  out.coefficient.assign(weight, weight + n);
  const auto& p_values = w.candidates.p_value;
  const size_t first = w.candidates.offset[cut.candidate];
  out.p_value.clear();
  if (first < p_values.size())  // recorded together or not at all
    out.p_value.assign(p_values.begin() + static_cast<ptrdiff_t>(first),
                       p_values.begin() + static_cast<ptrdiff_t>(first) + n);
  out.gain = w.task.gain(cut.score);
  const bool category = index[0] < data_.n_features && data_.levels[index[0]] > 0;
  // What the node has not seen goes with the heavier child.
  const bool heavier_left = cut.weight_left * 2.0 >= w.task.weight();
  const bool missing_left = cut.saw_missing ? cut.missing_left : heavier_left;
  out.flags =
      static_cast<uint8_t>((missing_left ? kMissingLeft : 0) | (category ? kCategoryNode : 0));
  out.threshold = category ? 0.0f : cut.threshold();
  if (category) out.level_bits = found.levels.words();
  if constexpr (!Task::kPreciseGain) {
    if (w.goes_left.size() < node.n) w.goes_left.resize(node.n);
    find_sides(out, w.values.data(), node.n, w.goes_left.data());
    std::vector<double> left(w.task.n_present(), 0.0);
    for (size_t i = 0; i < node.n; ++i)
      if (w.goes_left[i]) left[w.task.payload()[i].label] += w.task.payload()[i].weight;
    out.gain = w.task.gain_of_left(left);
  }
}

// 1 where a row goes left.
template <class Task>
void TreeBuilder<Task>::find_sides(const SplitRecord& split, const float* values, size_t n,
                                   uint8_t* goes_left) const {
  if (!split.is_category())
    return kernels_.sides(values, n, split.threshold, split.flags & kMissingLeft, goes_left);
  for (size_t i = 0; i < n; ++i) {
    const auto level = static_cast<size_t>(values[i]);
    goes_left[i] = (split.level_bits[level / 32] >> (level % 32)) & 1u;
  }
}

template <class Task>
const float* TreeBuilder<Task>::project(const NodeItem& item, const SplitRecord& split,
                                        Workspace<Task>& w) {
  if (w.values.size() < item.end - item.start) w.values.resize(item.end - item.start);
  return w.finder.project(0, view(item, w), growing::as_candidate(split), w.values.data());
}

// Stable, so that rows stay ascending:  [l r l l r]  ->  [l l l | r r]. In a dense block it is the
// columns that are partitioned, and the list of rows goes on counting 0, 1, 2, ...
template <class Task>
size_t TreeBuilder<Task>::partition(const NodeItem& item, const SplitRecord& split,
                                    const float* values, Workspace<Task>& w) {
  constexpr size_t kSpare = 16;  // kernels store whole registers
  const size_t n = item.end - item.start;
  uint32_t* rows = tree_->rows.data() + item.start;
  auto* payload = tree_->payload.data() + item.start;
  if (w.column.size() < n + kSpare) {
    w.goes_left.resize(n + kSpare);
    w.column.resize(n + kSpare);
    w.rows.resize(n + kSpare);
    w.payload.resize(n + kSpare);
  }
  uint8_t* goes_left = w.goes_left.data();
  find_sides(split, values, n, goes_left);
  if (item.dense && n >= growing::kMinDenseRows) {
    Block& block = w.blocks[item.level - 1];
    for (int32_t c : tree_->used)
      kernels_.partition_floats(block.columns[c] + rows[0], n, goes_left, w.column.data());
    kernels_.partition_rows(block.origin.data() + rows[0], n, goes_left, w.rows.data());
  } else {
    kernels_.partition_rows(rows, n, goes_left, w.rows.data());
  }
  size_t left = 0, right = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto carried = payload[i];
    payload[left] = carried;
    w.payload[right] = carried;
    left += goes_left[i];
    right += !goes_left[i];
  }
  std::copy_n(w.payload.data(), right, payload + left);
  BEVEL_CHECK(left > 0 && right > 0);
  return item.start + left;
}

template <class Task>
void TreeBuilder<Task>::pass_on(const NodeItem& item, const SplitRecord& split, Workspace<Task>& w,
                                NodeItem& left, NodeItem& right) {
  if (tree_->out_of_bag.empty()) return;
  left.inherited = right.inherited = split.inherited;
  left.out_start = left.out_end = item.out_start;
  right.out_start = right.out_end = item.out_end;
  const size_t n = item.out_end - item.out_start;
  if (n == 0) return;
  constexpr size_t kSpare = 16;  // kernels store whole registers
  if (w.out_values.size() < n + kSpare) {
    w.out_values.resize(n + kSpare);
    w.out_rows.resize(n + kSpare);
    w.out_sides.resize(n + kSpare);
  }
  uint32_t* rows = tree_->out_of_bag.data() + item.out_start;
  w.finder.project(0, {tree_->columns.data(), rows, n, item.key}, growing::as_candidate(split),
                   w.out_values.data());
  find_sides(split, w.out_values.data(), n, w.out_sides.data());
  kernels_.partition_rows(rows, n, w.out_sides.data(), w.out_rows.data());
  size_t n_left = 0;
  for (size_t i = 0; i < n; ++i) n_left += w.out_sides[i];
  left.out_end = right.out_start = item.out_start + n_left;
}

// Copies the rows of a subtree together once they fit a cache, if it will read them often enough.
template <class Task>
void TreeBuilder<Task>::compact(NodeItem& item, Workspace<Task>& w) {
  const size_t n = item.end - item.start;
  if (item.dense || item.level >= kBlockLevels || n < growing::kMinBlockRows) return;
  const size_t n_columns = tree_->used.size();
  const size_t bytes = n * n_columns * sizeof(float);
  // Partitioning all columns pays when most of them are read at every node anyway.
  const bool dense = item.level == 0 && 2 * touched_per_node_ >= n_columns;
  int level = item.level;
  if (dense) {
    if (bytes <= growing::kDenseBlockBytes) level = 1;
  } else {
    const size_t expected_levels = std::bit_width(n);
    if (touched_per_node_ * expected_levels < 2 * n_columns) return;
    while (level < kBlockLevels && bytes <= growing::kBlockBytes[level]) ++level;
  }
  if (level == item.level) return;
  uint32_t* rows = tree_->rows.data() + item.start;
  const float* const* from = columns(item.level, w);
  const auto* from_origin = origin(item.level, w);
  Block& block = w.blocks[level - 1];
  block.values.resize(n * n_columns);
  block.columns.assign(tree_->columns.size(), nullptr);
  for (size_t c = 0; c < n_columns; ++c) {
    const float* source = from[tree_->used[c]];
    float* target = block.values.data() + c * n;
    for (size_t i = 0; i < n; ++i) target[i] = source[rows[i]];
    block.columns[tree_->used[c]] = target;
  }
  std::vector<uint32_t> rows_of_data(n);
  for (size_t i = 0; i < n; ++i) {
    rows_of_data[i] = from_origin ? (*from_origin)[rows[i]] : rows[i];
    rows[i] = static_cast<uint32_t>(i);
  }
  block.origin = std::move(rows_of_data);
  item.level = level;
  item.dense = dense;
}

template <class Task>
void TreeBuilder<Task>::emit_leaf(const NodeItem& item, NodeStore& nodes, int32_t node,
                                  Workspace<Task>& w) const {
  if (w.task.is_regression()) {
    const auto* rows = origin(item.level, w);
    auto row_of = [&](size_t i) { return rows ? (*rows)[tree_->rows[i]] : tree_->rows[i]; };
    if (item.end - item.start == 1) {
      w.lone_leaves.push_back({node, row_of(item.start)});
    } else {
      // Differences to the first target: a leaf of equal targets has exactly their value.
      const RowFacts& facts = tree_->facts;
      const double first = facts.targets[row_of(item.start)];
      double sum = 0.0, weights = 0.0;
      for (size_t i = item.start; i < item.end; ++i) {
        const uint32_t row = row_of(i);
        const double weight = facts.weight(row);
        sum += weight * (facts.targets[row] - first);
        weights += weight;
      }
      nodes.leaf_value[node] = first + sum / weights;
    }
  } else {
    w.task.class_shares(
        [&](int32_t label, double share) { nodes.add_entry(label, static_cast<float>(share)); });
  }
  nodes.close();
}

// Targets lie anywhere in memory. Looked up one after the other, as leaves come up, each costs a
// wait; looked up together they overlap.
template <class Task>
void TreeBuilder<Task>::fill_lone_leaves(NodeStore& nodes, Workspace<Task>& w) const {
  for (auto [node, row] : w.lone_leaves) nodes.leaf_value[node] = tree_->facts.targets[row];
  w.lone_leaves.clear();
}

template <class Task>
float TreeBuilder<Task>::node_weight(const Workspace<Task>& w) const {
  return static_cast<float>(w.task.weight() / tree_->weight_unit);
}

}  // namespace bevel
