// Brings the next tree into the cache while a block of rows goes down this one, a few lines with
// each walk. Walks access the nodes of a tree in an order that a processor cannot predict; reading
// a tree in one sweep is much faster than node by node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace bevel {

class TreePrefetch {
 public:
  // nodes: those of the next tree; n_walks: how many there are in this one.
  template <class Node>
  TreePrefetch(std::span<const Node> nodes, size_t n_walks)
      : TreePrefetch(reinterpret_cast<const char*>(nodes.data()), nodes.size_bytes(), n_walks) {}

  // To be called with each walk.
  void fetch_some() {
    const size_t n = std::min(step_, n_left_);
    for (size_t at = 0; at < n; at += kLine) fetch_line(next_ + at);
    next_ += n;
    n_left_ -= n;
  }

 private:
  static constexpr size_t kLine = 64;
  // Larger trees would evict the current one.
  static constexpr size_t kMaxBytes = 1024 * 1024;
  // A few rows visit so little of a tree that sweeping it costs more.
  static constexpr size_t kMaxLinesPerWalk = 16;

  TreePrefetch(const char* first, size_t n_bytes, size_t n_walks) {
    const size_t n_lines = (n_bytes + kLine - 1) / kLine;
    if (n_bytes == 0 || n_bytes > kMaxBytes || n_lines > n_walks * kMaxLinesPerWalk) return;
    next_ = first;
    n_left_ = n_bytes;
    step_ = (n_lines + n_walks - 1) / n_walks * kLine;
  }

  static void fetch_line([[maybe_unused]] const char* line) {
#if defined(__GNUC__)
    __builtin_prefetch(line, 0, 2);  // into the second-level cache
#endif
  }

  const char* next_ = nullptr;
  size_t n_left_ = 0;  // bytes
  size_t step_ = 0;    // bytes with each walk
};

}  // namespace bevel
