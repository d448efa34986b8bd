#include "bevel/boosting/tree_grower.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

// Additions that are worth another thread.
constexpr size_t kParallelWork = 1 << 17;

template <size_t kWidth>
void add_rows(const uint8_t* codes, const size_t* offsets, size_t width, const uint32_t* rows,
              const PackedSum* stats, size_t n, PackedSum* histogram) {
  for (size_t i = 0; i < n; ++i) {
    const uint8_t* own = codes + size_t{rows[i]} * kGroupColumns;
    const PackedSum stat = stats[i];
    for (size_t k = 0; k < (kWidth ? kWidth : width); ++k) histogram[offsets[k] + own[k]] += stat;
  }
}

// Stable:  [l r l l r]  ->  [l l l | r r].
template <class T>
void partition(T* values, size_t n, const uint8_t* goes_left, std::vector<T>& buffer) {
  if (buffer.size() < n) buffer.resize(n);
  size_t left = 0, right = 0;
  for (size_t i = 0; i < n; ++i) {
    const T value = values[i];
    values[left] = value;
    buffer[right] = value;
    left += goes_left[i];
    right += !goes_left[i];
  }
  std::copy_n(buffer.data(), right, values + left);
}

}  // namespace

GrownBoostingTree TreeGrower::grow(BoostingRows& rows, const CutRules& rules,
                                   StatisticScales scales, int32_t largest_hessian) {
  rows_ = &rows;
  rules_ = rules;
  scales_ = scales;
  largest_hessian_ = std::max(largest_hessian, 1);
  nodes_.clear();
  PackedSum sum = 0;
  for (const PackedSum stat : rows.stats) sum += stat;
  nodes_.push_back(make_node(0, rows.rows.size(), 0, rows.others.size(), 0, sum));
  if (may_split(nodes_[0])) search_root(nodes_[0]);
  const size_t budget = options_.max_leaf_nodes > 0 ? static_cast<size_t>(options_.max_leaf_nodes)
                                                    : std::numeric_limits<size_t>::max();
  std::vector<size_t> frontier{0};
  for (size_t n_leaves = 1; n_leaves < budget; ++n_leaves) {
    // Ties go to the older node.
    const auto best = std::max_element(frontier.begin(), frontier.end(), [&](size_t a, size_t b) {
      return nodes_[a].cut.score != nodes_[b].cut.score ? nodes_[a].cut.score < nodes_[b].cut.score
                                                        : a > b;
    });
    if (best == frontier.end() || !nodes_[*best].cut.found()) break;
    const size_t id = *best;
    frontier.erase(best);
    split(id, n_leaves + 1 < budget);
    for (const int32_t child : {nodes_[id].left, nodes_[id].right})
      frontier.push_back(static_cast<size_t>(child));
  }
  for (Node& node : nodes_) give_back(std::move(node.histogram));
  return to_preorder();
}

TreeGrower::Node TreeGrower::make_node(size_t start, size_t end, size_t other_start,
                                       size_t other_end, int32_t depth, PackedSum sum) const {
  Node node{start, end, other_start, other_end, depth, {}, {}, {}, nullptr};
  node.totals.sum = sum;
  node.totals.n_rows = static_cast<int64_t>(end - start);
  return node;
}

void TreeGrower::constrain_children(const Node& parent, Node& left, Node& right) const {
  if (!columns_.constraints().any()) return;
  const auto column = static_cast<size_t>(parent.cut.column);
  std::tie(left.totals.bounds, right.totals.bounds) = bound_children(
      parent.totals.bounds, columns_.push(column), node_value(left.totals.sum, rules_.penalty),
      node_value(right.totals.sum, rules_.penalty));
  if (columns_.constraints().has_groups())
    left.open = right.open = columns_.constraints().after(parent.open, columns_.groups_of(column));
}

bool TreeGrower::may_split(const Node& node) const {
  return node.totals.n_rows >= 2 * rules_.min_rows && node.totals.n_rows >= 2 &&
         (options_.max_depth < 0 || node.depth < options_.max_depth) &&
         hessian_of(node.totals.sum) >= 2.0 * rules_.min_hessian;
}

bool TreeGrower::is_worth_threads(size_t n_rows) const {
  return n_rows * columns_.size() + 4 * columns_.histogram_size() > kParallelWork;
}

std::unique_ptr<TreeGrower::Histogram> TreeGrower::take_histogram() {
  if (spare_.empty()) return std::make_unique<Histogram>(columns_.histogram_size());
  std::unique_ptr<Histogram> histogram = std::move(spare_.back());
  spare_.pop_back();
  histogram->resize(columns_.histogram_size());
  return histogram;
}

void TreeGrower::give_back(std::unique_ptr<Histogram> histogram) {
  if (histogram) spare_.push_back(std::move(histogram));
}

// Clears and fills the part of a histogram that belongs to a group.
void TreeGrower::build(const Node& node, const ColumnGroup& group, PackedSum* histogram) const {
  const size_t first = columns_.offset(group.first);
  const size_t n = node.end - node.start;
  std::fill(histogram + first, histogram + columns_.offset(group.first + group.width), 0);
  std::array<size_t, kGroupColumns> offsets{};
  for (size_t k = 0; k < group.width; ++k) offsets[k] = columns_.offset(group.first + k);
  constexpr size_t kRowsBetweenPolls = 1 << 14;
  for (size_t i = 0; i < n; i += kRowsBetweenPolls) {
    const size_t some = std::min(kRowsBetweenPolls, n - i);
    poll_cancellation(some * group.width);
    const uint32_t* rows = rows_->rows.data() + node.start + i;
    const PackedSum* stats = rows_->stats.data() + node.start + i;
    if (group.width == kGroupColumns)
      add_rows<kGroupColumns>(group.codes, offsets.data(), 0, rows, stats, some, histogram);
    else
      add_rows<0>(group.codes, offsets.data(), group.width, rows, stats, some, histogram);
  }
}

void TreeGrower::search_group(const Node& node, const ColumnGroup& group,
                              const PackedSum* histogram, const uint32_t* counts,
                              NodeCut& best) const {
  const CutSearch search(columns_, rules_);
  for (size_t c = group.first; c < group.first + group.width; ++c)
    if (columns_.is_active(c) && columns_.is_allowed(c, node.open))
      search.search(c, histogram + columns_.offset(c),
                    counts ? counts + columns_.offset(c) : nullptr, node.totals, best);
}

void TreeGrower::search_root(Node& root) {
  const auto groups = columns_.groups();
  root.histogram = take_histogram();
  std::vector<NodeCut> found(groups.size());
  team_.run(groups.size(), is_worth_threads(root.end), [&](size_t g) {
    build(root, groups[g], root.histogram->data());
    search_group(root, groups[g], root.histogram->data(), nullptr, found[g]);
  });
  for (NodeCut& cut : found)
    if (is_better(cut, root.cut)) root.cut = std::move(cut);
  check_counts(root);
}

void TreeGrower::search_children(Node& parent, Node& left, Node& right) {
  const auto groups = columns_.groups();
  const bool left_is_smaller = left.totals.n_rows <= right.totals.n_rows;
  Node& small = left_is_smaller ? left : right;
  Node& large = left_is_smaller ? right : left;
  small.histogram = take_histogram();
  large.histogram = std::move(parent.histogram);
  const bool search_small = may_split(small), search_large = may_split(large);
  std::vector<NodeCut> of_small(groups.size()), of_large(groups.size());
  team_.run(groups.size(), is_worth_threads(small.end - small.start), [&](size_t g) {
    const ColumnGroup& group = groups[g];
    PackedSum* own = small.histogram->data();
    PackedSum* rest = large.histogram->data();
    build(small, group, own);
    if (search_small) search_group(small, group, own, nullptr, of_small[g]);
    if (!search_large) return;
    for (size_t i = columns_.offset(group.first); i < columns_.offset(group.first + group.width);
         ++i)
      rest[i] -= own[i];
    search_group(large, group, rest, nullptr, of_large[g]);
  });
  for (NodeCut& cut : of_small)
    if (is_better(cut, small.cut)) small.cut = std::move(cut);
  for (NodeCut& cut : of_large)
    if (is_better(cut, large.cut)) large.cut = std::move(cut);
  for (Node* child : {&small, &large}) {
    check_counts(*child);
    if (!child->cut.found()) give_back(std::move(child->histogram));
  }
}

// Histograms hold no numbers of rows. The best cut is the best one that is allowed unless it leaves
// a side too few rows, which only then have to be counted for all cuts.
void TreeGrower::check_counts(Node& node) {
  if (!node.cut.found() || rules_.min_rows <= 1) return;
  const auto at_least = [&](PackedSum sum) { return hessian_of(sum) / largest_hessian_; };
  if (at_least(node.cut.left) >= rules_.min_rows &&
      at_least(node.totals.sum - node.cut.left) >= rules_.min_rows)
    return;
  std::array<uint8_t, kCodes> goes_left;
  sides(node.cut, node.totals, goes_left.data());
  const uint8_t* codes = columns_.codes(static_cast<size_t>(node.cut.column));
  int64_t n_left = 0;
  for (size_t i = node.start; i < node.end; ++i)
    n_left += goes_left[codes[size_t{rows_->rows[i]} * kGroupColumns]];
  if (n_left >= rules_.min_rows && node.totals.n_rows - n_left >= rules_.min_rows) return;
  node.cut = search_with_counts(node, *node.histogram);
}

NodeCut TreeGrower::search_with_counts(const Node& node, const Histogram& histogram) const {
  const auto groups = columns_.groups();
  std::vector<uint32_t> counts(columns_.histogram_size(), 0);
  std::vector<NodeCut> found(groups.size());
  team_.run(groups.size(), is_worth_threads(node.end - node.start), [&](size_t g) {
    const ColumnGroup& group = groups[g];
    for (size_t i = node.start; i < node.end; ++i) {
      const uint8_t* own = group.codes + size_t{rows_->rows[i]} * kGroupColumns;
      for (size_t k = 0; k < group.width; ++k) ++counts[columns_.offset(group.first + k) + own[k]];
    }
    search_group(node, group, histogram.data(), counts.data(), found[g]);
  });
  NodeCut best;
  for (NodeCut& cut : found)
    if (is_better(cut, best)) best = std::move(cut);
  return best;
}

// Which codes go left; what the node has not seen goes with the heavier side.
void TreeGrower::sides(const NodeCut& cut, const NodeTotals& totals, uint8_t* goes_left) const {
  if (cut.bin < 0) {
    std::copy(cut.levels_left.begin(), cut.levels_left.end(), goes_left);
    return;
  }
  const auto column = static_cast<size_t>(cut.column);
  const auto n_bins = static_cast<size_t>(columns_.n_bins(column));
  std::fill_n(goes_left, kCodes, uint8_t{0});
  std::fill_n(goes_left, cut.bin + 1, uint8_t{1});
  const bool heavier_left = 2.0 * hessian_of(cut.left) >= hessian_of(totals.sum);
  goes_left[n_bins] = cut.has_missing ? cut.missing_left : heavier_left;
}

void TreeGrower::split(size_t id, bool children_may_split) {
  const NodeCut cut = nodes_[id].cut;
  const size_t start = nodes_[id].start, end = nodes_[id].end;
  const size_t other_start = nodes_[id].other_start, other_end = nodes_[id].other_end;
  std::array<uint8_t, kCodes> by_code;
  sides(cut, nodes_[id].totals, by_code.data());
  const uint8_t* codes = columns_.codes(static_cast<size_t>(cut.column));
  std::vector<uint8_t> goes_left(std::max(end - start, other_end - other_start));
  auto part = [&](std::vector<uint32_t>& rows, size_t first, size_t last) {
    poll_cancellation(last - first);
    size_t n_left = 0;
    for (size_t i = first; i < last; ++i) {
      goes_left[i - first] = by_code[codes[size_t{rows[i]} * kGroupColumns]];
      n_left += goes_left[i - first];
    }
    partition(rows.data() + first, last - first, goes_left.data(), row_buffer_);
    return first + n_left;
  };
  const size_t other_middle = part(rows_->others, other_start, other_end);
  const size_t middle = part(rows_->rows, start, end);
  partition(rows_->stats.data() + start, end - start, goes_left.data(), stat_buffer_);
  BEVEL_CHECK(start < middle && middle < end);
  const int32_t depth = nodes_[id].depth + 1;
  nodes_[id].left = static_cast<int32_t>(nodes_.size());
  nodes_[id].right = nodes_[id].left + 1;
  nodes_.push_back(make_node(start, middle, other_start, other_middle, depth, cut.left));
  nodes_.push_back(
      make_node(middle, end, other_middle, other_end, depth, nodes_[id].totals.sum - cut.left));
  Node &parent = nodes_[id], &left = nodes_[nodes_.size() - 2], &right = nodes_.back();
  constrain_children(parent, left, right);
  if (children_may_split && (may_split(left) || may_split(right)))
    search_children(parent, left, right);
  else
    give_back(std::move(parent.histogram));
}

void TreeGrower::record(const Node& node, SplitRecord& out) const {
  const NodeCut& cut = node.cut;
  const auto column = static_cast<size_t>(cut.column);
  std::array<uint8_t, kCodes> goes_left;
  sides(cut, node.totals, goes_left.data());
  const bool nominal = columns_.is_nominal(column);
  bool missing_left = goes_left[static_cast<size_t>(columns_.n_bins(column))] != 0;
  if (nominal) {
    columns_.describe_levels(column, goes_left.data(), out);
    missing_left = 2.0 * hessian_of(cut.left) >= hessian_of(node.totals.sum);
  } else {
    columns_.describe(column, cut.bin, out);
  }
  out.flags =
      static_cast<uint8_t>((missing_left ? kMissingLeft : 0) | (nominal ? kCategoryNode : 0));
  out.gain = scales_.gain(cut.score);
}

GrownBoostingTree TreeGrower::to_preorder() const {
  GrownBoostingTree tree;
  std::vector<std::pair<int32_t, int32_t>> stack{{0, -1}};  // node, whose right child it is
  SplitRecord split;
  while (!stack.empty()) {
    const auto [id, parent] = stack.back();
    stack.pop_back();
    NodeStore& store = tree.nodes;
    if (parent >= 0) store.right[parent] = static_cast<int32_t>(store.size());
    const Node& from = nodes_[static_cast<size_t>(id)];
    const int32_t node = store.open(0.0f, true);
    if (from.left < 0) {
      tree.leaves.push_back(
          {node,
           {rows_->rows.data() + from.start, from.end - from.start},
           {rows_->others.data() + from.other_start, from.other_end - from.other_start}});
      store.close();
      continue;
    }
    split = {};
    record(from, split);
    store.set_split(node, split);
    stack.emplace_back(from.right, node);
    stack.emplace_back(from.left, -1);
  }
  return tree;
}

}  // namespace bevel
