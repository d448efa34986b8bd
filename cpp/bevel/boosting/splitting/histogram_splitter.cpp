#include "bevel/boosting/splitting/histogram_splitter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include "bevel/boosting/splitting/histograms.h"
#include "bevel/boosting/splitting/row_visits.h"
#include "bevel/random/stream.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

// Number of additions that are worth another thread.
constexpr size_t kParallelWork = 1 << 17;

// On sparse columns only the entries that have rows are searched, so that an addition with its
// share of that search costs more than subtracting and searching an entry.
constexpr double kSparseAdditionsPerEntry = 0.4;

// Number of rows that are worth a histogram of their own.
constexpr size_t kMinRowsOfBlock = 1 << 14;

NodeCut best_of(std::vector<NodeCut>& cuts) {
  NodeCut best;
  for (NodeCut& cut : cuts)
    if (is_better(cut, best)) best = std::move(cut);
  return best;
}

}  // namespace

// The highest score of a cut of a node that any thread has found. Columns below it are skipped;
// the final result does not depend on timing.
class HistogramSplitter::KnownScore {
 public:
  double value() const { return score_.load(std::memory_order_relaxed); }
  void raise(double score) {
    double known = value();
    while (score > known &&
           !score_.compare_exchange_weak(known, score, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<double> score_{0.0};
};

GrownBoostingTree HistogramSplitter::grow(BoostingRows& rows, const CutRules& rules,
                                          StatisticScales scales, int32_t largest_hessian) {
  rows_ = &rows;
  rules_ = rules;
  limits_ = {options_.max_depth, 2, static_cast<size_t>(rules.min_rows), rules.min_hessian};
  scales_ = scales;
  largest_hessian_ = std::max(largest_hessian, 1);
  codes_of_row_ = columns_.codes_of_row();
  auto nodes = grow_frontier(*this, make_root(), {Growth::best_first, options_.max_leaf_nodes},
                             Stream(0, Purpose::leaf));
  for (auto& each : nodes) end_node(each.node);
  GrownBoostingTree tree;
  SplitRecord split;
  tree.nodes = to_preorder(nodes, [&](NodeStore& out, const Node& from, bool is_leaf) {
    const int32_t node = out.open(0.0f, true);
    if (is_leaf) {
      tree.leaves.push_back(
          {node,
           {rows.rows.data() + from.start, from.end - from.start},
           {rows.others.data() + from.other_start, from.other_end - from.other_start},
           {rows.rows.data() + from.start, from.end - from.start}});
      out.close();
    } else {
      split = {};
      record(from, split);
      out.set_split(node, split);
    }
    return node;
  });
  return tree;
}

HistogramSplitter::Node HistogramSplitter::make_root() const {
  Node root;
  root.end = rows_->rows.size();
  root.other_end = rows_->others.size();
  for (const PackedSum stat : rows_->stats) root.totals.sum += stat;
  root.totals.n_rows = static_cast<int64_t>(root.end);
  return root;
}

void HistogramSplitter::constrain_children(const Node& parent, Node& left, Node& right) const {
  if (!columns_.constraints().any()) return;
  const auto column = static_cast<size_t>(parent.cut.column);
  std::tie(left.totals.bounds, right.totals.bounds) = bound_children(
      parent.totals.bounds, columns_.push(column), node_value(left.totals.sum, rules_.penalty),
      node_value(right.totals.sum, rules_.penalty));
  if (columns_.constraints().has_groups())
    left.open = right.open = columns_.constraints().after(parent.open, columns_.groups_of(column));
}

bool HistogramSplitter::may_split(const Node& node) const {
  return limits_.allow_split(static_cast<size_t>(node.totals.n_rows), hessian_of(node.totals.sum),
                             node.depth);
}

bool HistogramSplitter::is_worth_threads(size_t n_rows) const {
  return static_cast<double>(n_rows) * codes_of_row_ +
             4.0 * static_cast<double>(columns_.histogram_size()) >
         static_cast<double>(kParallelWork);
}

bool HistogramSplitter::is_beyond_cache() const {
  return rows_->rows.size() + rows_->others.size() > kRowsInCache;
}

bool HistogramSplitter::is_small(const Node& node) const {
  const double most = columns_.is_sparse() ? kSparseAdditionsPerEntry : kAdditionsPerEntry;
  return static_cast<double>(node.end - node.start) * codes_of_row_ <=
         most * static_cast<double>(columns_.histogram_size());
}

std::unique_ptr<HistogramSplitter::Histogram> HistogramSplitter::take_histogram() {
  if (spare_.empty()) return std::make_unique<Histogram>(columns_.histogram_size());
  std::unique_ptr<Histogram> histogram = std::move(spare_.back());
  spare_.pop_back();
  histogram->resize(columns_.histogram_size());
  return histogram;
}

void HistogramSplitter::give_back(std::unique_ptr<Histogram> histogram) {
  if (histogram) spare_.push_back(std::move(histogram));
}

// Clears and fills the part of a histogram that belongs to a group.
void HistogramSplitter::build(size_t start, size_t end, const ColumnGroup& group,
                              PackedSum* part) const {
  add_up(columns_, group, std::span(rows_->rows).subspan(start, end - start),
         rows_->stats.data() + start, is_beyond_cache(), part);
}

// Number of blocks of rows that balance the threads, where groups of columns do not.
size_t HistogramSplitter::n_row_blocks(const Node& node) const {
  const auto n_threads = static_cast<size_t>(team_.size());
  const size_t n_even = n_threads / std::gcd(n_threads, columns_.groups().size());
  return std::clamp<size_t>((node.end - node.start) / kMinRowsOfBlock, 1, n_even);
}

// Adds up the rows of a large node in blocks, each to a histogram of its own.
void HistogramSplitter::build_blocks(const Node& node) {
  const auto groups = columns_.groups();
  const size_t n_blocks = n_row_blocks(node), n = node.end - node.start;
  if (n_blocks == 1) return;
  while (block_histograms_.size() < n_blocks) block_histograms_.emplace_back();
  for (Histogram& histogram : block_histograms_) histogram.resize(columns_.histogram_size());
  team_.run(groups.size() * n_blocks, true, [&](size_t task) {
    const size_t block = task / groups.size();
    const ColumnGroup& group = groups[task % groups.size()];
    build(node.start + block * n / n_blocks, node.start + (block + 1) * n / n_blocks, group,
          block_histograms_[block].data() + columns_.offset(group.first));
  });
}

// The part of a node's histogram that belongs to a group, from its blocks if it has any.
void HistogramSplitter::fill(const Node& node, const ColumnGroup& group, PackedSum* part) const {
  const size_t n_blocks = n_row_blocks(node);
  if (n_blocks == 1) return build(node.start, node.end, group, part);
  for (size_t block = 0; block < n_blocks; ++block) {
    const PackedSum* from = block_histograms_[block].data() + columns_.offset(group.first);
    for (size_t i = 0; i < columns_.histogram_size(group); ++i)
      part[i] = block == 0 ? from[i] : part[i] + from[i];
  }
}

void HistogramSplitter::search_group(const CutSearch& search, const Node& node,
                                     const ColumnGroup& group, const PackedSum* part,
                                     KnownScore& known, NodeCut& best) const {
  // Numbers first: what nominal columns gain by chance is asked only where they may be the best.
  for (const bool nominal : {false, true})
    for (size_t c = group.first; c < group.first + group.width; ++c)
      if (columns_.is_nominal(c) == nominal && columns_.is_active(c) &&
          columns_.is_allowed(c, node.open))
        search.search(c, part + columns_.offset(group, c), node.totals, known.value(), best);
  known.raise(best.score);
}

// The rows of a node by the codes of a column, for one thread.
class HistogramSplitter::Rows final : public RowsOfNode {
 public:
  Rows(const HistogramSplitter& splitter, const Node& node)
      : columns_(splitter.columns_),
        rows_(splitter.rows_->rows.data() + node.start, node.end - node.start),
        stats_(splitter.rows_->stats.data() + node.start),
        totals_(node.totals) {}
  const uint32_t* counts(size_t column) override {
    counts_.fill(0);
    columns_.visit_codes(column, rows_, [&](size_t, uint8_t code) { ++counts_[code]; });
    return counts_.data();
  }
  const PackedSum* shuffled_sums(size_t column) override {
    if (shuffled_.empty()) shuffle();
    sums_.fill(0);
    columns_.visit_codes(column, rows_,
                         [&](size_t i, uint8_t code) { sums_[code] += shuffled_[i]; });
    return sums_.data();
  }
  double gradient_variance() override {
    if (variance_ >= 0.0) return variance_;
    const double mean = gradient_of(totals_.sum) / static_cast<double>(hessian_of(totals_.sum));
    double sum = 0.0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const double rest = gradient_of(stats_[i]) - mean * hessian_of(stats_[i]);
      sum += rest * rest;
    }
    return variance_ = sum / static_cast<double>(rows_.size());
  }

 private:
  void shuffle() {
    Stream stream(mix(totals_.sum) + rows_.size(), Purpose::permutation);
    shuffled_.assign(stats_, stats_ + rows_.size());
    for (size_t i = shuffled_.size(); i > 1; --i)
      std::swap(shuffled_[i - 1], shuffled_[stream.below(i)]);
  }

  const TreeColumns& columns_;
  const std::span<const uint32_t> rows_;
  const PackedSum* const stats_;
  const NodeTotals totals_;
  std::vector<PackedSum> shuffled_;
  double variance_ = -1.0;
  std::array<uint32_t, kCodes> counts_;
  std::array<PackedSum, kCodes> sums_;
};

void HistogramSplitter::search_root(Node& root) {
  if (!may_split(root)) return;
  if (is_small(root)) return search_small(root);
  const auto groups = columns_.groups();
  root.histogram = take_histogram();
  std::vector<NodeCut> found(groups.size());
  KnownScore known;
  build_blocks(root);
  team_.run(groups.size(), is_worth_threads(root.end), [&](size_t g) {
    PackedSum* part = root.histogram->data() + columns_.offset(groups[g].first);
    fill(root, groups[g], part);
    Rows rows(*this, root);
    const CutSearch search(columns_, rules_, rows, false);
    search_group(search, root, groups[g], part, known, found[g]);
  });
  root.cut = best_of(found);
  check_counts(root);
}

void HistogramSplitter::search_small(Node& node) {
  if (!may_split(node)) return;
  const auto groups = columns_.groups();
  std::vector<NodeCut> found(groups.size());
  KnownScore known;
  team_.run(groups.size(), is_worth_threads(node.end - node.start), [&](size_t g) {
    Rows rows(*this, node);
    const CutSearch search(columns_, rules_, rows, rules_.min_rows > 1);
    if (groups[g].sparse) return search_sparse(search, node, groups[g], known, found[g], nullptr);
    std::array<PackedSum, kGroupColumns * kCodes> part;
    build(node.start, node.end, groups[g], part.data());
    search_group(search, node, groups[g], part.data(), known, found[g]);
  });
  node.cut = best_of(found);
}

// Sums of the codes of sparse columns that the rows of a node have: a small part of all codes, so
// that clearing, adding and searching take time by the number of entries.
class HistogramSplitter::SparseSums {
 public:
  SparseSums(const TreeColumns& columns, const ColumnGroup& group, SparseRoom& room)
      : columns_(columns),
        group_(group),
        sums_(room.sums),
        seen_(room.seen),
        offsets_(group.width) {
    if (sums_.size() < columns.histogram_size(group)) sums_.resize(columns.histogram_size(group));
    if (seen_.size() < group.width * kWords) seen_.resize(group.width * kWords);
    for (size_t k = 0; k < group.width; ++k)
      offsets_[k] = static_cast<uint32_t>(columns.offset(group, group.first + k));
  }

  void add(size_t row, PackedSum stat) {
    for (const auto entry : group_.sparse->entries(row)) {
      const size_t k = entry.column(), code = entry.code();
      sums_[offsets_[k] + code] += stat;
      seen_[k * kWords + code / 64] |= uint64_t{1} << (code % 64);
    }
  }
  // The bins of the k-th column with rows, valid until the next call; none for a column all of
  // whose rows have its default code.
  BinSums bins(size_t k, PackedSum total) {
    uint64_t* seen = seen_.data() + k * kWords;
    if (!(seen[0] | seen[1] | seen[2] | seen[3])) return {nullptr, 0};
    const size_t column = group_.first + k, common = group_.sparse->default_code(k);
    const auto missing_code = static_cast<size_t>(columns_.n_bins(column));
    PackedSum* sums = sums_.data() + offsets_[k];
    for (size_t word = 0; word < kWords; ++word)
      for (uint64_t left = seen[word]; left; left &= left - 1)
        total -= sums[word * 64 + static_cast<size_t>(std::countr_zero(left))];
    if (common < columns_.n_codes(column)) {
      sums[common] = total;
      seen[common / 64] |= uint64_t{1} << (common % 64);
    }
    if (columns_.has_missing(column)) seen[0] |= 1;
    BinSums result{found_.data(), 0, 0, bins_.data()};
    for (size_t word = 0; word < kWords; ++word)
      for (uint64_t left = std::exchange(seen[word], 0); left; left &= left - 1) {
        const size_t code = word * 64 + static_cast<size_t>(std::countr_zero(left));
        const PackedSum sum = std::exchange(sums[code], 0);
        if (code == missing_code) {
          result.missing = sum;
        } else {
          found_[result.n] = sum;
          bins_[result.n++] = static_cast<uint8_t>(code);
        }
      }
    return result;
  }
  // Subtracts what bins() has returned from a histogram of the group.
  void subtract(size_t k, const BinSums& bins, PackedSum total, PackedSum* histogram) const {
    const size_t column = group_.first + k, common = group_.sparse->default_code(k);
    PackedSum* own = histogram + offsets_[k];
    if (bins.n == 0) {
      if (common < columns_.n_codes(column)) own[common] -= total;
      return;
    }
    for (size_t i = 0; i < bins.n; ++i) own[bins.bins[i]] -= bins.sums[i];
    if (columns_.has_missing(column)) own[columns_.n_bins(column)] -= bins.missing;
  }

 private:
  static constexpr size_t kWords = kCodes / 64;

  const TreeColumns& columns_;
  const ColumnGroup& group_;
  std::vector<PackedSum>& sums_;
  std::vector<uint64_t>& seen_;  // codes of each column
  std::vector<uint32_t> offsets_;
  std::array<PackedSum, kCodes> found_;
  std::array<uint8_t, kCodes> bins_;
};

void HistogramSplitter::search_sparse(const CutSearch& search, const Node& node,
                                      const ColumnGroup& group, KnownScore& known, NodeCut& best,
                                      PackedSum* rest) const {
  std::unique_ptr<SparseRoom> room = take_room();
  SparseSums sums(columns_, group, *room);
  for (size_t i = node.start; i < node.end; ++i) {
    poll_cancellation_at(i, kWorkOfSparseRow);
    sums.add(rows_->rows[i], rows_->stats[i]);
  }
  const bool searches = may_split(node);
  for (size_t k = 0; k < group.width; ++k) {
    const size_t c = group.first + k;
    const BinSums bins = sums.bins(k, node.totals.sum);
    if (rest) sums.subtract(k, bins, node.totals.sum, rest);
    if (searches && bins.n > 0 && columns_.is_active(c) && columns_.is_allowed(c, node.open))
      search.search_numbers(c, bins, node.totals, known.value(), best);
  }
  known.raise(best.score);
  const std::lock_guard lock(rooms_mutex_);
  rooms_.push_back(std::move(room));
}

std::unique_ptr<HistogramSplitter::SparseRoom> HistogramSplitter::take_room() const {
  const std::lock_guard lock(rooms_mutex_);
  if (rooms_.empty()) return std::make_unique<SparseRoom>();
  std::unique_ptr<SparseRoom> room = std::move(rooms_.back());
  rooms_.pop_back();
  return room;
}

void HistogramSplitter::search_children(Node& parent, Node& left, Node& right) {
  const bool left_is_smaller = left.totals.n_rows <= right.totals.n_rows;
  Node& small = left_is_smaller ? left : right;
  Node& large = left_is_smaller ? right : left;
  const bool search_small_child = may_split(small), search_large = may_split(large);
  if (is_small(large) || (!search_small_child && !search_large)) {
    end_node(parent);
    search_small(left);
    search_small(right);
    return;
  }
  const auto groups = columns_.groups();
  const bool few = columns_.is_sparse() && is_small(small);
  if (!few) small.histogram = take_histogram();
  large.histogram = std::move(parent.histogram);
  std::vector<NodeCut> of_small(groups.size()), of_large(groups.size());
  KnownScore known_of_small, known_of_large;
  if (!few) build_blocks(small);
  team_.run(groups.size(), is_worth_threads(small.end - small.start), [&](size_t g) {
    const ColumnGroup& group = groups[g];
    PackedSum* rest = large.histogram->data() + columns_.offset(group.first);
    Rows rows_of_small(*this, small);
    const CutSearch search_small(columns_, rules_, rows_of_small, few && rules_.min_rows > 1);
    if (few) {
      search_sparse(search_small, small, group, known_of_small, of_small[g], rest);
    } else {
      PackedSum* own = small.histogram->data() + columns_.offset(group.first);
      fill(small, group, own);
      if (search_small_child)
        search_group(search_small, small, group, own, known_of_small, of_small[g]);
      for (size_t i = 0; search_large && i < columns_.histogram_size(group); ++i) rest[i] -= own[i];
    }
    if (!search_large) return;
    Rows rows(*this, large);
    const CutSearch search(columns_, rules_, rows, false);
    search_group(search, large, group, rest, known_of_large, of_large[g]);
  });
  small.cut = best_of(of_small);
  large.cut = best_of(of_large);
  for (Node* child : {&small, &large}) {
    if (child->histogram) check_counts(*child);
    if (!child->cut.found()) give_back(std::move(child->histogram));
  }
}

// Histograms hold no numbers of rows. The best cut is accepted unless it leaves
// a side too few rows; only then are rows counted for other cuts.
void HistogramSplitter::check_counts(Node& node) {
  if (!node.cut.found() || rules_.min_rows <= 1) return;
  const auto at_least = [&](PackedSum sum) { return hessian_of(sum) / largest_hessian_; };
  if (at_least(node.cut.left) >= rules_.min_rows &&
      at_least(node.totals.sum - node.cut.left) >= rules_.min_rows)
    return;
  std::array<uint8_t, kCodes> goes_left;
  sides(node.cut, node.totals, goes_left.data());
  int64_t n_left = 0;
  columns_.visit_codes(static_cast<size_t>(node.cut.column),
                       {rows_->rows.data() + node.start, node.end - node.start},
                       [&](size_t, uint8_t code) { n_left += goes_left[code]; });
  if (n_left >= rules_.min_rows && node.totals.n_rows - n_left >= rules_.min_rows) return;
  node.cut = search_with_counts(node);
}

// A side with enough rows has at least the hessian of the rows with the smallest ones.
double HistogramSplitter::least_hessian(const Node& node) const {
  std::vector<int32_t> hessians(node.end - node.start);
  for (size_t i = node.start; i < node.end; ++i)
    hessians[i - node.start] = hessian_of(rows_->stats[i]);
  const auto middle = hessians.begin() + rules_.min_rows;
  std::nth_element(hessians.begin(), middle, hessians.end());
  return std::accumulate(hessians.begin(), middle, 0.0);
}

NodeCut HistogramSplitter::search_with_counts(const Node& node) const {
  const auto groups = columns_.groups();
  CutRules rules = rules_;
  rules.min_hessian = std::max(rules.min_hessian, least_hessian(node));
  std::vector<NodeCut> found(groups.size());
  KnownScore known;
  team_.run(groups.size(), is_worth_threads(node.end - node.start), [&](size_t g) {
    Rows rows(*this, node);
    const CutSearch search(columns_, rules, rows, true);
    search_group(search, node, groups[g], node.histogram->data() + columns_.offset(groups[g].first),
                 known, found[g]);
  });
  return best_of(found);
}

// Codes that go left; those that the node has not seen go with the heavier side.
void HistogramSplitter::sides(const NodeCut& cut, const NodeTotals& totals,
                              uint8_t* goes_left) const {
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

bool HistogramSplitter::split(const Node& parent, Node& left, Node& right) {
  const NodeCut& cut = parent.cut;
  std::array<uint8_t, kCodes> by_code;
  sides(cut, parent.totals, by_code.data());
  const auto column = static_cast<size_t>(cut.column);
  const bool sparse = columns_.is_sparse();
  const RowTest test{sparse ? nullptr : columns_.codes(column), by_code.data(), is_beyond_cache(),
                     sparse ? &columns_ : nullptr, column};
  const auto range = [](auto& values, size_t first, size_t last) {
    return std::span(values.data() + first, last - first);
  };
  const size_t other_middle =
      parent.other_start +
      partition_.run(test, range(rows_->others, parent.other_start, parent.other_end), {});
  const size_t middle =
      parent.start + partition_.run(test, range(rows_->rows, parent.start, parent.end),
                                    range(rows_->stats, parent.start, parent.end));
  const bool inside = parent.start < middle && middle < parent.end;
  BEVEL_CHECK(inside);
  if (!inside) return false;
  left.start = parent.start;
  left.end = right.start = middle;
  right.end = parent.end;
  left.other_start = parent.other_start;
  left.other_end = right.other_start = other_middle;
  right.other_end = parent.other_end;
  left.depth = right.depth = parent.depth + 1;
  left.totals.sum = cut.left;
  right.totals.sum = parent.totals.sum - cut.left;
  left.totals.n_rows = static_cast<int64_t>(left.end - left.start);
  right.totals.n_rows = static_cast<int64_t>(right.end - right.start);
  constrain_children(parent, left, right);
  return true;
}

void HistogramSplitter::record(const Node& node, SplitRecord& out) const {
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

}  // namespace bevel
