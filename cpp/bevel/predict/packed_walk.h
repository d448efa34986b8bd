// Walks down a packed forest, several at a time: while one waits for its next node to come from
// memory, the others go on. A walk is a row in one tree; which rows and trees go together is up to
// the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bevel/predict/packed_forest.h"

namespace bevel {

// Where a walk begins.
template <class Row = const float*>
struct WalkStart {
  Child root;
  Row row;
};

// Rows with missing values need more care, and pay for it. A row is whatever has a value at each
// place: numbers in memory, or two rows mixed.
template <class Node, bool kHasMissing, class Row = const float*>
class PackedWalk {
 public:
  PackedWalk(const PackedForest& forest, const Node* nodes) : forest_(forest), nodes_(nodes) {}

  // Where a row goes from a split.
  Child next(Child split, Row row) const { return step(nodes_[split], row); }

  // Calls use(place) with every place of the row that a split reads.
  template <class Use>
  void over_places(Child split, Use use) const {
    const Node& node = nodes_[split];
    if constexpr (std::is_same_v<Node, AxisNode>) {
      if (node.place < AxisNode::kGeneral) return use(node.place);
      over_places(forest_.general[node.place - AxisNode::kGeneral], use);
    } else {
      if (node.size == kGeneralSize)
        return over_places(forest_.general[number_of_general(node)], use);
      for (int k = 0; k < node.size; ++k) use(uint32_t{node.place[k]});
    }
  }

  // start(i) is the beginning of walk i, finish(i, leaf) takes its end. Walks down one tree find
  // most of it in the cache; those down many trees ask for their nodes ahead.
  template <bool kManyTrees, class Start, class Finish>
  void run(size_t n_walks, Start start, Finish finish) const {
    Row row[kInFlight];
    Child at[kInFlight];
    size_t walk[kInFlight];
    size_t next = 0;
    // Begins the next walk that has a split to pass; false when there is none left.
    auto begin = [&](size_t lane) {
      while (next < n_walks) {
        const WalkStart<Row> s = start(next);
        if (s.root >= 0) {
          row[lane] = s.row;
          at[lane] = s.root;
          walk[lane] = next++;
          return true;
        }
        finish(next++, ~s.root);
      }
      return false;
    };
    // One step; whether the lane still has a walk. Where the last step led is looked at only now:
    // it has been known for a round, so that a wrong guess at the end of a walk is found at once
    // instead of after the loads of a step.
    auto advance = [&](size_t lane) {
      if (at[lane] < 0) {
        finish(walk[lane], ~at[lane]);
        if (!begin(lane)) return false;
      }
      at[lane] = step(nodes_[at[lane]], row[lane]);
      if constexpr (kManyTrees) prefetch(&nodes_[std::max(at[lane], Child{0})]);
      return true;
    };
    size_t n_lanes = 0;
    while (n_lanes < kInFlight && begin(n_lanes)) ++n_lanes;
    // The last walk takes the place of one that has ended for good.
    auto close = [&](size_t lane) {
      --n_lanes;
      row[lane] = row[n_lanes];
      at[lane] = at[n_lanes];
      walk[lane] = walk[n_lanes];
    };
    while (n_lanes == kInFlight) {  // as most of the time: the compiler knows how many there are
#pragma GCC unroll 4
      for (size_t lane = 0; lane < kInFlight; ++lane)
        if (!advance(lane)) [[unlikely]] {
          close(lane);
          break;
        }
    }
    while (n_lanes > 0)
      for (size_t lane = 0; lane < n_lanes; ++lane)
        if (!advance(lane)) close(lane);
  }

 private:
  static constexpr size_t kInFlight = 16;

  static void prefetch([[maybe_unused]] const void* node) {
#if defined(__GNUC__)
    __builtin_prefetch(node);
#endif
  }

  template <class Use>
  void over_places(const GeneralSplit& split, Use use) const {
    if (split.is_category) return use(static_cast<uint32_t>(split.feature));
    for (int32_t k = 0; k < split.n; ++k)
      use(static_cast<uint32_t>(forest_.general_place[split.first + static_cast<uint32_t>(k)]));
  }

  Child step(const AxisNode& node, Row row) const {
    if (node.place >= AxisNode::kGeneral) [[unlikely]]
      return general_step(node, node.place - AxisNode::kGeneral, row);
    return choose(node, row[node.place]);
  }

  Child step(const SignsNode& node, Row row) const {
    const int size = node.size;
    if (size == kGeneralSize) [[unlikely]]
      return general_step(node, number_of_general(node), row);
    float value = read(node.place[0], row, size);
    for (int k = 1; k < SignsNode::kAlways; ++k) value += read(node.place[k], row, size);
    if (size > SignsNode::kAlways)
      for (int k = SignsNode::kAlways; k < size; ++k) value += read(node.place[k], row, size);
    return choose(node, value);
  }

  Child step(const WeightsNode& node, Row row) const {
    const int size = node.size;
    if (size == kGeneralSize) [[unlikely]]
      return general_step(node, number_of_general(node), row);
    float value = node.weight[0] * read(node.place[0], row, size);
    for (int k = 1; k < WeightsNode::kMost; ++k)
      value += node.weight[k] * read(node.place[k], row, size);
    return choose(node, value);
  }

  // With two values or more a missing one counts as its median.
  float read(uint32_t place, Row row, int size) const {
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
    float value = weight[0] * read(static_cast<uint32_t>(place[0]), row, split.n);
    for (int32_t k = 1; k < split.n; ++k)
      value += weight[k] * read(static_cast<uint32_t>(place[k]), row, split.n);
    return choose(node, value);
  }

  const PackedForest& forest_;
  const Node* nodes_;
};

}  // namespace bevel
