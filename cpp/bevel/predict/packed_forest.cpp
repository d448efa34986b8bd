#include "bevel/predict/packed_forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include "bevel/predict/top_levels/kernel.h"
#include "bevel/support/arithmetic/float_range.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"
#include "bevel/tree/node_store.h"

namespace bevel {
namespace {

constexpr size_t kWorkOfNode = 16;            // rough work between polls for cancellation
constexpr int32_t kMaxSmallPlaces = 1 << 16;  // numbers of 16 bits

// The direction of a split, or its set of levels.
struct SplitView {
  std::span<const int32_t> index;
  std::span<const float> weight;
  std::span<const int32_t> level;  // of level terms, -1 of others; empty if there is none
  bool is_category;

  bool has_unit_weights() const {
    return std::all_of(weight.begin(), weight.end(), [](float w) { return w == 1.0f; });
  }
  bool has_signs_only() const {
    return std::all_of(weight.begin(), weight.end(),
                       [](float w) { return w == 1.0f || w == -1.0f; });
  }
};

SplitView view_split(const ForestArrays& forest, size_t node) {
  const auto first = static_cast<size_t>(forest.entry_offset[node]);
  const auto n = static_cast<size_t>(forest.entry_offset[node + 1]) - first;
  return {forest.entry_index.subspan(first, n), forest.entry_weight.subspan(first, n),
          forest.entry_level.empty() ? forest.entry_level : forest.entry_level.subspan(first, n),
          (forest.flags[node] & kCategoryNode) != 0};
}

// Turns splits into nodes of one kind, and the others into general splits.
class Packer {
 public:
  Packer(const ForestArrays& forest, PackedForest& packed) : forest_(forest), packed_(packed) {}

  void run() {
    set_layout();
    choose_nodes();
    set_medians();
    set_largest_safe();
    std::visit([&](auto& nodes) { pack(nodes); }, packed_.nodes);
    find_repeats();
    find_symmetric_trees();
    for (auto* array : {&packed_.share_class, &packed_.general_place}) array->shrink_to_fit();
    packed_.share.shrink_to_fit();
    packed_.general.shrink_to_fit();
    packed_.general_weight.shrink_to_fit();
  }

 private:
  bool is_leaf(size_t node) const { return forest_.right[node] < 0; }

  void set_layout() {
    RowLayout& layout = packed_.layout;
    layout.n_columns = layout.n_features = forest_.n_features;
    add_level_terms();
    layout.n_features += static_cast<int32_t>(packed_.level_terms.size());
    for (size_t t = 0; t < forest_.n_trees(); ++t)
      layout.n_axes = std::max(layout.n_axes, static_cast<int32_t>(forest_.rotation_offset[t + 1] -
                                                                   forest_.rotation_offset[t]));
    if (layout.n_axes > 0)
      for (size_t t = 0; t < forest_.n_trees(); ++t) {
        poll_cancellation();
        packed_.axes.emplace_back(forest_, t);
      }
  }

  // The level terms of all splits, in the order of features and levels.
  void add_level_terms() {
    for (size_t e = 0; e < forest_.entry_level.size(); ++e) {
      const int32_t level = forest_.entry_level[e];
      if (level >= 0 && level_place_.emplace(key(forest_.entry_index[e], level), 0).second)
        packed_.level_terms.push_back({forest_.entry_index[e], level});
    }
    std::sort(packed_.level_terms.begin(), packed_.level_terms.end(),
              [](const LevelTerm& a, const LevelTerm& b) {
                return key(a.feature, a.level) < key(b.feature, b.level);
              });
    int32_t place = forest_.n_features;
    for (const LevelTerm& term : packed_.level_terms)
      level_place_[key(term.feature, term.level)] = place++;
  }
  static uint64_t key(int32_t feature, int32_t level) {
    return static_cast<uint64_t>(feature) << 32 | static_cast<uint32_t>(level);
  }

  void set_medians() {
    const RowLayout& layout = packed_.layout;
    packed_.medians.assign(static_cast<size_t>(layout.width()),
                           std::numeric_limits<float>::quiet_NaN());
    for (int32_t f = 0; f < layout.n_features; ++f) {
      const float median = f < layout.n_columns ? forest_.medians[f] : 0.0f;
      packed_.medians[f] = median;
      if (layout.has_negatives) packed_.medians[layout.negative(f)] = -median;
    }
  }

  // Uses the largest sum of absolute coefficients of a split, including those of axes.
  void set_largest_safe() {
    double most = 1.0;
    std::vector<double> reach;  // bounds of the axes of a tree
    for (size_t t = 0; t < forest_.n_trees(); ++t) {
      reach.clear();
      for (int64_t a = forest_.rotation_offset[t]; a < forest_.rotation_offset[t + 1]; ++a) {
        const int64_t first = forest_.rotation_entry_offset[static_cast<size_t>(a)];
        const int64_t last = forest_.rotation_entry_offset[static_cast<size_t>(a) + 1];
        reach.push_back(0.0);
        for (int64_t e = first; e < last; ++e)
          reach.back() += std::fabs(static_cast<double>(forest_.rotation_weight[e]));
        most = std::max(most, reach.back());
      }
      for (int64_t node = forest_.tree_offset[t]; node < forest_.tree_offset[t + 1]; ++node)
        if (!is_leaf(static_cast<size_t>(node)))
          most = std::max(most, reach_of(view_split(forest_, static_cast<size_t>(node)), reach));
    }
    packed_.largest_safe = static_cast<float>(kMaxSum / most);
  }

  double reach_of(const SplitView& split, const std::vector<double>& of_axes) const {
    double sum = 0.0;
    for (size_t k = 0; k < split.index.size() && !split.is_category; ++k) {
      const double size = std::fabs(static_cast<double>(split.weight[k]));
      const int32_t axis = split.index[k] - forest_.n_features;
      sum += axis < 0 ? size : size * of_axes[static_cast<size_t>(axis)];
    }
    return sum;
  }

  // The kind of node into which most directions fit.
  void choose_nodes() {
    size_t n_axis = 0, n_signs = 0, n_weights = 0;
    for (size_t node = 0; node < forest_.right.size(); ++node) {
      poll_cancellation(kWorkOfNode);
      if (is_leaf(node)) continue;
      const SplitView split = view_split(forest_, node);
      if (split.is_category) continue;
      n_axis += fits<AxisNode>(split);
      n_signs += fits<SignsNode>(split);
      n_weights += fits<WeightsNode>(split);
    }
    if (n_signs > n_axis && n_signs >= n_weights) {
      packed_.nodes.emplace<HugeVector<SignsNode>>();
      packed_.layout.has_negatives = true;
    } else if (n_weights > n_axis) {
      packed_.nodes.emplace<HugeVector<WeightsNode>>();
    }
  }

  template <class Node>
  bool fits(const SplitView& split) const {
    if (split.is_category) return false;
    const size_t n = split.index.size();
    if constexpr (std::is_same_v<Node, AxisNode>) {
      return n == 1 && split.has_unit_weights();
    } else {
      if constexpr (std::is_same_v<Node, SignsNode>)
        if (!split.has_signs_only()) return false;
      return n <= Node::kMax && 2 * packed_.layout.n_positive() <= kMaxSmallPlaces;
    }
  }

  template <class Node>
  void pack(HugeVector<Node>& nodes) {
    count_splits();
    require(n_splits_ <= static_cast<size_t>(kRare),
            "[PackedForest] more splits than 30 bits count; predict with fewer trees");
    nodes.reserve(n_splits_);
    packed_.missing_left.reserve(n_splits_);
    for (size_t t = 0; t < forest_.n_trees(); ++t) {
      const auto first = static_cast<size_t>(forest_.tree_offset[t]);
      const auto last = static_cast<size_t>(forest_.tree_offset[t + 1]);
      packed_.first_split.push_back(nodes.size());
      poll_cancellation((last - first) * kWorkOfNode);
      children_.assign(last - first, 0);
      for (size_t node = first, split = nodes.size(); node < last; ++node)
        children_[node - first] = is_leaf(node) ? ~add_leaf(node) : child<Node>(node, split++);
      packed_.roots.push_back(children_[0]);
      for (size_t node = first; node < last; ++node) {
        if (is_leaf(node)) continue;
        const Child left = children_[node + 1 - first];
        const Child right = children_[static_cast<size_t>(forest_.right[node])];
        nodes.push_back(make<Node>(node, left, right));
        packed_.missing_left.push_back(forest_.flags[node] & kMissingLeft);
      }
    }
    packed_.first_split.push_back(nodes.size());
  }

  template <class Node>
  Child child(size_t node, size_t number) const {
    const SplitView split = view_split(forest_, node);
    bool is_common = fits<Node>(split);
    if constexpr (std::is_same_v<Node, SignsNode>)
      is_common &= split.index.size() <= SignsNode::kAlways;
    return static_cast<Child>(number) + (is_common ? 0 : kRare);
  }

  void count_splits() {
    for (int32_t right : forest_.right) n_splits_ += right >= 0;
  }

  template <class Node>
  Node make(size_t node, Child left, Child right) {
    const SplitView split = view_split(forest_, node);
    Node made{};
    made.threshold = forest_.threshold[node];
    made.child[0] = left;
    made.child[1] = right;
    const bool small = fits<Node>(split);
    const uint32_t general = small ? 0 : add_general(node, split);
    if constexpr (std::is_same_v<Node, AxisNode>) {
      made.place = small ? static_cast<uint32_t>(place(split, 0)) : general | Node::kGeneral;
    } else if (small) {
      fill(made, split);
    } else {
      made.size = kGeneralSize;
      made.place[0] = static_cast<uint16_t>(general & 0xffff);
      made.place[1] = static_cast<uint16_t>(general >> 16);
    }
    return made;
  }

  void fill(SignsNode& node, const SplitView& split) const {
    node.size = static_cast<uint16_t>(split.index.size());
    for (size_t k = 0; k < SignsNode::kMax; ++k) {
      int32_t at = packed_.layout.zero();
      if (k < split.index.size()) {
        at = place(split, k);
        if (split.weight[k] < 0.0f) at = packed_.layout.negative(at);
      }
      node.place[k] = static_cast<uint16_t>(at);
    }
  }

  void fill(WeightsNode& node, const SplitView& split) const {
    node.size = static_cast<uint16_t>(split.index.size());
    for (size_t k = 0; k < WeightsNode::kMax; ++k) {
      const bool used = k < split.index.size();
      node.place[k] = static_cast<uint16_t>(used ? place(split, k) : packed_.layout.zero());
      node.weight[k] = used ? split.weight[k] : 0.0f;
    }
  }

  int32_t place(const SplitView& split, size_t k) const {
    const int32_t index = split.index[k];
    if (!split.level.empty() && split.level[k] >= 0)
      return level_place_.at(key(index, split.level[k]));
    return index < forest_.n_features ? index : packed_.layout.axis(index - forest_.n_features);
  }

  uint32_t add_general(size_t node, const SplitView& split) {
    GeneralSplit general{split.is_category, split.index[0], 0, 0, 0};
    if (split.is_category) {
      const auto set = static_cast<size_t>(forest_.bits_index[node]);
      const auto begin = forest_.bits.begin() + forest_.bits_offset[set];
      general.levels = forest_.levels[split.index[0]];
      general.first = static_cast<uint32_t>(packed_.bits.size());
      packed_.bits.insert(packed_.bits.end(), begin,
                          forest_.bits.begin() + forest_.bits_offset[set + 1]);
    } else {
      general.first = static_cast<uint32_t>(packed_.general_place.size());
      general.n = static_cast<int32_t>(split.index.size());
      for (size_t k = 0; k < split.index.size(); ++k)
        packed_.general_place.push_back(place(split, k));
      packed_.general_weight.insert(packed_.general_weight.end(), split.weight.begin(),
                                    split.weight.end());
    }
    constexpr size_t kMaxEntries = std::numeric_limits<uint32_t>::max();
    require(packed_.general_place.size() <= kMaxEntries && packed_.bits.size() <= kMaxEntries &&
                packed_.general.size() < AxisNode::kGeneral,
            "[PackedForest] more coefficients than 32 bits count; predict with fewer trees");
    packed_.general.push_back(general);
    return static_cast<uint32_t>(packed_.general.size() - 1);
  }

  void find_repeats() {
    if (forest_.n_classes > 0 || packed_.n_outputs > 0 || packed_.layout.n_axes > 0) return;
    if (forest_.has_leaf_models()) return;
    bool any = false;
    packed_.repeats.assign(forest_.n_trees(), 0);
    for (size_t t = 1; t < forest_.n_trees(); ++t) {
      const auto before = static_cast<size_t>(forest_.tree_offset[t - 1]);
      const auto first = static_cast<size_t>(forest_.tree_offset[t]);
      const size_t n_nodes = first - before;
      poll_cancellation(n_nodes);
      bool same = static_cast<size_t>(forest_.tree_offset[t + 1]) - first == n_nodes;
      for (size_t node = 0; same && node < n_nodes; ++node)
        same = forest_.right[before + node] == forest_.right[first + node] &&
               (is_leaf(first + node) || have_same_split(before + node, first + node));
      packed_.repeats[t] = same;
      any |= same;
    }
    if (!any) packed_.repeats.clear();
  }

  // Trees of one level or more whose levels have one split each that reads numbers. Rows get the
  // value of their leaf, so that leaves must not have models of their own.
  void find_symmetric_trees() {
    SymmetricTrees& symmetric = packed_.symmetric;
    if (forest_.n_classes > 0 || packed_.n_outputs > 0 || packed_.layout.n_axes > 0) return;
    if (forest_.has_leaf_models()) return;
    bool any = false;
    for (size_t t = 0; t < forest_.n_trees(); ++t) {
      const auto first = static_cast<size_t>(forest_.tree_offset[t]);
      const size_t n_nodes = static_cast<size_t>(forest_.tree_offset[t + 1]) - first;
      poll_cancellation(n_nodes * kWorkOfNode);
      const auto depth = static_cast<uint32_t>(std::bit_width(n_nodes) - 1);
      const bool found =
          depth > 0 && std::has_single_bit(n_nodes + 1) && is_symmetric(first, 0, 0, depth);
      const bool repeats = packed_.is_repeated(t);
      symmetric.tree.push_back({repeats ? symmetric.tree.back().first_level
                                        : static_cast<uint32_t>(symmetric.level.size()),
                                found ? depth : SymmetricTrees::kNone,
                                static_cast<uint32_t>(forest_.first_leaf(t))});
      // The nodes on the left edge come first.
      for (uint32_t level = 0; found && !repeats && level < depth; ++level)
        add_level(first + level);
      any |= found;
    }
    if (!any) symmetric = {};
  }

  // Whether a subtree is complete, and splits the nodes of a level as the left edge does.
  bool is_symmetric(size_t first, size_t node, uint32_t level, uint32_t depth) const {
    if (level == depth) return is_leaf(first + node);
    const size_t right = node + (size_t{1} << (depth - level));
    return !is_leaf(first + node) && static_cast<size_t>(forest_.right[first + node]) == right &&
           have_same_split(first + level, first + node) &&
           is_symmetric(first, node + 1, level + 1, depth) &&
           is_symmetric(first, right, level + 1, depth);
  }

  bool have_same_split(size_t a, size_t b) const {
    const SplitView of_a = view_split(forest_, a), of_b = view_split(forest_, b);
    return !of_a.is_category && forest_.flags[a] == forest_.flags[b] &&
           forest_.threshold[a] == forest_.threshold[b] &&
           std::ranges::equal(of_a.index, of_b.index) &&
           std::ranges::equal(of_a.weight, of_b.weight) &&
           std::ranges::equal(of_a.level, of_b.level);
  }

  void add_level(size_t node) {
    SymmetricTrees& symmetric = packed_.symmetric;
    const SplitView split = view_split(forest_, node);
    symmetric.level.push_back({forest_.threshold[node], static_cast<int32_t>(split.index.size()),
                               static_cast<uint32_t>(symmetric.feature.size())});
    for (size_t k = 0; k < split.index.size(); ++k) {
      symmetric.feature.push_back(place(split, k));
      symmetric.weight.push_back(split.weight[k]);
    }
  }

  int32_t add_leaf(size_t node) {
    if (forest_.n_classes == 0 && packed_.n_outputs > 0) return next_leaf_++;
    if (forest_.n_classes == 0) {
      packed_.leaf_value.push_back(forest_.leaf_value[node]);
      if (forest_.has_leaf_models()) add_leaf_terms(node);
      return static_cast<int32_t>(packed_.leaf_value.size() - 1);
    }
    const SplitView leaf = view_split(forest_, node);
    BEVEL_CHECK(!leaf.index.empty());
    const bool one_output = packed_.n_outputs == 0;
    if (one_output && leaf.index.size() == 1 && leaf.weight[0] == 1.0f) return leaf.index[0];
    if (packed_.share_offset.empty()) packed_.share_offset.push_back(0);
    packed_.share_class.insert(packed_.share_class.end(), leaf.index.begin(), leaf.index.end());
    packed_.share.insert(packed_.share.end(), leaf.weight.begin(), leaf.weight.end());
    packed_.share_offset.push_back(static_cast<uint32_t>(packed_.share.size()));
    if (one_output) {
      packed_.vote.push_back(largest(leaf, 0, leaf.index.size()));
    } else {
      add_votes(leaf);
    }
    return forest_.n_classes + static_cast<int32_t>(packed_.share_offset.size() - 2);
  }

  void add_leaf_terms(size_t node) {
    if (packed_.leaf_terms_offset.empty()) packed_.leaf_terms_offset.push_back(0);
    for (int64_t e = forest_.entry_offset[node]; e < forest_.entry_offset[node + 1]; ++e)
      packed_.leaf_terms.push_back(forest_.leaf_term(e));
    require(packed_.leaf_terms.size() <= std::numeric_limits<uint32_t>::max(),
            "[PackedForest] more coefficients than 32 bits count; predict with fewer trees");
    packed_.leaf_terms_offset.push_back(static_cast<uint32_t>(packed_.leaf_terms.size()));
  }

  // Class of the largest of the shares [first, last); ties go to the first.
  static int32_t largest(const SplitView& leaf, size_t first, size_t last) {
    const auto begin = leaf.weight.begin();
    const auto best = std::max_element(begin + static_cast<ptrdiff_t>(first),
                                       begin + static_cast<ptrdiff_t>(last));
    return leaf.index[static_cast<size_t>(best - begin)];
  }

  // Adds one vote for each output.
  void add_votes(const SplitView& leaf) {
    size_t first = 0;
    int32_t above = 0;
    for (const int32_t n : forest_.output_classes) {
      above += n;
      size_t last = first;
      while (last < leaf.index.size() && leaf.index[last] < above) ++last;
      packed_.vote.push_back(largest(leaf, first, last));
      first = last;
    }
  }

  const ForestArrays& forest_;
  PackedForest& packed_;
  size_t n_splits_ = 0;
  int32_t next_leaf_ = 0;
  std::unordered_map<uint64_t, int32_t> level_place_;  // by key() of a level term
  std::vector<Child> children_;  // references to the nodes of one tree by their parents
};

}  // namespace

PackedForest::PackedForest(const ForestArrays& forest, const std::string& simd)
    : n_classes(forest.n_classes),
      kernels(find_top_level_kernels(simd)),
      n_outputs(forest.n_outputs()),
      output_value(forest.output_value) {
  Packer(forest, *this).run();
}

size_t PackedForest::nbytes() const {
  auto size = [](const auto& array) { return array.size() * sizeof(array[0]); };
  size_t total = std::visit(size, nodes) + size(roots) + size(first_split) + size(medians) +
                 size(general) + size(general_place) + size(general_weight) + size(bits) +
                 size(missing_left) + size(share_offset) + size(share_class) + size(share) +
                 size(vote) + size(leaf_value) + size(leaf_terms) + size(leaf_terms_offset) +
                 size(symmetric.tree) + size(symmetric.level) + size(symmetric.feature) +
                 size(symmetric.weight) + size(repeats);  // output_value is the forest's
  for (const TreeAxesProduct& product : axes) total += product.nbytes();
  return total;
}

}  // namespace bevel
