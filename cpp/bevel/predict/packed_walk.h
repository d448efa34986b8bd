// Walks down a packed forest, several at a time: while one waits for its next node from memory, the
// others continue. A walk is a row in one tree; the caller chooses which rows and trees are
// combined.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "bevel/predict/packed_forest.h"
#include "bevel/support/inlining.h"

namespace bevel {

// Start of a walk.
template <class Row = const float*>
struct WalkStart {
  Child root;
  Row row;
};

// Rows with missing values need more work. A row is any type with a value at each
// index: numbers in memory, or two rows mixed.
template <class Node, bool kHasMissing, class Row = const float*>
class PackedWalk {
 public:
  PackedWalk(const PackedForest& forest, const Node* nodes) : forest_(forest), nodes_(nodes) {}

  // The child to which a split sends a row.
  Child next(Child split, Row row) const {
    const Node& node = nodes_[number_of(split)];
    return is_rare(split) ? rare_step(node, row) : step(node, row);
  }

  // The splits of a tree; none after the last.
  std::span<const Node> splits(size_t tree) const {
    if (tree >= forest_.n_trees()) return {};
    const size_t first = forest_.first_split[tree];
    return {nodes_ + first, forest_.first_split[tree + 1] - first};
  }

  // The left and the right child of a split.
  std::span<const Child, 2> children(Child split) const { return nodes_[number_of(split)].child; }

  // Whether a split is a general one, not of the forest's common kind.
  bool is_general(Child split) const {
    const Node& node = nodes_[number_of(split)];
    if constexpr (std::is_same_v<Node, AxisNode>)
      return node.place >= AxisNode::kGeneral;
    else
      return node.size == kGeneralSize;
  }

  // Whether a split is by levels of a nominal feature.
  bool is_category(Child split) const {
    const Node& node = nodes_[number_of(split)];
    if constexpr (std::is_same_v<Node, AxisNode>) {
      return node.place >= AxisNode::kGeneral &&
             forest_.general[node.place - AxisNode::kGeneral].is_category;
    } else {
      return node.size == kGeneralSize && forest_.general[number_of_general(node)].is_category;
    }
  }

  float threshold(Child split) const { return nodes_[number_of(split)].threshold; }

  // Calls use(index) with every index of the row that a split reads.
  template <class Use>
  void over_places(Child split, Use use) const {
    over_terms(split, [&](uint32_t place, float) { use(place); });
  }

  // Calls use(index, weight) with every index of the row that a split reads; the weight of a
  // nominal feature has no meaning.
  template <class Use>
  void over_terms(Child split, Use use) const {
    const Node& node = nodes_[number_of(split)];
    if constexpr (std::is_same_v<Node, AxisNode>) {
      if (node.place < AxisNode::kGeneral) return use(node.place, 1.0f);
      over_terms(forest_.general[node.place - AxisNode::kGeneral], use);
    } else {
      if (node.size == kGeneralSize)
        return over_terms(forest_.general[number_of_general(node)], use);
      for (int k = 0; k < node.size; ++k) {
        if constexpr (std::is_same_v<Node, WeightsNode>)
          use(uint32_t{node.place[k]}, node.weight[k]);
        else
          use(uint32_t{node.place[k]}, 1.0f);
      }
    }
  }

  // start(i) is the beginning of walk i, finish(i, leaf) takes its end. Walks down one tree find
  // most of it in the cache; those down many trees prefetch their nodes.
  template <bool kManyTrees, class Start, class Finish>
  void run(size_t n_walks, Start start, Finish finish) const {
    InFlight<Start, Finish> lanes(n_walks, start, finish);
    const Node* const nodes = nodes_;
    // One step; returns whether the lane still has a walk. The result of the last step is checked
    // only now: it has been available for a round, so that a misprediction at the end of a walk or
    // at a rare split is resolved at once instead of after the loads of a step.
    auto advance = [&](size_t lane) {
      Child& at = lanes.at[lane];
      // A leaf or a rare split: one comparison for both.
      if (static_cast<uint32_t>(at) >= static_cast<uint32_t>(kRare)) [[unlikely]] {
        if (at < 0 && !lanes.replace(lane)) return false;
        if (is_rare(at)) {
          at = rare_step(nodes[number_of(at)], lanes.row[lane]);
          return true;
        }
      }
      at = step(nodes[at], lanes.row[lane]);
      if constexpr (kManyTrees) prefetch(&nodes[number_of(std::max(at, Child{0}))]);
      return true;
    };
    while (lanes.n == kInFlight) {  // the usual case, with a constant trip count for the compiler
      for (size_t lane = 0; lane < kInFlight; ++lane)
        if (!advance(lane)) [[unlikely]] {
          lanes.close(lane);
          break;
        }
    }
    while (lanes.n > 0)
      for (size_t lane = 0; lane < lanes.n; ++lane)
        if (!advance(lane)) lanes.close(lane);
  }

 private:
  static constexpr size_t kInFlight = 16;

  // The active walks, in the first n lanes.
  template <class Start, class Finish>
  struct InFlight {
    InFlight(size_t n_walks, Start& start, Finish& finish)
        : n_walks_(n_walks), start_(start), finish_(finish) {
      while (n < kInFlight && begin(n)) ++n;
    }

    // Ends the walk of a lane and begins another; false when there is none left.
    bool replace(size_t lane) {
      finish_(walk_[lane], ~at[lane]);
      return begin(lane);
    }

    // Replaces a finished walk by the last one.
    void close(size_t lane) {
      --n;
      row[lane] = row[n];
      at[lane] = at[n];
      walk_[lane] = walk_[n];
    }

    size_t n = 0;
    Row row[kInFlight];
    Child at[kInFlight];

   private:
    // Begins the next walk that has a split to pass; false when there is none left.
    bool begin(size_t lane) {
      while (next_ < n_walks_) {
        const WalkStart<Row> s = start_(next_);
        if (s.root >= 0) {
          row[lane] = s.row;
          at[lane] = s.root;
          walk_[lane] = next_++;
          return true;
        }
        finish_(next_++, ~s.root);
      }
      return false;
    }

    size_t next_ = 0;
    size_t walk_[kInFlight];
    size_t n_walks_;
    Start& start_;
    Finish& finish_;
  };

  static void prefetch([[maybe_unused]] const void* node) {
#if defined(__GNUC__)
    __builtin_prefetch(node);
#endif
  }

  template <class Use>
  void over_terms(const GeneralSplit& split, Use use) const {
    if (split.is_category) return use(static_cast<uint32_t>(split.feature), 1.0f);
    for (int32_t k = 0; k < split.n; ++k) {
      const uint32_t entry = split.first + static_cast<uint32_t>(k);
      use(static_cast<uint32_t>(forest_.general_place[entry]), forest_.general_weight[entry]);
    }
  }

  // The common step has one kind of split: it needs no test before the row is read.
  Child step(const AxisNode& node, Row row) const { return choose(node, row[node.place]); }

  Child step(const SignsNode& node, Row row) const {
    const int size = node.size;
    // Six indices in two loads, since loads are the bottleneck.
    static_assert(SignsNode::kAlways == 6);
    const auto first = load<uint64_t>(&node.place[0]);
    const auto last = load<uint32_t>(&node.place[4]);
    float value = read(first & 0xffff, row, size);
    value += read(first >> 16 & 0xffff, row, size);
    value += read(first >> 32 & 0xffff, row, size);
    value += read(first >> 48, row, size);
    value += read(last & 0xffff, row, size);
    value += read(last >> 16, row, size);
    return choose(node, value);
  }

  Child step(const WeightsNode& node, Row row) const {
    const int size = node.size;
    float value = node.weight[0] * read(node.place[0], row, size);
    for (int k = 1; k < WeightsNode::kMax; ++k)
      value += node.weight[k] * read(node.place[k], row, size);
    return choose(node, value);
  }

  BEVEL_NEVER_INLINE Child rare_step(const Node& node, Row row) const {
    if constexpr (std::is_same_v<Node, AxisNode>) {
      return general_step(node, node.place - AxisNode::kGeneral, row);
    } else {
      if constexpr (std::is_same_v<Node, SignsNode>)
        if (node.size != kGeneralSize) return long_step(node, row);
      return general_step(node, number_of_general(node), row);
    }
  }

  Child long_step(const SignsNode& node, Row row) const {
    float value = read(node.place[0], row, node.size);
    for (int k = 1; k < SignsNode::kMax; ++k) value += read(node.place[k], row, node.size);
    return choose(node, value);
  }

  template <class Word>
  static Word load(const uint16_t* places) {
    static_assert(std::endian::native == std::endian::little, "the first place is the lowest");
    Word word;
    std::memcpy(&word, places, sizeof(Word));
    return word;
  }

  // With two values or more a missing one counts as its median.
  float read(size_t place, Row row, int size) const {
    float x = row[place];
    if constexpr (kHasMissing)
      if (x != x && size > 1) x = forest_.medians[place];
    return x;
  }

  Child choose(const Node& node, float value) const {
    bool right = !(value <= node.threshold);
    if (kHasMissing && value != value) right = !missing_left(node);
    return node.child[right];
  }

  bool missing_left(const Node& node) const { return forest_.missing_left[&node - nodes_]; }

  static uint32_t number_of_general(const Node& node) {
    return node.place[0] | static_cast<uint32_t>(node.place[1]) << 16;
  }

  Child general_step(const Node& node, uint32_t number, Row row) const {
    const GeneralSplit& split = forest_.general[number];
    if (split.is_category) {
      const float code = row[split.feature];
      if (!(code >= 0.0f && code < static_cast<float>(split.levels)))
        return node.child[!missing_left(node)];
      const auto level = static_cast<uint32_t>(code);
      return node.child[!((forest_.bits[split.first + level / 32] >> (level % 32)) & 1u)];
    }
    const int32_t* place = &forest_.general_place[split.first];
    const float* weight = &forest_.general_weight[split.first];
    float value = weight[0] * read(static_cast<size_t>(place[0]), row, split.n);
    for (int32_t k = 1; k < split.n; ++k)
      value += weight[k] * read(static_cast<size_t>(place[k]), row, split.n);
    return choose(node, value);
  }

  const PackedForest& forest_;
  const Node* nodes_;
};

}  // namespace bevel
