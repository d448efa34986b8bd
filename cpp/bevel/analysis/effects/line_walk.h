// Variants of one feature: the points of a grid go down a tree in runs of neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/effects/node_runs.h"

namespace bevel {

struct LineRun {
  uint32_t row, first, last;  // points from first to last - 1
};

// A split parts a run in two at most, where the projected value rises or falls along the grid.
template <class Node, bool kHasMissing>
class LineWalk : public NodeRuns<Node, kHasMissing, LineRun> {
 public:
  using NodeRuns<Node, kHasMissing, LineRun>::NodeRuns;

  // Sends rows of the block down a tree; calls add(row, leaf, runs) for runs of variants that
  // end in the same leaf.
  template <class Add>
  void run(size_t tree, std::span<const uint32_t> chosen, Add add) {
    this->begin(tree, chosen);
    waiting_.assign(1, {this->forest_.roots[tree], 0});
    for (const uint32_t i : chosen)
      this->runs_[this->n_runs_++] = {i, 0, static_cast<uint32_t>(this->grid_.size(0))};
    while (!waiting_.empty()) {
      const Waiting node = waiting_.back();
      waiting_.pop_back();
      if (node.at >= 0) {
        advance(node);
        continue;
      }
      const std::span<const LineRun> runs(this->runs_.data(), this->n_runs_);
      for (const LineRun& run : runs.subspan(node.first))
        add(run.row, ~node.at, OneRun{run.first, run.last});
      this->n_runs_ = node.first;
    }
  }

 private:
  // A node whose runs begin at `first`. Those of the node that waits last are on top of the runs.
  struct Waiting {
    Child at;
    size_t first;
  };

  // Sends the runs of a node on: those of the right child take their place, those of the left one
  // follow.
  void advance(const Waiting& node) {
    this->send(
        node.at, node.first, [this](const OpenSplit& split) { divide_alike(split); },
        [this](Child at, const OpenSplit& split) { divide(at, split); },
        [this](Child at, const OpenSplit& split) { return part_anywhere(at, split); },
        [this](Child child, size_t first) { waiting_.push_back({child, first}); });
  }

  // Divides the runs of a split whose cut is common to all rows.
  void divide_alike(const OpenSplit& split) {
    const bool rises = split.slope[0] > 0.0f;
    for (size_t k = 0; k < this->n_here_; ++k) {
      const LineRun run = this->here_[k];
      const bool is_before = run.last <= split.cut, is_after = run.first >= split.cut;
      this->put_apart(run, 0.0f, !is_before && !is_after);
      this->put(run, rises ? is_before : is_after, rises ? is_after : is_before);
    }
    for (size_t k = 0; k < this->n_cut_; ++k) part(this->cut_[k], split.cut, rises);
    this->n_cut_ = 0;
  }

  // Values along the grid are relative to the first point. Those too near to the threshold
  // are evaluated.
  void divide(Child at, const OpenSplit& split) {
    const float threshold = this->walk_.threshold(at), slope = split.slope[0];
    const float* beyond = this->beyond_[0].data();
    for (size_t k = 0; k < this->n_here_; ++k) {
      const LineRun run = this->here_[k];
      const float value = this->values_[k];
      const float one = value + slope * beyond[run.first];
      const float other = value + slope * beyond[run.last - 1];
      const bool is_right = std::min(one, other) - split.slack > threshold;
      const bool is_left = std::max(one, other) + split.slack <= threshold;
      this->put_apart(run, value, !is_left && !is_right);
      this->put(run, is_left, is_right);
    }
    for (size_t k = 0; k < this->n_cut_; ++k) {
      const LineRun& run = this->cut_[k];
      const float distance = threshold - this->values_[k];
      const uint32_t cut = this->first_beyond(0, run.first, run.last, distance / slope);
      if (this->is_sure(split, 0, run.first, run.last, distance, cut)) {
        part(run, cut, slope > 0.0f);
      } else {
        const float* row = this->row(run.row);
        const double exact = this->distance_of(at, row);
        const GridPoint from{run.first, 0};
        const bool first = this->is_left(at, split, row, exact, from);
        part(run, this->find_cut(at, split, row, exact, 0, from, run.last, first), first);
      }
    }
    this->n_cut_ = 0;
  }

  // Sends points before the cut to one side, the others to the other one.
  void part(const LineRun& run, uint32_t cut, bool left_first) {
    const LineRun before{run.row, run.first, std::min(cut, run.last)};
    const LineRun after{run.row, std::max(cut, run.first), run.last};
    if (before.first < before.last) this->put(before, left_first, !left_first);
    if (after.first < after.last) this->put(after, !left_first, left_first);
  }

  // Splits a run whose neighbouring points may go anywhere into stretches that go one way.
  std::array<std::vector<LineRun>, 2> part_anywhere(Child at, const OpenSplit& split) {
    std::array<std::vector<LineRun>, 2> sides;  // left, right
    for (size_t k = 0; k < this->n_here_; ++k) {
      const LineRun run = this->here_[k];
      const float* row = this->row(run.row);
      for (uint32_t first = run.first; first < run.last;) {
        const bool way = this->is_left(at, split, row, 0.0, {first, 0});
        uint32_t last = split.flags == 0 ? run.last : first + 1;
        while (last < run.last && this->is_left(at, split, row, 0.0, {last, 0}) == way) ++last;
        sides[way ? 0 : 1].push_back({run.row, first, last});
        first = last;
      }
    }
    return sides;
  }

  std::vector<Waiting> waiting_;
};

}  // namespace bevel
