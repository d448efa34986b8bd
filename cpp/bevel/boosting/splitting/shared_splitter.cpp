#include "bevel/boosting/splitting/shared_splitter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "bevel/boosting/splitting/histograms.h"
#include "bevel/boosting/splitting/row_visits.h"
#include "bevel/random/stream.h"
#include "bevel/split/chance_gain.h"
#include "bevel/support/check.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

// Adds the squares of the gradients on both sides of n cuts.
BEVEL_WIDE_LOOP void add_squares(const double* gradient, size_t n, double all, double to_gain,
                                 double* left, double* right) {
  for (size_t i = 0; i < n; ++i) {
    const double other = all - gradient[i];
    left[i] += to_gain * (gradient[i] * gradient[i]);
    right[i] += to_gain * (other * other);
  }
}

// Adds the scores of n cuts, less that of the node; nothing where a side has too little.
BEVEL_WIDE_LOOP void add_scores(const double* left, const double* right, const double* hessian,
                                size_t n, double of_node, double all_hessian, double penalty,
                                double min_hessian, double* scores) {
  for (size_t i = 0; i < n; ++i) {
    const double right_hessian = all_hessian - hessian[i];
    const double left_weight = hessian[i] + penalty, right_weight = right_hessian + penalty;
    const double score =
        (left[i] * right_weight + right[i] * left_weight) / (left_weight * right_weight);
    const bool allowed = (hessian[i] >= min_hessian) & (right_hessian >= min_hessian);
    scores[i] += allowed ? score - of_node : 0.0;
  }
}

BEVEL_WIDE_LOOP void unpack_sums(const PackedSum* sums, size_t n, double* gradient,
                                 double* hessian) {
  for (size_t i = 0; i < n; ++i) {
    gradient[i] = gradient_of(sums[i]);
    hessian[i] = hessian_of(sums[i]);
  }
}

// Forbids cuts that leave a side fewer rows than least.
void forbid_few_rows(const uint32_t* counts, const uint8_t* order, size_t n, int64_t first,
                     int64_t all, int64_t least, double* scores) {
  int64_t left = first;
  for (size_t i = 0; i < n; ++i) {
    left += counts[order ? order[i] : i];
    if (left < least || all - left < least) scores[i] = -std::numeric_limits<double>::infinity();
  }
}

}  // namespace

// Scores of the cuts of a column, output after output.
class SharedSplitter::PrefixScores {
 public:
  // Adds the scores of n cuts: sums are those of the codes in the order of `order`, or of the codes
  // themselves; first: what is on the left of all cuts. Outputs with the hessians of the next one
  // are scored together with it.
  void add(const PackedSum* sums, const uint8_t* order, size_t n, PackedSum first, PackedSum all,
           const SharingOutput& output, double* scores) {
    PackedSum sum = first;
    for (size_t i = 0; i < n; ++i) prefix_[i] = sum += sums[order ? order[i] : i];
    add_prefixes(n, all, output, scores);
  }
  // The score of one cut, whose left side has the sum `left`.
  void add(PackedSum left, PackedSum all, const SharingOutput& output, double& score) {
    prefix_[0] = left;
    add_prefixes(1, all, output, &score);
  }

 private:
  void add_prefixes(size_t n, PackedSum all, const SharingOutput& output, double* scores) {
    if (!is_open_) {
      std::fill_n(left_.data(), n, 0.0);
      std::fill_n(right_.data(), n, 0.0);
      node_ = 0.0;
    }
    is_open_ = output.has_hessians_of_next;
    const double gradient = gradient_of(all), hessian = hessian_of(all);
    unpack_sums(prefix_.data(), n, gradient_.data(), hessian_.data());
    add_squares(gradient_.data(), n, gradient, output.to_gain, left_.data(), right_.data());
    node_ += output.to_gain * (gradient * gradient);
    if (is_open_) return;
    add_scores(left_.data(), right_.data(), hessian_.data(), n, node_ / (hessian + output.penalty),
               hessian, output.penalty, output.min_hessian, scores);
  }

  bool is_open_ = false;  // whether the next output is scored together with those so far
  double node_ = 0.0;
  std::array<PackedSum, kCodes> prefix_;
  std::array<double, kCodes> gradient_, hessian_, left_, right_;
};

// The cuts of a group of columns, for one thread. A table of scores belongs to nodes that share a
// cut.
class SharedSplitter::GroupSearch {
 public:
  GroupSearch(const SharedSplitter& splitter, const ColumnGroup& group, std::span<Node> nodes,
              bool is_level)
      : splitter_(splitter),
        columns_(splitter.columns_),
        outputs_(*splitter.outputs_),
        group_(group),
        nodes_(nodes),
        is_level_(is_level),
        size_(columns_.histogram_size(group)),
        n_tables_(is_level ? 1 : nodes.size()),
        scores_(n_tables_ * 2 * size_, 0.0),
        levels_(group.width) {}

  // Adds up all nodes and finds the best cut of each table.
  void run(std::vector<NodeCut>& best) {
    std::vector<PackedSum> own[2];
    for (size_t first = 0; first < nodes_.size(); first += 2) {
      const size_t n = std::min<size_t>(2, nodes_.size() - first);
      const bool second_is_smaller = n == 2 && nodes_[first + 1].n_rows() < nodes_[first].n_rows();
      const size_t small = first + second_is_smaller;
      const PackedSum* sums[2];
      sums[small - first] = fill(nodes_[small], nullptr, own[0]);
      if (n == 2) {
        const size_t large = first + !second_is_smaller;
        sums[large - first] = fill(nodes_[large], sums[small - first], own[1]);
      }
      for (size_t i = 0; i < n; ++i) add_node(first + i, sums[i]);
    }
    best.resize(n_tables_);
    for (size_t table = 0; table < n_tables_; ++table)
      for (size_t k = 0; k < group_.width; ++k)
        if (is_open(k, table)) offer(k, table, best[table]);
  }

 private:
  size_t column(size_t k) const { return group_.first + k; }
  // The first node of a table; all of a level have the same features to cut.
  bool is_open(size_t k, size_t table) const {
    const size_t c = column(k);
    return columns_.n_codes(c) > 1 && columns_.is_active(c) &&
           columns_.is_allowed(c, nodes_[table].open) && splitter_.may_split(nodes_[table]);
  }
  std::span<Node> nodes_of(size_t table) const {
    return is_level_ ? nodes_ : nodes_.subspan(table, 1);
  }
  double* scores(size_t k, size_t table, bool missing_left) {
    return scores_.data() + (2 * table + missing_left) * size_ + columns_.offset(group_, column(k));
  }

  // The sums of a node, output after output, by the rows or as its parent's less its sibling's.
  const PackedSum* fill(Node& node, const PackedSum* sibling, std::vector<PackedSum>& own) {
    const size_t whole = columns_.histogram_size(), offset = columns_.offset(group_.first);
    own.resize(size_ * outputs_.size());
    for (size_t k = 0; k < outputs_.size(); ++k) {
      PackedSum* part = own.data() + k * size_;
      PackedSum* kept = node.histogram ? node.histogram->data() + k * whole + offset : nullptr;
      if (kept && sibling) {
        for (size_t i = 0; i < size_; ++i) part[i] = kept[i] -= sibling[k * size_ + i];
        continue;
      }
      add_up(columns_, group_, std::span(splitter_.rows_->rows).subspan(node.start, node.n_rows()),
             outputs_[k].stats.data() + node.start, splitter_.is_beyond_cache(), part);
      if (kept) std::copy_n(part, size_, kept);
    }
    return own.data();
  }

  void add_node(size_t number, const PackedSum* sums) {
    const size_t table = is_level_ ? 0 : number;
    const Node& node = nodes_[number];
    for (size_t k = 0; k < group_.width; ++k) {
      if (!is_open(k, table)) continue;
      const size_t c = column(k), n_codes = columns_.n_codes(c);
      const auto n_bins = static_cast<size_t>(columns_.n_bins(c));
      const PackedSum* own = sums + columns_.offset(group_, c);
      if (columns_.is_nominal(c)) {
        for (size_t o = 0; o < outputs_.size(); ++o, own += size_)
          levels_[k].insert(levels_[k].end(), own, own + n_codes);
        continue;
      }
      for (size_t o = 0; o < outputs_.size(); ++o)
        prefixes_.add(own + o * size_, nullptr, n_bins, 0, node.sums[o], outputs_[o],
                      scores(k, table, false));
      for (size_t o = 0; columns_.has_missing(c) && o < outputs_.size(); ++o)
        prefixes_.add(own + o * size_, nullptr, n_bins - 1, own[o * size_ + n_bins], node.sums[o],
                      outputs_[o], scores(k, table, true));
    }
  }

  void offer(size_t k, size_t table, NodeCut& best) {
    if (columns_.is_nominal(column(k))) return offer_levels(k, table, best);
    const size_t c = column(k);
    const auto n_bins = static_cast<size_t>(columns_.n_bins(c));
    const bool may_miss = columns_.has_missing(c);
    for (const bool missing_left : {false, true}) {
      if (missing_left && !may_miss) break;
      const size_t n = may_miss && !missing_left ? n_bins : n_bins - 1;
      double* own = scores(k, table, missing_left);
      const auto highest = [&] { return n ? std::max_element(own, own + n) - own : 0; };
      if (n == 0 || !(own[highest()] > best.score)) continue;
      if (const uint32_t* counts = counts_of(c, table)) {
        const int64_t n_missing = may_miss ? counts[n_bins] : 0;
        forbid_few_rows(counts, nullptr, n, missing_left ? n_missing : 0,
                        static_cast<int64_t>(nodes_[table].n_rows()),
                        splitter_.options_.min_samples_leaf, own);
      }
      const auto bin = highest();
      if (!(own[bin] > best.score)) continue;
      best = {};
      best.score = own[bin];
      best.column = static_cast<int64_t>(c);
      best.bin = static_cast<int>(bin);
      best.has_missing = may_miss;
      best.missing_left = missing_left;
    }
  }

  // Rows of a node by code, where a limit needs them.
  const uint32_t* counts_of(size_t c, size_t table) {
    if (is_level_ || splitter_.options_.min_samples_leaf <= 1) return nullptr;
    counts_.fill(0);
    const Node& node = nodes_[table];
    columns_.visit_codes(c, std::span(splitter_.rows_->rows).subspan(node.start, node.n_rows()),
                         [&](size_t, uint8_t code) { ++counts_[code]; });
    return counts_.data();
  }

  struct LevelOrder {
    std::array<uint8_t, kCodes> code;
    size_t n = 0;  // levels that have rows
  };
  struct LevelCut {
    size_t last = 0;
    double score = 0.0;
  };

  // Sums of a nominal column for a node and an output.
  const PackedSum* of_levels(const std::vector<PackedSum>& sums, size_t n_codes, size_t node,
                             size_t output) const {
    return sums.data() + (node * outputs_.size() + output) * n_codes;
  }

  // Levels by their mean gradient over all nodes, of the output in which they differ most. For one
  // node and one output the best set is among the prefixes of that order (Fisher 1958).
  LevelOrder order_levels(const std::vector<PackedSum>& sums, size_t n_codes,
                          std::span<const Node> nodes) const {
    std::array<double, kCodes> best_keys{};
    LevelOrder order;
    double widest = -1.0;
    std::array<bool, kCodes> seen{};
    for (size_t o = 0; o < outputs_.size(); ++o) {
      std::array<PackedSum, kCodes> total{};
      PackedSum all = 0;
      size_t n_rows = 0;
      for (size_t i = 0; i < nodes.size(); ++i) {
        const PackedSum* own = of_levels(sums, n_codes, i, o);
        for (size_t code = 0; code < n_codes; ++code) total[code] += own[code];
        all += nodes[i].sums[o];
        n_rows += nodes[i].n_rows();
      }
      // Rare levels are shrunk towards zero: their means are uncertain.
      const double smooth = 10.0 * hessian_of(all) / static_cast<double>(n_rows);
      std::array<double, kCodes> keys{};
      double width = 0.0;
      for (size_t code = 0; code < n_codes; ++code) {
        if (total[code] == 0) continue;
        seen[code] = true;
        keys[code] = gradient_of(total[code]) / (hessian_of(total[code]) + smooth);
        width += outputs_[o].to_gain * keys[code] * gradient_of(total[code]);
      }
      if (!(width > widest)) continue;
      widest = width;
      best_keys = keys;
    }
    for (size_t code = 0; code < n_codes; ++code)
      if (seen[code]) order.code[order.n++] = static_cast<uint8_t>(code);
    std::stable_sort(order.code.begin(), order.code.begin() + static_cast<ptrdiff_t>(order.n),
                     [&](uint8_t a, uint8_t b) { return best_keys[a] < best_keys[b]; });
    return order;
  }

  LevelCut cut_levels(size_t k, size_t table, const std::vector<PackedSum>& sums,
                      const LevelOrder& order) {
    const size_t n_codes = columns_.n_codes(column(k)), n = order.n - 1;
    const std::span<Node> nodes = nodes_of(table);
    std::array<double, kCodes> of_cuts{};
    for (size_t i = 0; i < nodes.size(); ++i)
      for (size_t o = 0; o < outputs_.size(); ++o)
        prefixes_.add(of_levels(sums, n_codes, i, o), order.code.data(), n, 0, nodes[i].sums[o],
                      outputs_[o], of_cuts.data());
    if (const uint32_t* counts = counts_of(column(k), table))
      forbid_few_rows(counts, order.code.data(), n, 0, static_cast<int64_t>(nodes_[table].n_rows()),
                      splitter_.options_.min_samples_leaf, of_cuts.data());
    const auto best = std::max_element(of_cuts.data(), of_cuts.data() + n) - of_cuts.data();
    return {static_cast<size_t>(best), of_cuts[static_cast<size_t>(best)]};
  }

  // A column of many levels has to gain more than it does by chance (split/chance_gain.h).
  void offer_levels(size_t k, size_t table, NodeCut& best) {
    const size_t n_codes = columns_.n_codes(column(k));
    const std::span<Node> nodes = nodes_of(table);
    // Tables of single nodes have the levels of theirs.
    std::vector<PackedSum> sums = levels_[k];
    if (!is_level_) {
      const size_t each = n_codes * outputs_.size();
      size_t before = 0;
      for (size_t t = 0; t < table; ++t) before += is_open(k, t);
      sums.assign(levels_[k].begin() + static_cast<ptrdiff_t>(before * each),
                  levels_[k].begin() + static_cast<ptrdiff_t>((before + 1) * each));
    }
    const LevelOrder order = order_levels(sums, n_codes, nodes);
    if (order.n < 2) return;
    LevelCut cut = cut_levels(k, table, sums, order);
    if (!(cut.score > best.score)) return;
    if (order.n > kFewLevels) {
      const std::vector<PackedSum> shuffled = shuffled_sums(k, nodes);
      const LevelOrder by_chance = order_levels(shuffled, n_codes, nodes);
      if (by_chance.n > 1)
        cut.score -=
            chance_share(order.n) * std::max(0.0, cut_levels(k, table, shuffled, by_chance).score);
      if (!(cut.score > best.score)) return;
    }
    best = {};
    best.score = cut.score;
    best.column = static_cast<int64_t>(column(k));
    best.levels_left.assign(kCodes, 2);  // 2: unseen
    for (size_t i = 0; i < order.n; ++i) best.levels_left[order.code[i]] = i <= cut.last;
  }

  // The sums by code if each row had the statistics of another one of its node, at random.
  std::vector<PackedSum> shuffled_sums(size_t k, std::span<const Node> nodes) const {
    const size_t n_codes = columns_.n_codes(column(k));
    std::vector<PackedSum> sums(nodes.size() * outputs_.size() * n_codes);
    std::vector<uint32_t> place;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      place.resize(node.n_rows());
      for (size_t r = 0; r < place.size(); ++r) place[r] = static_cast<uint32_t>(node.start + r);
      Stream stream(mix(static_cast<uint64_t>(node.sums[0])) + node.n_rows(), Purpose::permutation);
      for (size_t r = place.size(); r > 1; --r) std::swap(place[r - 1], place[stream.below(r)]);
      columns_.visit_codes(
          column(k), std::span(splitter_.rows_->rows).subspan(node.start, node.n_rows()),
          [&](size_t r, uint8_t code) {
            if (code >= n_codes) return;
            for (size_t o = 0; o < outputs_.size(); ++o)
              sums[(i * outputs_.size() + o) * n_codes + code] += outputs_[o].stats[place[r]];
          });
    }
    return sums;
  }

  const SharedSplitter& splitter_;
  const TreeColumns& columns_;
  const std::vector<SharingOutput>& outputs_;
  const ColumnGroup& group_;
  const std::span<Node> nodes_;
  const bool is_level_;
  const size_t size_;  // entries of the group
  const size_t n_tables_;
  std::vector<double> scores_;                  // by table, side of missing values and entry
  std::vector<std::vector<PackedSum>> levels_;  // of nominal columns, by node and output
  PrefixScores prefixes_;
  std::array<uint32_t, kCodes> counts_;
};

GrownBoostingTree SharedSplitter::grow(BoostingRows& rows, std::vector<SharingOutput>& outputs) {
  rows_ = &rows;
  outputs_ = &outputs;
  codes_of_row_ = columns_.codes_of_row();
  const auto nodes =
      options_.symmetric
          ? grow_levels(make_root())
          : grow_frontier(*this, make_root(), {Growth::best_first, options_.max_leaf_nodes},
                          Stream(0, Purpose::leaf));
  const std::vector<std::span<const uint32_t>> values = value_rows(nodes);
  GrownBoostingTree tree;
  SplitRecord split;
  tree.nodes = to_preorder(nodes, [&](NodeStore& out, const Node& from, bool is_leaf) {
    const int32_t node = out.open(0.0f, true);
    if (is_leaf) {
      tree.leaves.push_back(
          {node,
           {rows.rows.data() + from.start, from.n_rows()},
           {rows.others.data() + from.other_start, from.other_end - from.other_start},
           values[tree.leaves.size()]});
      out.close();
    } else {
      split = {};
      record(from.cut, split);
      split.gain = from.gain_of_cut;
      out.set_split(node, split);
    }
    return node;
  });
  return tree;
}

SharedSplitter::Node SharedSplitter::make_root() const {
  Node root;
  root.end = rows_->rows.size();
  root.other_end = rows_->others.size();
  for (const SharingOutput& output : *outputs_) {
    PackedSum sum = 0;
    for (const PackedSum stat : output.stats) sum += stat;
    root.sums.push_back(sum);
  }
  if (!is_small(root))
    root.histogram = std::make_unique<Histogram>(columns_.histogram_size() * outputs_->size());
  return root;
}

// Level after level; the nodes of a level are all split, also those without rows.
std::vector<GrowingNode<SharedSplitter::Node>> SharedSplitter::grow_levels(Node root) {
  std::vector<GrowingNode<Node>> nodes;
  std::vector<Node> level;
  level.push_back(std::move(root));
  for (;;) {
    throw_if_cancelled();
    search(level, true);
    const size_t first = nodes.size(), n = level.size();
    for (Node& node : level) nodes.push_back({std::move(node)});
    if (!nodes[first].node.is_splittable()) return nodes;
    level = std::vector<Node>(2 * n);
    for (size_t i = 0; i < n; ++i) {
      split(nodes[first + i].node, level[2 * i], level[2 * i + 1]);
      nodes[first + i].left = static_cast<int32_t>(first + n + 2 * i);
      nodes[first + i].right = static_cast<int32_t>(first + n + 2 * i + 1);
    }
  }
}

bool SharedSplitter::may_split(const Node& node) const {
  if (options_.max_depth >= 0 && node.depth >= options_.max_depth) return false;
  if (options_.symmetric) return true;
  return node.n_rows() >= std::max<size_t>(2, 2 * static_cast<size_t>(options_.min_samples_leaf));
}

bool SharedSplitter::is_small(const Node& node) const {
  return static_cast<double>(node.n_rows()) * codes_of_row_ <=
         kAdditionsPerEntry * static_cast<double>(columns_.histogram_size());
}

bool SharedSplitter::is_beyond_cache() const {
  return rows_->rows.size() + rows_->others.size() > kRowsInCache;
}

void SharedSplitter::search_children(Node& parent, Node& left, Node& right) {
  end_node(parent);
  Node children[] = {std::move(left), std::move(right)};
  search(children, false);
  left = std::move(children[0]);
  right = std::move(children[1]);
}

void SharedSplitter::search(std::span<Node> nodes, bool is_level) {
  constexpr double kParallelWork = 1 << 17;
  double n_rows = 0.0;
  bool any = false;
  for (const Node& node : nodes) {
    n_rows += static_cast<double>(node.n_rows());
    any |= may_split(node);
  }
  if (!any) return;
  const auto groups = columns_.groups();
  std::vector<std::vector<NodeCut>> found(groups.size());
  const double work = (n_rows * codes_of_row_ + static_cast<double>(columns_.histogram_size()) *
                                                    static_cast<double>(nodes.size())) *
                      static_cast<double>(outputs_->size());
  team_.run(groups.size(), work > kParallelWork,
            [&](size_t g) { GroupSearch(*this, groups[g], nodes, is_level).run(found[g]); });
  const size_t n_tables = is_level ? 1 : nodes.size();
  for (size_t table = 0; table < n_tables; ++table) {
    NodeCut best;
    for (std::vector<NodeCut>& of_group : found)
      if (is_better(of_group[table], best)) best = std::move(of_group[table]);
    const std::span<Node> own = is_level ? nodes : nodes.subspan(table, 1);
    if (best.found()) settle_unseen(own, best);
    for (Node& node : own) node.cut = best;
  }
  for (Node& node : nodes)
    if (!node.cut.found() || is_small(node)) node.histogram.reset();
}

void SharedSplitter::settle_unseen(std::span<const Node> nodes, NodeCut& cut) const {
  const auto column = static_cast<size_t>(cut.column);
  std::array<uint8_t, kCodes> goes_left{};
  codes_on_left(cut, goes_left.data());
  double left = 0.0, all = 0.0;
  bool misses = false;
  for (const Node& node : nodes) {
    const PackedSum* stats = (*outputs_)[0].stats.data() + node.start;
    columns_.visit_codes(column, std::span(rows_->rows).subspan(node.start, node.n_rows()),
                         [&](size_t i, uint8_t code) {
                           left += goes_left[code] == 1 ? hessian_of(stats[i]) : 0;
                           all += hessian_of(stats[i]);
                           misses |= code == columns_.n_bins(column);
                         });
  }
  const uint8_t heavier = 2.0 * left >= all;
  for (uint8_t& level : cut.levels_left)
    if (level == 2) level = heavier;
  if (cut.bin >= 0 && !misses) cut.missing_left = heavier;
  cut.left = heavier;  // the side of values that are missing from a nominal column
}

void SharedSplitter::codes_on_left(const NodeCut& cut, uint8_t* goes_left) const {
  if (cut.bin < 0) {
    std::copy(cut.levels_left.begin(), cut.levels_left.end(), goes_left);
    return;
  }
  std::fill_n(goes_left, kCodes, uint8_t{0});
  std::fill_n(goes_left, cut.bin + 1, uint8_t{1});
  goes_left[static_cast<size_t>(columns_.n_bins(static_cast<size_t>(cut.column)))] =
      cut.missing_left;
}

bool SharedSplitter::split(Node& parent, Node& left, Node& right) {
  std::array<uint8_t, kCodes> by_code;
  codes_on_left(parent.cut, by_code.data());
  const auto column = static_cast<size_t>(parent.cut.column);
  const bool sparse = columns_.is_sparse();
  const RowTest test{sparse ? nullptr : columns_.codes(column), by_code.data(), is_beyond_cache(),
                     sparse ? &columns_ : nullptr, column};
  const auto range = [](auto& values, size_t first, size_t last) {
    return std::span(values.data() + first, last - first);
  };
  left.other_start = parent.other_start;
  left.other_end = right.other_start =
      parent.other_start +
      partition_.run(test, range(rows_->others, parent.other_start, parent.other_end), {});
  right.other_end = parent.other_end;
  const size_t n_left = partition_.run(test, range(rows_->rows, parent.start, parent.end), {});
  left.start = parent.start;
  left.end = right.start = parent.start + n_left;
  right.end = parent.end;
  for (SharingOutput& output : *outputs_) {
    partition_.move_too(range(output.stats, parent.start, parent.end), n_left);
    PackedSum sum = 0;
    for (size_t i = left.start; i < left.end; ++i) sum += output.stats[i];
    left.sums.push_back(sum);
    right.sums.push_back(parent.sums[left.sums.size() - 1] - sum);
  }
  left.depth = right.depth = parent.depth + 1;
  if (columns_.constraints().has_groups())
    left.open = right.open = columns_.constraints().after(parent.open, columns_.groups_of(column));
  parent.gain_of_cut = gain_of(parent, left);
  if (parent.histogram) {
    Node& small = left.n_rows() <= right.n_rows() ? left : right;
    Node& large = &small == &left ? right : left;
    if (!is_small(small)) small.histogram = std::make_unique<Histogram>(parent.histogram->size());
    large.histogram = std::move(parent.histogram);
  }
  return true;
}

// What the cut gains in a node.
double SharedSplitter::gain_of(const Node& parent, const Node& left) const {
  double gain = 0.0;
  PrefixScores scores;
  for (size_t o = 0; o < outputs_->size(); ++o)
    scores.add(left.sums[o], parent.sums[o], (*outputs_)[o], gain);
  return gain;
}

void SharedSplitter::record(const NodeCut& cut, SplitRecord& out) const {
  const auto column = static_cast<size_t>(cut.column);
  const bool nominal = columns_.is_nominal(column);
  if (nominal)
    columns_.describe_levels(column, cut.levels_left.data(), out);
  else
    columns_.describe(column, cut.bin, out);
  const bool missing_left = nominal ? cut.left != 0 : cut.missing_left;
  out.flags =
      static_cast<uint8_t>((missing_left ? kMissingLeft : 0) | (nominal ? kCategoryNode : 0));
}

std::vector<std::span<const uint32_t>> SharedSplitter::value_rows(
    const std::vector<GrowingNode<Node>>& nodes) const {
  const auto least = static_cast<size_t>(std::max<int64_t>(1, options_.min_samples_leaf));
  std::vector<std::span<const uint32_t>> of_leaves;
  struct Place {
    int32_t node;
    std::span<const uint32_t> rows;
  };
  std::vector<Place> stack{{0, {rows_->rows.data(), rows_->rows.size()}}};
  while (!stack.empty()) {
    auto [id, rows] = stack.back();
    stack.pop_back();
    const GrowingNode<Node>& at = nodes[static_cast<size_t>(id)];
    if (at.node.n_rows() >= least) rows = {rows_->rows.data() + at.node.start, at.node.n_rows()};
    if (at.left < 0) {
      of_leaves.push_back(rows);
      continue;
    }
    stack.push_back({at.right, rows});
    stack.push_back({at.left, rows});
  }
  return of_leaves;
}

}  // namespace bevel
