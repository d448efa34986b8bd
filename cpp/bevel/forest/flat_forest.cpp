#include "bevel/forest/flat_forest.h"

#include <algorithm>
#include <stdexcept>

namespace bevel {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Copies offsets that start at 0 behind those that are there.
void append_offsets(std::vector<int64_t>& to, const std::vector<int64_t>& from) {
  const int64_t base = to.back();
  for (size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
}

// Keeps the axes that some node uses, and numbers them anew in the nodes.
void append_rotation(FlatForest& forest, GrownTree& tree, int32_t n_features) {
  const TreeRotation& rotation = tree.rotation;
  std::vector<int32_t> kept(static_cast<size_t>(rotation.n_axes()), -1);
  int32_t n_kept = 0;
  NodeStore& nodes = tree.nodes;
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (nodes.right[node] < 0) continue;
    for (int64_t e = nodes.entry_offset[node]; e < nodes.entry_offset[node + 1]; ++e) {
      int32_t& index = nodes.entry_index[e];
      if (index < n_features) continue;
      int32_t& place = kept[index - n_features];
      if (place < 0) {
        place = n_kept++;
        const float* axis = rotation.axis(index - n_features);
        append(forest.rotation_index, rotation.features);
        forest.rotation_weight.insert(forest.rotation_weight.end(), axis, axis + rotation.n_axes());
        forest.rotation_entry_offset.push_back(static_cast<int64_t>(forest.rotation_index.size()));
      }
      index = n_features + place;
    }
  }
  forest.rotation_offset.push_back(forest.rotation_offset.back() + n_kept);
}

}  // namespace

FlatForest flatten(std::vector<GrownTree>& trees, int32_t n_features, bool is_regression) {
  FlatForest forest;
  size_t n_nodes = 0, n_entries = 0;
  bool has_categories = false;
  for (const GrownTree& tree : trees) {
    n_nodes += tree.nodes.size();
    n_entries += tree.nodes.entry_index.size();
    has_categories |= !tree.nodes.bits.empty();
  }
  forest.right.reserve(n_nodes);
  forest.threshold.reserve(n_nodes);
  forest.flags.reserve(n_nodes);
  forest.gain.reserve(n_nodes);
  forest.weight.reserve(n_nodes);
  forest.entry_offset.reserve(n_nodes + 1);
  forest.entry_index.reserve(n_entries);
  forest.entry_weight.reserve(n_entries);
  if (is_regression) forest.leaf_value.reserve(n_nodes);
  for (GrownTree& tree : trees) {
    append_rotation(forest, tree, n_features);
    NodeStore& nodes = tree.nodes;
    append(forest.right, nodes.right);
    append(forest.threshold, nodes.threshold);
    append(forest.flags, nodes.flags);
    append(forest.gain, nodes.gain);
    append(forest.weight, nodes.weight);
    append_offsets(forest.entry_offset, nodes.entry_offset);
    append(forest.entry_index, nodes.entry_index);
    append(forest.entry_weight, nodes.entry_weight);
    if (is_regression) append(forest.leaf_value, nodes.leaf_value);
    if (has_categories) {
      const auto base = static_cast<int32_t>(forest.bits_offset.size()) - 1;
      for (int32_t set : nodes.bits_index) forest.bits_index.push_back(set < 0 ? -1 : set + base);
      append_offsets(forest.bits_offset, nodes.bits_offset);
      append(forest.bits, nodes.bits);
    }
    forest.tree_offset.push_back(static_cast<int64_t>(forest.right.size()));
    tree = GrownTree{};  // its memory is not needed twice
  }
  return forest;
}

}  // namespace bevel
