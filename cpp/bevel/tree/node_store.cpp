#include "bevel/tree/node_store.h"

#include <algorithm>
#include <utility>

namespace bevel {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, size_t first, size_t last) {
  to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(first),
            from.begin() + static_cast<ptrdiff_t>(last));
}

// Values of the leaves among nodes [first, last) of `from`, which come in the order of nodes.
void append_outputs(NodeStore& to, const NodeStore& from, size_t first, size_t last) {
  auto n_leaves = [&](size_t begin, size_t end) {
    return static_cast<size_t>(std::count(from.right.begin() + static_cast<ptrdiff_t>(begin),
                                          from.right.begin() + static_cast<ptrdiff_t>(end), -1));
  };
  const size_t n_outputs = from.output_value.size() / n_leaves(0, from.size());
  const size_t before = n_leaves(0, first);
  append(to.output_value, from.output_value, before * n_outputs,
         (before + n_leaves(first, last)) * n_outputs);
}

// Appends nodes [first, last) of `from`; right children are left for the caller to renumber.
void append_nodes(NodeStore& to, const NodeStore& from, size_t first, size_t last) {
  append(to.right, from.right, first, last);
  append(to.threshold, from.threshold, first, last);
  append(to.flags, from.flags, first, last);
  append(to.gain, from.gain, first, last);
  append(to.weight, from.weight, first, last);
  if (!from.leaf_value.empty()) append(to.leaf_value, from.leaf_value, first, last);
  if (!from.output_value.empty()) append_outputs(to, from, first, last);
  const auto shift = static_cast<int64_t>(to.entry_index.size()) - from.entry_offset[first];
  for (size_t node = first; node < last; ++node) {
    to.entry_offset.push_back(from.entry_offset[node + 1] + shift);
    const int32_t set = from.bits_index[node];
    to.bits_index.push_back(set < 0 ? -1 : static_cast<int32_t>(to.bits_offset.size()) - 1);
    if (set < 0) continue;
    append(to.bits, from.bits, static_cast<size_t>(from.bits_offset[set]),
           static_cast<size_t>(from.bits_offset[set + 1]));
    to.bits_offset.push_back(static_cast<int64_t>(to.bits.size()));
  }
  const auto entry_first = static_cast<size_t>(from.entry_offset[first]);
  const auto entry_last = static_cast<size_t>(from.entry_offset[last]);
  if (const size_t end = std::min(entry_last, from.entry_p_value.size()); end > entry_first) {
    to.fill_p_values();
    append(to.entry_p_value, from.entry_p_value, entry_first, end);
  }
  append(to.entry_index, from.entry_index, entry_first, entry_last);
  append(to.entry_weight, from.entry_weight, entry_first, entry_last);
}

}  // namespace

NodeStore assemble(NodeStore trunk, std::vector<Graft> grafts) {
  if (grafts.empty()) return trunk;
  NodeStore whole;
  std::vector<int32_t> moved_to(trunk.size());      // trunk node -> node of the whole
  std::vector<std::pair<size_t, size_t>> of_trunk;  // ranges of `whole` that came from the trunk
  size_t next = 0;
  auto copy_until = [&](size_t end) {
    const size_t start = whole.size();
    for (size_t node = next; node < end; ++node)
      moved_to[node] = static_cast<int32_t>(start + node - next);
    append_nodes(whole, trunk, next, end);
    of_trunk.emplace_back(start, whole.size());
  };
  for (Graft& graft : grafts) {
    const auto position = static_cast<size_t>(graft.position);
    copy_until(position);
    const auto start = static_cast<int32_t>(whole.size());
    moved_to[position] = start;
    const NodeStore subtree = assemble(std::move(graft.subtree), std::move(graft.grafts));
    append_nodes(whole, subtree, 0, subtree.size());
    for (size_t node = start; node < whole.size(); ++node)
      if (whole.right[node] >= 0) whole.right[node] += start;
    next = position + 1;
  }
  copy_until(trunk.size());
  for (auto [first, last] : of_trunk)
    for (size_t node = first; node < last; ++node)
      if (whole.right[node] >= 0) whole.right[node] = moved_to[whole.right[node]];
  return whole;
}

}  // namespace bevel
