// Variants of one feature: the points of a grid go down a tree in runs of neighbours. The runs of a
// block of rows go on in turn, so that one waits for memory while the others move.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/effects/open_walk.h"

namespace bevel {

// Where the projected value rises or falls along the grid, a split parts a run in two at most.
// Points are evaluated by the slope of the split; those too near to the threshold, by the split
// itself. Leaves are those of prediction, bit for bit.
template <class Node, bool kHasMissing>
class LineWalk : public OpenRows<Node, kHasMissing> {
 public:
  LineWalk(const PackedForest& forest, const Node* nodes, const std::vector<OpenSplit>& open_splits,
           const FeatureGrid& grid)
      : OpenRows<Node, kHasMissing>(forest, nodes, open_splits), grid_(grid) {}

  // Finds the cuts of splits that read nothing but the open feature, once for all rows.
  static void find_cuts(const PackedForest& forest, const Node* nodes, const FeatureGrid& grid,
                        std::vector<OpenSplit>& open_splits) {
    const auto n_points = static_cast<uint32_t>(grid.size(0));
    const bool fits = n_points <= UINT16_MAX;
    LineWalk walk(forest, nodes, open_splits, grid);
    const std::vector<float> zeros(static_cast<size_t>(forest.layout.n_features), 0.0f);
    walk.read(zeros.data(), 0, 1);
    for (size_t s = 0; s < open_splits.size(); ++s) {
      OpenSplit& split = open_splits[s];
      if (!(split.flags & OpenSplit::kAlone)) continue;
      if (!fits) {
        split.flags &= static_cast<uint8_t>(~OpenSplit::kAlone);
        continue;
      }
      const auto at = static_cast<Child>(s);
      const Child low_child = walk.walk_.children(at)[split.slope[0] > 0.0f ? 0 : 1];
      uint32_t low = 0, high = n_points;
      while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        walk.set(middle, walk.row(0));
        if (walk.walk_.next(at, walk.row(0)) == low_child)
          low = middle + 1;
        else
          high = middle;
      }
      split.cut = static_cast<uint16_t>(low);
    }
  }

  // Sends rows of the block down a tree; calls add(row, leaf, first, last) for runs of variants
  // that end in the same leaf.
  template <class Add>
  void run(size_t tree, std::span<const uint32_t> chosen, Add add) {
    tree_ = tree;
    runs_.clear();
    const auto n_points = static_cast<uint32_t>(grid_.size(0));
    for (const uint32_t i : chosen) {
      set(0, this->row(i));
      this->write_axes_of(tree, this->row(i));
      runs_.push_back({this->forest_.roots[tree], i, 0, n_points});
    }
    while (!runs_.empty())
      for (size_t k = 0; k < runs_.size(); ++k) {
        const Run run = runs_[k];
        if (run.at < 0) {
          add(run.row, ~run.at, run.first, run.last);
          runs_[k] = runs_.back();
          runs_.pop_back();
        } else {
          advance(k, run);
        }
      }
  }

 private:
  struct Run {
    Child at;
    uint32_t row, first, last;  // points from first to last - 1
  };

  void set(size_t point, float* row) const {
    this->write(grid_.feature[0], grid_.values[0][point], row);
  }

  // One step of a run; a part that goes another way is put to the end of all runs.
  void advance(size_t k, const Run& run) {
    const OpenSplit& split = this->open_split(run.at);
    const float* row = this->row(run.row);
    if (split.flags == 0) return go(k, this->walk_.next(run.at, row));
    const auto children = this->walk_.children(run.at);
    if (split.flags & OpenSplit::kAlone) {
      const size_t low = split.slope[0] > 0.0f ? 0 : 1;
      if (run.last <= split.cut) return go(k, children[low]);
      if (run.first >= split.cut) return go(k, children[1 - low]);
      return part(k, run, split.cut, children[low], children[1 - low]);
    }
    if (split.flags & OpenSplit::kErratic) return part_anywhere(k, run, split, row);
    const double distance = distance_of(run.at, row);
    const double one = distance + split.slope[0] * grid_.beyond_first(0, run.first);
    const double other = distance + split.slope[0] * grid_.beyond_first(0, run.last - 1);
    if (one > split.slack && other > split.slack) return go(k, children[1]);
    if (one < -split.slack && other < -split.slack) return go(k, children[0]);
    const int first = side(run, split, row, distance, run.first);
    const uint32_t cut = find_cut(run, split, row, distance, first);
    part(k, run, cut, children[static_cast<size_t>(first)],
         children[static_cast<size_t>(1 - first)]);
  }

  // Points before the cut go on in place of the run, the others at the end of all runs.
  void part(size_t k, const Run& run, uint32_t cut, Child before, Child after) {
    runs_[k].last = cut;
    go(k, before);
    if (cut < run.last) runs_.push_back({after, run.row, cut, run.last});
  }

  void go(size_t k, Child to) { runs_[k].at = to; }

  // Where neighbouring points may go anywhere: a run for each stretch that goes one way.
  void part_anywhere(size_t k, const Run& run, const OpenSplit& split, const float* row) {
    const auto children = this->walk_.children(run.at);
    for (uint32_t first = run.first; first < run.last;) {
      const int way = side(run, split, row, 0.0, first);
      uint32_t last = first + 1;
      while (last < run.last && side(run, split, row, 0.0, last) == way) ++last;
      const Run part{children[static_cast<size_t>(way)], run.row, first, last};
      if (first == run.first)
        runs_[k] = part;
      else
        runs_.push_back(part);
      first = last;
    }
  }

  // Projected value less threshold at the first value of the grid.
  double distance_of(Child at, const float* row) const {
    double sum = 0.0;
    this->walk_.over_terms(at, [&](uint32_t place, float weight) {
      float x = row[place];
      if (kHasMissing && x != x) x = this->forest_.medians[place];
      sum += static_cast<double>(weight) * x;
    });
    return sum - this->walk_.threshold(at);
  }

  // 0 if a point goes to the left child, 1 if to the right one.
  int side(const Run& run, const OpenSplit& split, const float* row, double distance,
           uint32_t point) {
    if (!(split.flags & OpenSplit::kErratic)) {
      distance += split.slope[0] * grid_.beyond_first(0, point);
      if (std::fabs(distance) > split.slack) return distance > 0.0;
    }
    exact_.assign(row, row + this->width_);
    set(point, exact_.data());
    this->write_axes_of(tree_, exact_.data());
    return this->walk_.next(run.at, exact_.data()) == this->walk_.children(run.at)[0] ? 0 : 1;
  }

  // The first point of the run that is not on the side of its first one, or its end.
  uint32_t find_cut(const Run& run, const OpenSplit& split, const float* row, double distance,
                    int first) {
    if (run.last - run.first == 1 || side(run, split, row, distance, run.last - 1) == first)
      return run.last;
    uint32_t low = run.first, high = run.last - 1;
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (side(run, split, row, distance, middle) == first ? low : high) = middle;
    }
    return high;
  }

  const FeatureGrid& grid_;
  size_t tree_ = 0;
  std::vector<Run> runs_;
  std::vector<float> exact_;
};

}  // namespace bevel
