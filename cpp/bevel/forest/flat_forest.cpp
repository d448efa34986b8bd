#include "bevel/forest/flat_forest.h"

#include <algorithm>
#include <utility>

#include "bevel/support/cancellation.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace bevel {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Returns freed memory to the system, where allocators keep it.
void release_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Joins one array of all trees. The arrays of the trees are freed at once, so that a forest is
// never held twice. twice.
template <class T>
void join(std::vector<GrownTree>& trees, std::vector<T> NodeStore::* array, std::vector<T>& out) {
  size_t n = 0;
  for (const GrownTree& tree : trees) n += (tree.nodes.*array).size();
  out.reserve(n);
  for (GrownTree& tree : trees) {
    poll_cancellation((tree.nodes.*array).size());
    append(out, tree.nodes.*array);
    std::vector<T>().swap(tree.nodes.*array);
  }
  release_freed_memory();
}

// Joins offsets, which start at 0 in each tree and are cumulative in the forest.
void join_offsets(std::vector<GrownTree>& trees, std::vector<int64_t> NodeStore::* array,
                  std::vector<int64_t>& out) {
  size_t n = 1;
  for (const GrownTree& tree : trees) n += (tree.nodes.*array).size() - 1;
  out.reserve(n);
  for (GrownTree& tree : trees) {
    poll_cancellation((tree.nodes.*array).size());
    const int64_t base = out.back();
    const std::vector<int64_t>& own = tree.nodes.*array;
    for (size_t i = 1; i < own.size(); ++i) out.push_back(base + own[i]);
    std::vector<int64_t>().swap(tree.nodes.*array);
  }
  release_freed_memory();
}

void append_axes(FlatForest& forest, const Candidates& axes) {
  const int64_t base = forest.rotation_entry_offset.back();
  for (size_t axis = 0; axis < axes.size(); ++axis)
    forest.rotation_entry_offset.push_back(base + axes.offset[axis + 1]);
  append(forest.rotation_index, axes.index);
  append(forest.rotation_weight, axes.weight);
  forest.rotation_offset.push_back(forest.rotation_offset.back() +
                                   static_cast<int64_t>(axes.size()));
}

}  // namespace

GrownTree with_used_axes(NodeStore&& nodes, const Candidates& axes, int32_t n_features) {
  GrownTree tree{std::move(nodes), {}};
  std::vector<int32_t> place(axes.size(), -1);
  for (size_t node = 0; node < tree.nodes.size(); ++node) {
    if (tree.nodes.right[node] < 0) continue;
    for (int64_t e = tree.nodes.entry_offset[node]; e < tree.nodes.entry_offset[node + 1]; ++e) {
      int32_t& index = tree.nodes.entry_index[e];
      if (index < n_features) continue;
      const auto axis = static_cast<size_t>(index - n_features);
      if (place[axis] < 0) {
        place[axis] = static_cast<int32_t>(tree.axes.size());
        for (int k = 0; k < axes.n_nonzeros(axis); ++k)
          tree.axes.add_entry(axes.indices(axis)[k], axes.weights(axis)[k]);
        tree.axes.close();
      }
      index = n_features + place[axis];
    }
  }
  return tree;
}

void name_level_terms(NodeStore& nodes, const DatasetView& data) {
  const auto n_terms = static_cast<int32_t>(data.level_terms.size());
  if (n_terms == 0) return;
  const int32_t first = data.first_level_term();
  nodes.entry_level.assign(nodes.entry_index.size(), -1);
  bool any = false;
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (nodes.right[node] < 0) continue;
    for (int64_t e = nodes.entry_offset[node]; e < nodes.entry_offset[node + 1]; ++e) {
      int32_t& index = nodes.entry_index[e];
      if (index >= data.n_features) {
        index -= n_terms;
      } else if (index >= first) {
        const LevelTerm& term = data.level_terms[static_cast<size_t>(index - first)];
        index = term.feature;
        nodes.entry_level[e] = term.level;
        any = true;
      }
    }
  }
  if (!any) std::vector<int32_t>().swap(nodes.entry_level);
}

FlatForest flatten(std::vector<GrownTree>& trees, bool is_regression) {
  FlatForest forest;
  bool has_categories = false;
  for (GrownTree& tree : trees) {
    append_axes(forest, tree.axes);
    tree.axes = Candidates();
    forest.tree_offset.push_back(forest.tree_offset.back() +
                                 static_cast<int64_t>(tree.nodes.size()));
    has_categories |= !tree.nodes.bits.empty();
  }
  if (has_categories) {
    int32_t n_sets = 0;
    for (GrownTree& tree : trees) {
      for (int32_t& set : tree.nodes.bits_index)
        if (set >= 0) set += n_sets;
      n_sets += static_cast<int32_t>(tree.nodes.bits_offset.size()) - 1;
    }
    join(trees, &NodeStore::bits_index, forest.bits_index);
    join_offsets(trees, &NodeStore::bits_offset, forest.bits_offset);
    join(trees, &NodeStore::bits, forest.bits);
  } else {
    for (GrownTree& tree : trees) std::vector<int32_t>().swap(tree.nodes.bits_index);
  }
  if (is_regression) join(trees, &NodeStore::leaf_value, forest.leaf_value);
  join(trees, &NodeStore::output_value, forest.output_value);
  join_offsets(trees, &NodeStore::entry_offset, forest.entry_offset);
  const bool recorded = std::any_of(trees.begin(), trees.end(), [](const GrownTree& tree) {
    return !tree.nodes.entry_p_value.empty();
  });
  if (recorded) {
    for (GrownTree& tree : trees) tree.nodes.fill_p_values();
    join(trees, &NodeStore::entry_p_value, forest.entry_p_value);
  }
  const bool has_levels = std::any_of(trees.begin(), trees.end(), [](const GrownTree& tree) {
    return !tree.nodes.entry_level.empty();
  });
  if (has_levels) {
    for (GrownTree& tree : trees) tree.nodes.entry_level.resize(tree.nodes.entry_index.size(), -1);
    join(trees, &NodeStore::entry_level, forest.entry_level);
  }
  const bool has_models = std::any_of(trees.begin(), trees.end(), [](const GrownTree& tree) {
    return !tree.nodes.entry_low.empty();
  });
  if (has_models) {
    for (GrownTree& tree : trees)
      for (auto* array : {&tree.nodes.entry_low, &tree.nodes.entry_high})
        array->resize(tree.nodes.entry_index.size(), 0.0f);
    join(trees, &NodeStore::entry_low, forest.entry_low);
    join(trees, &NodeStore::entry_high, forest.entry_high);
  }
  join(trees, &NodeStore::entry_index, forest.entry_index);
  join(trees, &NodeStore::entry_weight, forest.entry_weight);
  join(trees, &NodeStore::right, forest.right);
  join(trees, &NodeStore::threshold, forest.threshold);
  join(trees, &NodeStore::flags, forest.flags);
  join(trees, &NodeStore::gain, forest.gain);
  join(trees, &NodeStore::weight, forest.weight);
  return forest;
}

}  // namespace bevel
