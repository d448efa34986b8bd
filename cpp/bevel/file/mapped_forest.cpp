#include "bevel/file/mapped_forest.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "bevel/file/fault.h"
#include "bevel/file/leaf_limits.h"
#include "bevel/predict/parallel_rows.h"
#include "bevel/tree/node_store.h"

namespace bevel {
namespace {

constexpr size_t kWorkOfRead = 32;  // work of reading a packed number, for polls of cancellation
constexpr size_t kMaxOutputs = size_t{1} << 24;

// Checks that a number from the file is in [least, end).
size_t within(int64_t value, size_t least, size_t end, const char* what) {
  if (value < 0 || static_cast<size_t>(value) < least || static_cast<size_t>(value) >= end)
    fault(std::string(what) + " must be at least " + std::to_string(least) + " and less than " +
          std::to_string(end) + "; got " + std::to_string(value) + ".");
  return static_cast<size_t>(value);
}

void check_length(const Column* column, size_t n, const char* name) {
  if (column->size() != n)
    fault("Column " + std::string(name) + " must have " + std::to_string(n) + " values; got " +
          std::to_string(column->size()) + ".");
}

}  // namespace

MappedForest::MappedForest(const ForestColumns& columns, int32_t n_features, int32_t n_classes,
                           std::span<const int32_t> levels, std::span<const float> medians)
    : columns_(columns),
      n_features_(n_features),
      n_classes_(n_classes),
      levels_(levels),
      medians_(medians) {
  if (n_features < 1 || n_classes < 0)
    fault("A forest must have features, and no negative number of classes.");
  const auto p = static_cast<size_t>(n_features);
  if (levels.size() != p || medians.size() != p)
    fault("Levels and medians must have one entry for each of " + std::to_string(p) + " features.");
  read_tree_offset();
  read_outputs();
  check_lengths();
}

void MappedForest::read_tree_offset() {
  constexpr size_t kMaxNodes = std::numeric_limits<int32_t>::max();  // of a tree
  const Column& column = *columns_.tree_offset;
  if (column.size() < 2) fault("A forest must have a tree.");
  tree_offset_.push_back(within(column.at(0), 0, 1, "The first tree_offset"));
  for (size_t i = 1; i < column.size(); ++i) {
    const size_t before = tree_offset_.back();
    tree_offset_.push_back(
        within(column.at(i), before + 1, before + kMaxNodes, "The next tree_offset"));
  }
}

void MappedForest::read_outputs() {
  const Column& column = *columns_.output_classes;
  const auto k = static_cast<size_t>(n_classes_);
  if (column.size() > kMaxOutputs) fault("A forest must have fewer outputs than 2^24.");
  size_t sum = 0;
  for (size_t i = 0; i < column.size(); ++i) {
    output_classes_.push_back(
        within(column.at(i), k > 0 ? 1 : 0, k > 0 ? k + 1 : 1, "output_classes"));
    sum += output_classes_.back();
  }
  if (column.size() == 1 || (column.size() > 0 && sum != k))
    fault("output_classes must be of two outputs or more and sum to the number of classes.");
}

void MappedForest::check_lengths() const {
  const ForestCounts counts{.trees = n_trees(),
                            .nodes = tree_offset_.back(),
                            .entries = columns_.entry_index->size(),
                            .sets = columns_.bits_offset->size() - 1,
                            .words = columns_.bits->size(),
                            .axes = columns_.rotation_entry_offset->size() - 1,
                            .axis_entries = columns_.rotation_index->size(),
                            .outputs = n_outputs(),
                            .is_regression = n_classes_ == 0};
  if (columns_.entry_low->size() > 0 && (n_classes_ > 0 || n_outputs() > 0))
    fault("Only leaves of one value may have linear models.");
  if (columns_.entry_low->size() != columns_.entry_high->size())
    fault("Columns entry_low and entry_high must have equal lengths.");
  for_each_column(columns_, [&](const ForestField& field, const Column* column) {
    if (field.use == FieldUse::analysis) return;  // no walk reads it
    if (field.kind == FieldKind::optional && column->size() == 0) return;
    check_length(column, length_of(field, counts), field.name);
  });
}

// Nodes, and with them entries, are passed in ascending order: no walk is longer than its tree.
MappedForest::Leaf MappedForest::leaf_of(size_t tree, const Row& row) const {
  const size_t end = tree_offset_[tree + 1];
  size_t node = tree_offset_[tree], passed = 0, leaf = (node + tree) / 2;
  for (;;) {
    const size_t n_entries = columns_.entry_index->size();
    const size_t first =
        within(columns_.entry_offset->at(node), passed, n_entries + 1, "entry_offset");
    const size_t last =
        within(columns_.entry_offset->at(node + 1), first, n_entries + 1, "entry_offset");
    const Range entries{first, last};
    poll_cancellation((1 + entries.size()) * kWorkOfRead);
    const int64_t left_leaves = columns_.left_leaves->at(node);
    if (left_leaves == 0) return {node, entries, leaf};
    const size_t jump = 2 * within(left_leaves, 1, end - node, "left_leaves");
    const size_t right = within(static_cast<int64_t>(node + jump), node + 2, end, "A right child");
    const bool left = goes_left(tree, node, entries, row);
    if (!left) leaf += jump / 2;
    node = left ? node + 1 : right;
    passed = last;
  }
}

bool MappedForest::goes_left(size_t tree, size_t node, const Range& entries, const Row& row) const {
  if (entries.size() == 0) fault("A split must have entries; got none.");
  const int64_t flags = columns_.flags->at(node);
  const bool missing_left = flags & kMissingLeft;
  if (flags & kCategoryNode) return level_goes_left(node, entries.first, missing_left, row);
  const float value = projected(tree, entries, row);
  return value <= columns_.threshold->real(node) || (missing_left && value != value);
}

bool MappedForest::level_goes_left(size_t node, size_t entry, bool unseen, const Row& row) const {
  const auto p = static_cast<size_t>(n_features_);
  const size_t feature = within(columns_.entry_index->at(entry), 0, p, "A nominal feature");
  const float code = row[feature];
  if (!(code >= 0.0f && code < static_cast<float>(levels_[feature]))) return unseen;
  const auto level = static_cast<size_t>(code);
  const size_t n_offsets = columns_.bits_offset->size();
  const size_t set =
      within(columns_.bits_index->at(node), 0, n_offsets ? n_offsets - 1 : 0, "bits_index");
  const size_t n_words = columns_.bits->size();
  const size_t last = within(columns_.bits_offset->at(set + 1), 0, n_words + 1, "bits_offset");
  const size_t first = within(columns_.bits_offset->at(set), 0, last + 1, "bits_offset");
  const size_t word = within(static_cast<int64_t>(first + level / 32), first, last, "A level");
  return (columns_.bits->at(word) >> (level % 32)) & 1;
}

// float32 in the order of the entries. With two features or more a missing one counts as its
// median.
float MappedForest::projected(size_t tree, const Range& entries, const Row& row) const {
  float sum = 0.0f;
  for (size_t e = entries.first; e < entries.last; ++e) {
    const int64_t index = columns_.entry_index->at(e);
    const int64_t level = columns_.entry_level->size() > 0 ? columns_.entry_level->at(e) : -1;
    float x;
    if (level >= 0) {
      const size_t feature = within(index, 0, static_cast<size_t>(n_features_), "A feature");
      x = row[feature] == static_cast<float>(level) ? 1.0f : 0.0f;
    } else if (index >= n_features_) {
      x = rotated(tree, index - n_features_, row);
    } else {
      const size_t feature = within(index, 0, static_cast<size_t>(n_features_), "A feature");
      x = row[feature];
      if (x != x && entries.size() > 1) x = medians_[feature];
    }
    const float term = columns_.entry_weight->real(e) * x;
    sum = e == entries.first ? term : sum + term;
  }
  return sum + 0.0f;
}

float MappedForest::rotated(size_t tree, int64_t axis, const Row& row) const {
  const auto p = static_cast<size_t>(n_features_);
  const size_t n_offsets = columns_.rotation_entry_offset->size();
  const size_t end =
      within(columns_.rotation_offset->at(tree + 1), 0, n_offsets, "rotation_offset");
  const size_t begin = within(columns_.rotation_offset->at(tree), 0, end + 1, "rotation_offset");
  const size_t column = begin + within(axis, 0, end - begin, "An axis of a rotation");
  const size_t n_entries = columns_.rotation_index->size();
  const size_t first =
      within(columns_.rotation_entry_offset->at(column), 0, n_entries + 1, "rotation_entry_offset");
  const size_t last = within(columns_.rotation_entry_offset->at(column + 1), first,
                             std::min(n_entries, first + p) + 1, "rotation_entry_offset");
  poll_cancellation((last - first) * kWorkOfRead);
  float sum = 0.0f;
  for (size_t e = first; e < last; ++e) {
    const size_t feature = within(columns_.rotation_index->at(e), 0, p, "A feature of a rotation");
    float x = row[feature];
    if (x != x) x = medians_[feature];
    const float term = columns_.rotation_weight->real(e) * x;
    sum = e == first ? term : sum + term;
  }
  return sum + 0.0f;
}

size_t MappedForest::class_of(size_t entry, size_t low, size_t high) const {
  return within(columns_.entry_index->at(entry), low, high, "A class");
}

float MappedForest::share_of(size_t entry) const {
  const float share = columns_.entry_weight->real(entry);
  if (!is_share(share)) fault("The share of a class must be from 0 to 1.");
  return share;
}

void MappedForest::add_shares(const Leaf& leaf, bool hard, double* sums) const {
  const auto k = static_cast<size_t>(n_classes_);
  if (output_classes_.empty()) return add_shares_of(leaf.entries, 0, k, hard, sums);
  Range entries{leaf.entries.first, leaf.entries.first};
  size_t low = 0;
  for (const size_t n : output_classes_) {  // entries of each output follow one another
    const size_t high = low + n, end = std::min(leaf.entries.last, entries.first + n);
    while (entries.last < end && class_of(entries.last, low, k) < high) ++entries.last;
    poll_cancellation(entries.size() * kWorkOfRead);
    add_shares_of(entries, low, high, hard, sums);
    low = high;
    entries.first = entries.last;
  }
}

// Adds the shares of entries whose classes are from low to high - 1.
void MappedForest::add_shares_of(const Range& entries, size_t low, size_t high, bool hard,
                                 double* sums) const {
  const auto [first, last] = entries;
  within(static_cast<int64_t>(entries.size()), 1, high - low + 1,
         "The number of classes in a leaf");
  double sum = 0.0;
  size_t best = first;
  float largest = 0.0f;
  for (size_t e = first; e < last; ++e) {
    const float share = share_of(e);
    sum += share;
    if (!hard) sums[class_of(e, low, high)] += share;
    if (share <= largest) continue;
    best = e;
    largest = share;
  }
  if (!is_sum_of_shares(sum)) fault("The shares of the classes in a leaf must sum to 1.");
  if (hard) sums[class_of(best, low, high)] += 1.0;
}

void MappedForest::add_values(const Leaf& leaf, double* sums) const {
  const Column& column = *columns_.output_value;
  const size_t m = n_outputs();
  const size_t first =
      m * within(static_cast<int64_t>(leaf.number), 0, column.size() / m, "The number of a leaf");
  poll_cancellation(m * kWorkOfRead);
  for (size_t k = 0; k < m; ++k) {
    const auto value = std::bit_cast<double>(column.at(first + k));
    if (!is_leaf_value(value))
      fault("The values of a leaf must be finite and at most 1e65 in size.");
    sums[k] += value;
  }
}

double MappedForest::value_of(const Leaf& leaf, const Row& row) const {
  auto value = std::bit_cast<double>(columns_.leaf_value->at(leaf.node));
  double largest = std::abs(value);
  if (columns_.entry_low->size() > 0)
    for (size_t e = leaf.entries.first; e < leaf.entries.last; ++e) {
      const LeafTerm term = leaf_term(e);
      const auto feature = static_cast<size_t>(term.feature);
      value += term.value(row[feature], medians_[feature]);
      largest += term.largest();
    }
  if (!is_leaf_value(largest))
    fault("The value of a leaf must be finite and at most 1e65 in size.");
  return value;
}

LeafTerm MappedForest::leaf_term(size_t entry) const {
  poll_cancellation(kWorkOfRead * 4);
  const auto p = static_cast<size_t>(n_features_);
  const size_t feature = within(columns_.entry_index->at(entry), 0, p, "A feature of a leaf");
  const LeafTerm term{static_cast<int32_t>(feature), columns_.entry_weight->real(entry),
                      columns_.entry_low->real(entry), columns_.entry_high->real(entry)};
  if (!term.is_sound())
    fault("A term of a leaf must have a finite coefficient and an ascending range.");
  return term;
}

template <class Add, class Finish>
void MappedForest::over_leaves(const RowMatrix& rows, int n_threads, Add add, Finish finish) const {
  parallel_rows(n_trees(), rows.n_rows, n_threads, [&](size_t first, size_t last) {
    for (size_t tree = 0; tree < n_trees(); ++tree)
      for (size_t i = first; i < last; ++i)
        add(i, tree, leaf_of(tree, {rows.values + i * rows.row_stride, rows.feature_stride}));
    for (size_t i = first; i < last; ++i) finish(i);
  });
}

void MappedForest::apply(const RowMatrix& rows, int n_threads, int32_t* out) const {
  auto add = [&](size_t i, size_t tree, const Leaf& leaf) {
    out[i * n_trees() + tree] = static_cast<int32_t>(leaf.node - tree_offset_[tree]);
  };
  over_leaves(rows, n_threads, add, [](size_t) {});
}

void MappedForest::predict_proba(const RowMatrix& rows, int n_threads, bool hard,
                                 double* out) const {
  const auto k = static_cast<size_t>(n_classes_);
  std::fill(out, out + rows.n_rows * k, 0.0);
  auto add = [&](size_t i, size_t, const Leaf& leaf) { add_shares(leaf, hard, out + i * k); };
  over_leaves(rows, n_threads, add, [&](size_t i) {
    for (size_t c = i * k; c < (i + 1) * k; ++c) out[c] /= static_cast<double>(n_trees());
  });
}

void MappedForest::predict_value(const RowMatrix& rows, int n_threads, double* out) const {
  const size_t m = std::max<size_t>(1, n_outputs());
  std::fill(out, out + rows.n_rows * m, 0.0);
  auto add = [&](size_t i, size_t, const Leaf& leaf) {
    if (output_classes_.empty())
      out[i] += value_of(leaf, {rows.values + i * rows.row_stride, rows.feature_stride});
    else
      add_values(leaf, out + i * m);
  };
  over_leaves(rows, n_threads, add, [&](size_t i) {
    for (size_t c = i * m; c < (i + 1) * m; ++c) out[c] /= static_cast<double>(n_trees());
  });
}

}  // namespace bevel
