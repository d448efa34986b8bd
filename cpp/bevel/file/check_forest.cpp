#include "bevel/file/check_forest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bevel/file/leaf_limits.h"
#include "bevel/support/cancellation.h"
#include "bevel/tree/node_store.h"

namespace bevel {
namespace {

constexpr size_t kWorkOfNode = 16;      // rough work between polls for cancellation
constexpr int32_t kMaxLevels = 65'535;  // including missing
// A gain of zero may be negative after rounding; relative to the largest numbers.
constexpr double kGainSlack = 1e-6;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void check_length(size_t got, size_t wanted, const char* name) {
  if (got != wanted)
    refuse(std::string(name) + " must have " + std::to_string(wanted) + " values; got " +
           std::to_string(got) + ".");
}

// Offsets into an array of `end` values.
void check_offsets(std::span<const int64_t> offsets, size_t end, const char* name) {
  bool sound =
      !offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<int64_t>(end);
  for (size_t i = 1; sound && i < offsets.size(); ++i) sound = offsets[i - 1] <= offsets[i];
  if (!sound)
    refuse(std::string(name) + " must ascend from 0 to " + std::to_string(end) + "; it does not.");
}

// Finds numbers that occur twice in a node or an axis, at a cost that does not depend on the range
// of the numbers.
class RepeatFinder {
 public:
  void resize(size_t n) {
    if (last_owner_.size() < n) last_owner_.resize(n, 0);
  }
  void next_owner() { ++owner_; }
  bool is_repeated(size_t number) { return std::exchange(last_owner_[number], owner_) == owner_; }

 private:
  std::vector<uint64_t> last_owner_;
  uint64_t owner_ = 0;
};

class Checker {
 public:
  explicit Checker(const ForestArrays& forest) : forest_(forest) {}

  void check_table() const;
  void check_outputs() const;
  void check_offsets_and_lengths() const;
  void check_analysis() const;
  void check_rotations();
  void check_sets() const;
  void check_tree(size_t tree);

 private:
  void check_shape(size_t first, size_t last);
  void check_split(size_t node);
  void check_category(size_t node) const;
  void check_set(size_t node, int32_t set, int32_t n_levels) const;
  void check_leaf(size_t node);
  void check_output_values(size_t node);
  void check_model(size_t node);
  void check_value(size_t node) const;
  void check_jumps(size_t node) const;
  void check_shares(size_t node, size_t first, size_t last, int64_t low, int64_t high) const;
  void check_entry(size_t node, int64_t entry) const;
  void check_no_level(size_t node) const;
  int32_t level_of(int64_t entry) const {
    return forest_.level_of_entry(static_cast<size_t>(entry));
  }
  size_t n_entries(size_t node) const {
    return static_cast<size_t>(forest_.entry_offset[node + 1] - forest_.entry_offset[node]);
  }
  bool has_node_values() const { return forest_.n_classes == 0 && forest_.n_outputs() == 0; }
  bool is_category(size_t node) const { return forest_.flags[node] & kCategoryNode; }
  [[noreturn]] void refuse_node(size_t node, const std::string& what) const {
    refuse("Node " + std::to_string(node - first_) + " of tree " + std::to_string(tree_) + ": " +
           what);
  }

  const ForestArrays& forest_;
  size_t tree_ = 0, first_ = 0;  // of the current tree
  int64_t n_indices_ = 0;        // its features and axes
  std::vector<size_t> pending_;  // pending right children, the next one last
  size_t next_value_ = 0;        // in output_value: of the leaves so far
  RepeatFinder repeats_;
  std::vector<std::pair<int32_t, int32_t>> levels_;  // level terms of a direction: feature, level
};

void Checker::check_table() const {
  if (forest_.n_features < 1) refuse("n_features must be at least 1.");
  if (forest_.n_classes < 0) refuse("n_classes must be at least 0.");
  check_outputs();
  const auto p = static_cast<size_t>(forest_.n_features);
  check_length(forest_.levels.size(), p, "levels");
  check_length(forest_.medians.size(), p, "medians");
  for (const int32_t n : forest_.levels)
    if (n < 0 || n > kMaxLevels)
      refuse("levels must be from 0 to " + std::to_string(kMaxLevels) + "; got " +
             std::to_string(n) + ".");
  for (const float median : forest_.medians)
    if (!std::isfinite(median)) refuse("medians must be finite.");
}

// Several outputs: how many classes each has, 0 in regression.
void Checker::check_outputs() const {
  if (forest_.n_outputs() == 0) return;
  if (forest_.n_outputs() == 1)
    refuse("output_classes must have a value for each of two outputs or more; got one.");
  const bool is_regression = forest_.n_classes == 0;
  int64_t sum = 0;
  for (const int32_t n : forest_.output_classes) {
    if (is_regression ? n != 0 : n < 1)
      refuse("output_classes must be at least 1, or 0 in regression; got " + std::to_string(n) +
             ".");
    sum += n;
  }
  if (sum != forest_.n_classes)
    refuse("output_classes must sum to " + std::to_string(forest_.n_classes) + "; got " +
           std::to_string(sum) + ".");
}

void Checker::check_offsets_and_lengths() const {
  check_offsets(forest_.tree_offset, forest_.right.size(), "tree_offset");
  if (forest_.n_trees() == 0) refuse("A forest must have a tree; got none.");
  check_offsets(forest_.entry_offset, forest_.entry_index.size(), "entry_offset");
  check_offsets(forest_.bits_offset, forest_.bits.size(), "bits_offset");
  const auto& axis_offset = forest_.rotation_entry_offset;
  check_offsets(axis_offset, forest_.rotation_index.size(), "rotation_entry_offset");
  check_offsets(forest_.rotation_offset, axis_offset.size() - 1, "rotation_offset");
  const ForestCounts counts{.trees = forest_.n_trees(),
                            .nodes = forest_.right.size(),
                            .entries = forest_.entry_index.size(),
                            .sets = forest_.bits_offset.size() - 1,
                            .words = forest_.bits.size(),
                            .axes = axis_offset.size() - 1,
                            .axis_entries = forest_.rotation_index.size(),
                            .outputs = forest_.output_classes.size(),
                            .is_regression = forest_.n_classes == 0};
  for_each_array(forest_, [&](const ForestField& field, const auto& array) {
    if (field.kind == FieldKind::optional && array.empty()) return;
    check_length(array.size(), length_of(field, counts), field.name);
  });
  check_length(forest_.entry_high.size(), forest_.entry_low.size(), "entry_high");
  if (forest_.has_leaf_models() && !has_node_values())
    refuse("entry_low must be empty unless leaves have one value each.");
}

// Results of analysis are finite if gains, weights and p-values are.
void Checker::check_analysis() const {
  double largest_gain = 0.0, largest_weight = 0.0;
  for (const float gain : forest_.gain) {
    if (!std::isfinite(gain)) refuse("gain must be finite.");
    largest_gain = std::max<double>(largest_gain, gain);
  }
  for (const float weight : forest_.weight) {
    if (!(std::isfinite(weight) && weight >= 0.0f))
      refuse("weight must be finite and not negative; got " + std::to_string(weight) + ".");
    largest_weight = std::max<double>(largest_weight, weight);
  }
  const double lowest = -kGainSlack * (largest_gain + largest_weight);
  for (size_t node = 0; node < forest_.gain.size(); ++node) {
    const float gain = forest_.gain[node];
    if (gain < lowest || (forest_.right[node] < 0 && gain != 0.0f))
      refuse("gain must not be negative, and 0 for leaves; got " + std::to_string(gain) + ".");
  }
  for (const float p : forest_.entry_p_value)
    if (p < 0.0f || p > 1.0f)
      refuse("entry_p_value must be from 0 to 1, or NaN; got " + std::to_string(p) + ".");
}

// Each set belongs to one split, so that loops over the sets of all nodes read each set once.
void Checker::check_sets() const {
  const size_t n_sets = forest_.bits_offset.size() - 1;
  std::vector<bool> is_used(n_sets, false);
  size_t n_used = 0;
  for (const int32_t set : forest_.bits_index) {
    if (set < 0 || static_cast<size_t>(set) >= n_sets) continue;  // check_category refuses it
    if (is_used[static_cast<size_t>(set)])
      refuse("A set of levels must belong to one split; set " + std::to_string(set) +
             " belongs to two.");
    is_used[static_cast<size_t>(set)] = true;
    ++n_used;
  }
  if (n_used != n_sets)
    refuse("Each of " + std::to_string(n_sets) + " sets of levels must belong to a split; " +
           std::to_string(n_used) + " do.");
}

void Checker::check_rotations() {
  const auto& offset = forest_.rotation_entry_offset;
  for (const int32_t index : forest_.rotation_index)
    if (index < 0 || index >= forest_.n_features || forest_.levels[index] > 0)
      refuse("rotation_index must name numeric features; got " + std::to_string(index) + ".");
  repeats_.resize(static_cast<size_t>(forest_.n_features));
  for (size_t axis = 0; axis + 1 < offset.size(); ++axis) {
    if (offset[axis + 1] == offset[axis]) refuse("An axis must have a feature; got none.");
    repeats_.next_owner();
    for (int64_t e = offset[axis]; e < offset[axis + 1]; ++e)
      if (repeats_.is_repeated(static_cast<size_t>(forest_.rotation_index[e])))
        refuse("An axis must combine each feature once; got feature " +
               std::to_string(forest_.rotation_index[e]) + " twice.");
  }
  for (const float weight : forest_.rotation_weight)
    if (!std::isfinite(weight)) refuse("rotation_weight must be finite.");
}

void Checker::check_tree(size_t tree) {
  tree_ = tree;
  first_ = static_cast<size_t>(forest_.tree_offset[tree]);
  n_indices_ =
      forest_.n_features + forest_.rotation_offset[tree + 1] - forest_.rotation_offset[tree];
  repeats_.resize(static_cast<size_t>(n_indices_));
  const auto last = static_cast<size_t>(forest_.tree_offset[tree + 1]);
  if (last == first_ || last - first_ > std::numeric_limits<int32_t>::max())
    refuse("Tree " + std::to_string(tree) + " must have from 1 to 2^31 - 1 nodes; got " +
           std::to_string(last - first_) + ".");
  check_shape(first_, last);
  for (size_t node = first_; node < last; ++node) {
    poll_cancellation(n_entries(node) + kWorkOfNode);
    if (forest_.flags[node] > (kMissingLeft | kCategoryNode)) refuse_node(node, "unknown flags.");
    if (!std::isfinite(forest_.threshold[node])) refuse_node(node, "its threshold must be finite.");
    if (!is_category(node) && !forest_.bits_index.empty() && forest_.bits_index[node] != -1)
      refuse_node(node, "only a split by levels may have a set of levels.");
    if (forest_.right[node] < 0 || is_category(node)) check_no_level(node);
    forest_.right[node] < 0 ? check_leaf(node) : check_split(node);
  }
}

// In preorder a leaf is followed by the pending right child that was met last. If that holds for
// every leaf, each node but the root is the child of exactly one node before it.
void Checker::check_shape(size_t first, size_t last) {
  pending_.clear();
  for (size_t node = first; node < last; ++node) {
    const int64_t right = forest_.right[node];
    if (right >= 0) {
      const size_t end = pending_.empty() ? last : pending_.back();
      const size_t child = first + static_cast<size_t>(right);
      if (child <= node + 1 || child >= end)
        refuse_node(node, "its right child must be from " + std::to_string(node + 2 - first) +
                              " to " + std::to_string(end - first - 1) + "; got " +
                              std::to_string(right) + ".");
      pending_.push_back(child);
    } else if (right != -1) {
      refuse_node(node,
                  "a leaf must have -1 as its right child; got " + std::to_string(right) + ".");
    } else {
      if ((pending_.empty() ? last : pending_.back()) != node + 1)
        refuse_node(node + 1, "a node must be the child of one node; it is not.");
      if (!pending_.empty()) pending_.pop_back();
    }
  }
  if (!pending_.empty()) refuse_node(last - 1, "the last node must be a leaf.");
}

void Checker::check_split(size_t node) {
  if (n_entries(node) == 0) refuse_node(node, "a split must have a feature; got none.");
  if (has_node_values()) check_value(node);
  if (is_category(node)) return check_category(node);
  repeats_.next_owner();
  levels_.clear();
  for (int64_t e = forest_.entry_offset[node]; e < forest_.entry_offset[node + 1]; ++e) {
    check_entry(node, e);
    if (level_of(e) >= 0)
      levels_.emplace_back(forest_.entry_index[e], level_of(e));
    else if (repeats_.is_repeated(static_cast<size_t>(forest_.entry_index[e])))
      refuse_node(node, "a direction must combine each feature once; got feature " +
                            std::to_string(forest_.entry_index[e]) + " twice.");
  }
  std::sort(levels_.begin(), levels_.end());
  const auto twice = std::adjacent_find(levels_.begin(), levels_.end());
  if (twice != levels_.end())
    refuse_node(node, "a direction must combine each level once; got level " +
                          std::to_string(twice->second) + " of feature " +
                          std::to_string(twice->first) + " twice.");
}

void Checker::check_no_level(size_t node) const {
  for (int64_t e = forest_.entry_offset[node]; e < forest_.entry_offset[node + 1]; ++e)
    if (level_of(e) != -1)
      refuse_node(node,
                  "only directions combine levels; got level " + std::to_string(level_of(e)) + ".");
}

void Checker::check_entry(size_t node, int64_t entry) const {
  const int32_t index = forest_.entry_index[entry];
  if (index < 0 || index >= n_indices_)
    refuse_node(node, "its features must be from 0 to " + std::to_string(n_indices_ - 1) +
                          "; got " + std::to_string(index) + ".");
  const bool is_nominal = index < forest_.n_features && forest_.levels[index] > 0;
  const int32_t level = level_of(entry);
  if (level < -1) refuse_node(node, "entry_level must be at least -1.");
  if (level >= 0 && (!is_nominal || level >= forest_.levels[index]))
    refuse_node(node, "a level term must name a level of a nominal feature; got level " +
                          std::to_string(level) + " of feature " + std::to_string(index) + ".");
  if (level < 0 && is_nominal)
    refuse_node(node, "a direction must combine numeric features; got feature " +
                          std::to_string(index) + ", which is nominal.");
  if (!std::isfinite(forest_.entry_weight[entry]))
    refuse_node(node, "its coefficients must be finite.");
}

void Checker::check_category(size_t node) const {
  const int32_t feature = forest_.entry_index[forest_.entry_offset[node]];
  if (n_entries(node) != 1 || feature < 0 || feature >= forest_.n_features ||
      forest_.levels[feature] == 0)
    refuse_node(node, "a split by levels must have one nominal feature; got " +
                          std::to_string(n_entries(node)) + ", the first of them " +
                          std::to_string(feature) + ".");
  if (!std::isfinite(forest_.entry_weight[forest_.entry_offset[node]]))
    refuse_node(node, "its coefficients must be finite.");
  const auto n_sets = static_cast<int64_t>(forest_.bits_offset.size()) - 1;
  const int32_t set = forest_.bits_index.empty() ? -1 : forest_.bits_index[node];
  if (set < 0 || set >= n_sets)
    refuse_node(node, "its set of levels must be from 0 to " + std::to_string(n_sets - 1) +
                          "; got " + std::to_string(set) + ".");
  check_set(node, set, forest_.levels[feature]);
}

void Checker::check_set(size_t node, int32_t set, int32_t n_levels) const {
  const int64_t first = forest_.bits_offset[set], last = forest_.bits_offset[set + 1];
  if (last - first != (n_levels + 31) / 32)
    refuse_node(node, "its set of levels must have a bit for each of " + std::to_string(n_levels) +
                          " levels; it has " + std::to_string(32 * (last - first)) + ".");
  if (n_levels % 32 != 0 && forest_.bits[last - 1] >> (n_levels % 32) != 0)
    refuse_node(node, "its set of levels must have no bit beyond the levels; it has one.");
}

void Checker::check_leaf(size_t node) {
  if (forest_.flags[node] != 0) refuse_node(node, "a leaf must have no flags.");
  if (forest_.n_classes == 0) {
    if (forest_.has_leaf_models()) return check_model(node);
    check_jumps(node);
    return has_node_values() ? check_value(node) : check_output_values(node);
  }
  if (n_entries(node) == 0) refuse_node(node, "a leaf must have a class; got none.");
  if (forest_.n_outputs() == 0) return check_shares(node, 0, n_entries(node), 0, forest_.n_classes);
  size_t first = 0;
  int64_t label = 0;
  for (const int32_t n : forest_.output_classes) {  // entries of each output follow one another
    size_t last = first;
    while (last < n_entries(node) &&
           forest_.entry_index[static_cast<size_t>(forest_.entry_offset[node]) + last] < label + n)
      ++last;
    check_shares(node, first, last, label, label + n);
    first = last;
    label += n;
  }
  if (first != n_entries(node))
    refuse_node(node, "its classes must be less than " + std::to_string(label) + ".");
}

// Leaves come in the order of their nodes.
void Checker::check_output_values(size_t node) {
  for (size_t k = 0; k < forest_.n_outputs(); ++k, ++next_value_)
    if (!is_leaf_value(forest_.output_value[next_value_]))
      refuse_node(node, "its values must be finite and at most 1e65 in size.");
}

void Checker::check_value(size_t node) const {
  if (!is_leaf_value(forest_.leaf_value[node]))
    refuse_node(node, "its value must be finite and at most 1e65 in size.");
}

// Terms on numeric features, each once; a tree without splits has none.
void Checker::check_model(size_t node) {
  if (node == first_ && n_entries(node) > 0)
    refuse_node(node, "only leaves below a split may have a linear model.");
  double largest = std::abs(forest_.leaf_value[node]);
  repeats_.next_owner();
  for (int64_t e = forest_.entry_offset[node]; e < forest_.entry_offset[node + 1]; ++e) {
    const LeafTerm term = forest_.leaf_term(e);
    if (term.feature < 0 || term.feature >= forest_.n_features || forest_.levels[term.feature] > 0)
      refuse_node(node, "the model of a leaf must name numeric features; got " +
                            std::to_string(term.feature) + ".");
    if (repeats_.is_repeated(static_cast<size_t>(term.feature)))
      refuse_node(node, "the model of a leaf must have each feature once; got feature " +
                            std::to_string(term.feature) + " twice.");
    if (!term.is_sound())
      refuse_node(node, "a term of a leaf must have a finite coefficient and an ascending range.");
    largest += term.largest();
  }
  if (!is_leaf_value(largest))
    refuse_node(node, "its value must be finite and at most 1e65 in size.");
}

// Entries [first, last) of the node: classes from low to high - 1, and shares that sum to 1.
void Checker::check_shares(size_t node, size_t first, size_t last, int64_t low,
                           int64_t high) const {
  int64_t before = low - 1;
  double sum = 0.0;
  for (size_t k = first; k < last; ++k) {
    const size_t e = static_cast<size_t>(forest_.entry_offset[node]) + k;
    const int32_t label = forest_.entry_index[e];
    if (label <= before || label >= high)
      refuse_node(node, "its classes must ascend from " + std::to_string(low) + " to at most " +
                            std::to_string(high - 1) + "; got " + std::to_string(label) + ".");
    before = label;
    const float share = forest_.entry_weight[e];
    if (!is_share(share))
      refuse_node(node, "the shares of its classes must be from 0 to 1; got " +
                            std::to_string(share) + ".");
    sum += share;
  }
  if (!is_sum_of_shares(sum))
    refuse_node(node, "the shares of its classes must sum to 1; got " + std::to_string(sum) + ".");
}

// Leaves of a survival forest: event times and the jumps of the hazard at them. Whether a forest
// may have any, and how many event times there are, is known to the reader of the file.
void Checker::check_jumps(size_t node) const {
  int64_t before = -1;
  for (int64_t e = forest_.entry_offset[node]; e < forest_.entry_offset[node + 1]; ++e) {
    const int32_t time = forest_.entry_index[e];
    if (time <= before) refuse_node(node, "its event times must ascend from 0; they do not.");
    before = time;
    const float jump = forest_.entry_weight[e];
    if (!(jump > 0.0f && jump <= 1.0f))
      refuse_node(node, "the jumps of its hazard must be above 0 and at most 1; got " +
                            std::to_string(jump) + ".");
  }
}

}  // namespace

void check_forest(const ForestArrays& forest) {
  Checker checker(forest);
  checker.check_table();
  checker.check_offsets_and_lengths();
  checker.check_rotations();
  for (size_t tree = 0; tree < forest.n_trees(); ++tree) checker.check_tree(tree);
  checker.check_sets();
  checker.check_analysis();
}

}  // namespace bevel
