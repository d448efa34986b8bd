#include "bevel/tree/tree_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bevel/split/pair_score.h"
#include "bevel/support/check.h"
#include "bevel/tree/bounded_leaves.h"
#include "bevel/tree/column_use.h"

namespace bevel {
namespace {
// Nodes smaller than this are not worth another thread.
constexpr size_t kParallelNodeRows = 32768;

// Blocks that subtrees are copied into: a share of the outer cache, then of the inner one.
constexpr size_t kBlockBytes[kBlockLevels] = {kCacheBytes, size_t{384} << 10};
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

}  // namespace

TreeBuilder::TreeBuilder(const Options& options, const DatasetView& data, const ColumnCodes* codes,
                         const Samplers& samplers, const DirectionConstraints& constraints,
                         std::vector<std::unique_ptr<Workspace>>& workspaces,
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

// Every split sends rows to both sides. Were one to send none, the node would be its own child for
// ever; it becomes a leaf instead. Its rows have kept their order.
bool TreeBuilder::is_inside(size_t middle, const NodeItem& item) const {
  const bool inside = item.start < middle && middle < item.end;
  BEVEL_CHECK(inside);
  return inside;
}

NodeItem TreeBuilder::root() const {
  NodeItem item{0, tree_->rows.size(), tree_->root, 0, -1, 0, false};
  item.out_end = tree_->out_of_bag.size();
  if (item.out_end > 0) item.inherited.assign(samplers_.size(), -1);
  return item;
}

NodeStore TreeBuilder::grow(TreeData& tree, int worker) {
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
    bound_leaves(nodes, constraints_, workspaces_[worker]->criterion->is_regression());
  return nodes;
}

// Left children are grown at once, right ones wait on the stack or are passed to idle threads:
//   stack: [right of root][right of its left child] ... ; nodes come out in preorder.
TreeBuilder::Subtree TreeBuilder::grow_depth_first(const NodeItem& root, int worker) {
  struct PendingNode {
    NodeItem item;
    int32_t given;  // index of the part that grows it, -1: none yet
  };
  Workspace& w = *workspaces_[worker];
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
      const bool has_values = w.criterion->is_regression() || constraints_.is_monotone();
      result.grafts.push_back({nodes.open(0.0f, has_values), {}, {}});
      part_of_graft.push_back(part);
      // Until the subtree takes its place.
      nodes.output_value.resize(nodes.output_value.size() + w.criterion->traits().n_output_values);
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
    const bool dense = item.dense && item.end - item.start >= kMinDenseRows;
    NodeItem left{item.start, middle, child_key(item.key, false), item.depth + 1, -1,
                  item.level, dense};
    NodeItem right{middle,     item.end, child_key(item.key, true), item.depth + 1, node,
                   item.level, dense};
    split_out_of_bag_rows(item, split, w, left, right);
    close_groups(item, split, left, right);
    int32_t index = -1;
    const bool large =
        std::min(right.end - right.start, left.end - left.start) >= kParallelSubtreeRows;
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

struct TreeBuilder::FrontierSplitter {
  TreeBuilder& builder;
  Workspace& w;
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

NodeStore TreeBuilder::grow_in_order(int worker) {
  Workspace& w = *workspaces_[worker];
  FrontierSplitter splitter{*this, w, worker};
  WaitingNode start;
  start.item = root();
  const auto nodes =
      grow_frontier(splitter, std::move(start), {options_.growth, options_.max_leaf_nodes},
                    Stream(tree_->root, Purpose::leaf));
  NodeStore store = to_preorder(nodes, [&](NodeStore& out, const WaitingNode& from, bool is_leaf) {
    const NodeItem& item = from.item;
    w.criterion->begin_node(*tree_, item.start, item.end);
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

// ---- A node: whether it may be split, its candidates and the best cut.

bool TreeBuilder::begin_node(const NodeItem& item, Workspace& w) {
  const size_t n = item.end - item.start;
  w.criterion->begin_node(*tree_, item.start, item.end);
  if (!node_limits_.allow_split(n, w.criterion->weight(), item.depth)) return false;
  if (options_.threshold == ThresholdRule::purely_random) return true;  // purity is not looked at
  return options_.split_pure_nodes || !w.criterion->is_pure(range(item, w));
}

bool TreeBuilder::find_split(const NodeItem& item, Workspace& w, int worker, SplitRecord& out) {
  NodeView node = view(item, w);
  // All cuts of a pure node are alike, and the first would take off one row at a time.
  if (options_.split_pure_nodes && w.criterion->is_pure(range(item, w)))
    node.threshold = ThresholdRule::purely_random;
  Stream stream(item.key, Purpose::candidates);
  BestSplit found;
  w.candidates.clear();
  w.inherited = item.inherited;
  const NodeRows rows = rows_of(item, w);
  w.open = &item.open;
  for (size_t f = 0; f < samplers_.size(); ++f) sample(f, rows, stream, w);
  search_drawn(item, node, 0, stream, w, worker, found);
  // By default a forest on single features goes on until one of them can be cut.
  const bool is_limited = options_.max_redraws >= 0;
  const int32_t most = is_limited ? options_.max_redraws : kUsualRedraws;
  size_t first = 0;
  for (int32_t redraws = 0; !w.criterion->is_cut(found); ++redraws) {
    if (is_limited && redraws == most) break;
    if (w.criterion->traits().has_hazard && any_varies(node, first, w)) break;
    first = w.candidates.size();
    bool asked = false;
    for (size_t f = 0; f < samplers_.size(); ++f) {
      if (!samplers_[f]->can_redraw()) {
        asked |= samplers_[f]->sample_more(stream, w.samplers[f], w.candidates);
      } else if (redraws < most) {
        sample(f, rows, stream, w);
        asked = true;  // though a draw may come back empty
      }
    }
    if (!asked) break;
    if (w.candidates.size() == first) continue;
    search_drawn(item, node, first, stream, w, worker, found);
  }
  for (size_t f = 0; f < samplers_.size(); ++f) samplers_[f]->end_node(w.samplers[f]);
  if (!w.criterion->is_cut(found)) return false;
  record(node, found, w, out);
  out.inherited = w.inherited;
  constexpr double kSlack = 1e-12;  // a split that removes exactly the minimum is kept
  const double total_weight = tree_->total_weight / tree_->weight_unit;
  const bool keeps = out.gain >= (options_.min_impurity_decrease - kSlack) * total_weight;
  out.gain *= tree_->gain_unit;
  BEVEL_CHECK(!keeps || std::isfinite(static_cast<float>(out.gain)));
  return keeps;
}

// Whether a direction, from `first` on, tells rows of the node apart, though no cut of it may be
// admissible. Survival trees then stop, as random survival forests do. Drawing on until a direction
// has a cut that leaves enough rows on both sides gives up to twice as many leaves where most
// columns are indicators, and curves of small leaves are noisy: concordance falls
// (docs/design/survival.md).
bool TreeBuilder::any_varies(const NodeView& node, size_t first, Workspace& w) const {
  if (w.values.size() < node.n) w.values.resize(node.n);
  for (size_t c = first; c < w.candidates.size(); ++c) {
    const float* values = w.values.data();
    w.projector.project(c, node, w.candidates, w.values.data());
    for (size_t i = 1; i < node.n; ++i)
      if (values[i] != values[0] && !(std::isnan(values[i]) && std::isnan(values[0]))) return true;
  }
  return false;
}

void TreeBuilder::sample(size_t family, NodeRows node, Stream& stream, Workspace& w) const {
  if (!w.inherited.empty()) node.inherited = &w.inherited[family];
  const size_t first = w.candidates.size();
  samplers_[family]->sample(node, stream, w.samplers[family], w.candidates);
  if (constraints_.any())
    constraints_.restrict(*options_.families[family], first, stream, w.candidates, *w.open);
}

void TreeBuilder::search_drawn(const NodeItem& item, const NodeView& node, size_t first,
                               Stream& stream, Workspace& w, int worker, BestSplit& found) {
  constraints_.remove_closed(item.open, first, w.candidates);
  if (options_.threshold == ThresholdRule::purely_random)
    keep_one(stream, first, w.candidates);
  else if (node.threshold == ThresholdRule::purely_random)
    return search_pure(node, first, stream, w, worker, found);
  if (w.criterion->traits().takes_push) {
    const auto [rising, falling] = constraints_.order_by_push(first, w.candidates);
    const size_t last = w.candidates.size();
    const size_t starts[] = {first, rising, falling, last};
    const int pushes[] = {0, 1, -1};
    for (int kind = 0; kind < 3; ++kind) {
      if (starts[kind] == starts[kind + 1]) continue;
      w.criterion->set_push(pushes[kind]);
      search(node, starts[kind], starts[kind + 1], w, worker, found);
    }
  } else {
    search(node, first, w.candidates.size(), w, worker, found);
  }
}

// A pure node: the first direction, in random order, that can be cut at random.
void TreeBuilder::search_pure(const NodeView& node, size_t first, Stream& stream, Workspace& w,
                              int worker, BestSplit& found) {
  std::vector<size_t> order(w.candidates.size() - first);
  std::iota(order.begin(), order.end(), first);
  for (size_t left = order.size(); left > 0 && !w.criterion->is_cut(found); --left) {
    std::swap(order[stream.below(left)], order[left - 1]);
    search(node, order[left - 1], order[left - 1] + 1, w, worker, found);
  }
}

// Purely random trees look at one direction: a nominal column as often as columns are nominal.
void TreeBuilder::keep_one(Stream& stream, size_t first, Candidates& candidates) const {
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
// is total, so the best one does not depend on which thread searched what.
void TreeBuilder::search(const NodeView& node, size_t first, size_t last, Workspace& w, int worker,
                         BestSplit& found) {
  if (node.n < kParallelNodeRows || last - first < 2 || !pool_.has_idle())
    return w.criterion->search(*w.criterion, node, limits_, w.candidates, first, last, found);
  const auto n_parts = std::min<size_t>(static_cast<size_t>(pool_.size()), last - first);
  std::vector<BestSplit> partial(n_parts);
  Parts parts(pool_);
  for (size_t i = 1; i < n_parts; ++i) {
    const size_t begin = first + (last - first) * i / n_parts;
    const size_t end = first + (last - first) * (i + 1) / n_parts;
    parts.offer([&, i, begin, end](int helper) {
      workspaces_[helper]->criterion->search(*w.criterion, node, limits_, w.candidates, begin, end,
                                             partial[i]);
    });
  }
  w.criterion->search(*w.criterion, node, limits_, w.candidates, first,
                      first + (last - first) / n_parts, partial[0]);
  parts.wait(worker, false);
  for (BestSplit& part : partial) {
    if (beats(part.cut, found.cut)) {
      found.cut = part.cut;
      found.levels = std::move(part.levels);
    }
  }
}

void TreeBuilder::record(const NodeView& node, BestSplit& found, Workspace& w,
                         SplitRecord& out) const {
  Cut& cut = found.cut;
  if (w.values.size() < node.n) w.values.resize(node.n);
  w.projector.project(static_cast<size_t>(cut.candidate), node, w.candidates, w.values.data());
  cut.find_neighbours(kernels_, w.values.data(), node.n);
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
  out.gain = w.criterion->gain(cut.score);
  const bool category = index[0] < data_.n_features && data_.levels[index[0]] > 0;
  // Values that the node's rows do not have go to the heavier child.
  const bool heavier_left = cut.weight_left * 2.0 >= w.criterion->weight();
  const bool missing_left = cut.has_missing ? cut.missing_left : heavier_left;
  out.flags =
      static_cast<uint8_t>((missing_left ? kMissingLeft : 0) | (category ? kCategoryNode : 0));
  out.threshold = category ? 0.0f : cut.threshold();
  if (category) out.level_bits = found.levels.words();
  // A score that is none: one side outweighs the other beyond rounding, and there is no split.
  if (w.criterion->traits().precise_gain || cut.score == kNoScore) return;
  if (w.goes_left.size() < node.n) w.goes_left.resize(node.n);
  find_sides(out, w.values.data(), node.n, w.goes_left.data());
  out.gain = w.criterion->gain_of_sides(w.goes_left.data(), node.n) * cut.beyond_chance;
}

// ---- The rows of a node go to its children, and may be copied together.

// 1 where a row goes left.
void TreeBuilder::find_sides(const SplitRecord& split, const float* values, size_t n,
                             uint8_t* goes_left) const {
  if (!split.is_category())
    return kernels_.sides(values, n, split.threshold, split.flags & kMissingLeft, goes_left);
  for (size_t i = 0; i < n; ++i) {
    const auto level = static_cast<size_t>(values[i]);
    goes_left[i] = (split.level_bits[level / 32] >> (level % 32)) & 1u;
  }
}

const float* TreeBuilder::project(const NodeItem& item, const SplitRecord& split, Workspace& w) {
  if (w.values.size() < item.end - item.start) w.values.resize(item.end - item.start);
  return w.projector.project(0, view(item, w), as_candidate(split), w.values.data());
}

// Stable, so that rows stay ascending:  [l r l l r]  ->  [l l l | r r]. In a dense block it is the
// columns that are partitioned, and the list of rows goes on counting 0, 1, 2, ...
size_t TreeBuilder::partition(const NodeItem& item, const SplitRecord& split, const float* values,
                              Workspace& w) {
  constexpr size_t kSpare = 16;  // kernels store whole registers
  const size_t n = item.end - item.start;
  uint32_t* rows = tree_->rows.data() + item.start;
  if (w.column.size() < n + kSpare) {
    w.goes_left.resize(n + kSpare);
    w.column.resize(n + kSpare);
    w.rows.resize(n + kSpare);
  }
  uint8_t* goes_left = w.goes_left.data();
  find_sides(split, values, n, goes_left);
  if (item.dense && n >= kMinDenseRows) {
    Block& block = w.blocks[item.level - 1];
    for (int32_t c : tree_->used)
      kernels_.partition_floats(block.columns[c] + rows[0], n, goes_left, w.column.data());
    kernels_.partition_rows(block.data_rows.data() + rows[0], n, goes_left, w.rows.data());
  } else {
    kernels_.partition_rows(rows, n, goes_left, w.rows.data());
  }
  return item.start + w.criterion->partition(*tree_, item.start, n, goes_left);
}

void TreeBuilder::split_out_of_bag_rows(const NodeItem& item, const SplitRecord& split,
                                        Workspace& w, NodeItem& left, NodeItem& right) {
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
  w.projector.project(0, {tree_->columns.data(), rows, n, item.key}, as_candidate(split),
                      w.out_values.data());
  find_sides(split, w.out_values.data(), n, w.out_sides.data());
  kernels_.partition_rows(rows, n, w.out_sides.data(), w.out_rows.data());
  size_t n_left = 0;
  for (size_t i = 0; i < n; ++i) n_left += w.out_sides[i];
  left.out_end = right.out_start = item.out_start + n_left;
}

void TreeBuilder::close_groups(const NodeItem& item, const SplitRecord& split, NodeItem& left,
                               NodeItem& right) const {
  if (!constraints_.has_groups()) return;
  const auto own = constraints_.groups_of(split.index.data(), static_cast<int>(split.index.size()));
  left.open = right.open = constraints_.after(item.open, own);
}

// Copies the rows of a subtree together once they fit a cache, if it will read them often enough.
void TreeBuilder::compact(NodeItem& item, Workspace& w) {
  const size_t n = item.end - item.start;
  if (item.dense || item.level >= kBlockLevels || n < kMinBlockRows || data_.sparse) return;
  const size_t n_columns = tree_->used.size();
  const size_t bytes = n * n_columns * sizeof(float);
  // Partitioning all columns pays when most of them are read at every node anyway.
  const bool dense = item.level == 0 && 2 * touched_per_node_ >= n_columns;
  int level = item.level;
  if (dense) {
    if (bytes <= kDenseBlockBytes) level = 1;
  } else {
    if (!worth_copying(touched_per_node_, n, n_columns)) return;
    while (level < kBlockLevels && bytes <= kBlockBytes[level]) ++level;
  }
  if (level == item.level) return;
  uint32_t* rows = tree_->rows.data() + item.start;
  const float* const* from = columns(item.level, w);
  const auto* from_rows = data_rows(item.level, w);
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
    rows_of_data[i] = from_rows ? (*from_rows)[rows[i]] : rows[i];
    rows[i] = static_cast<uint32_t>(i);
  }
  block.data_rows = std::move(rows_of_data);
  item.level = level;
  item.dense = dense;
}

// ---- What leaves hold.

void TreeBuilder::emit_leaf(const NodeItem& item, NodeStore& nodes, int32_t node,
                            Workspace& w) const {
  const RowRange rows = range(item, w);
  if (rows.size() == 1 && w.criterion->is_regression() && !w.criterion->traits().has_hazard)
    w.single_row_leaves.push_back({node, rows.data_row(item.start)});
  else
    w.criterion->write_leaf(rows, nodes, node);
  nodes.close();
}

int32_t TreeBuilder::open(const NodeItem& item, NodeStore& nodes, const Workspace& w) const {
  if (!constraints_.is_monotone()) return nodes.open(node_weight(w), w.criterion->is_regression());
  const int32_t node = nodes.open(node_weight(w), true);
  nodes.leaf_value[node] = w.criterion->value_alone(range(item, w));
  return node;
}

// Targets lie anywhere in memory. Looked up one after the other, as leaves come up, each costs a
// wait; looked up together they overlap.
void TreeBuilder::fill_single_row_leaves(NodeStore& nodes, Workspace& w) const {
  for (auto [node, row] : w.single_row_leaves)
    nodes.leaf_value[node] = tree_->row_data.targets[row];
  w.single_row_leaves.clear();
}

float TreeBuilder::node_weight(const Workspace& w) const {
  const float weight = finite_float(w.criterion->weight() / tree_->weight_unit);
  BEVEL_CHECK(weight > 0.0f);
  return weight;
}

}  // namespace bevel
