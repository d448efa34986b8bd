// Common parts of the walks over grids: runs of variants that reach a node are evaluated in one
// loop, which reads the node once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/effects/open_walk.h"

namespace bevel {

// Points of a grid by their indices on its axes; the second is 0 in grids of one feature.
using GridPoint = std::array<uint32_t, 2>;

// A run has a `row`, the number of its row in the block. Where the projected value rises or falls
// along an axis of the grid, points are evaluated by the slope of the split; those too near to the
// threshold, by the split itself. Leaves are those of prediction, bit for bit.
template <class Node, bool kHasMissing, class Run>
class NodeRuns : public OpenRows<Node, kHasMissing> {
 public:
  NodeRuns(const PackedForest& forest, const Node* nodes, const std::vector<OpenSplit>& open_splits,
           const FeatureGrid& grid)
      : OpenRows<Node, kHasMissing>(forest, nodes, open_splits), grid_(grid) {
    for (int axis = 0; axis < grid.n_axes(); ++axis)
      for (size_t point = 0; point < grid.size(axis); ++point)
        beyond_[axis].push_back(static_cast<float>(grid.beyond_first(axis, point)));
  }

  // Finds the cuts of splits on a single open feature, once for all rows.
  static void find_cuts(const PackedForest& forest, const Node* nodes, const FeatureGrid& grid,
                        std::vector<OpenSplit>& open_splits) {
    NodeRuns walk(forest, nodes, open_splits, grid);
    const std::vector<float> zeros(static_cast<size_t>(forest.layout.n_columns), 0.0f);
    walk.read(zeros.data(), 0, 1);
    for (size_t s = 0; s < open_splits.size(); ++s) {
      OpenSplit& split = open_splits[s];
      if (!(split.flags & OpenSplit::kAlone)) continue;
      const int axis = split.axis();
      if (grid.size(axis) > UINT16_MAX) {
        split.flags &= static_cast<uint8_t>(~OpenSplit::kAlone);
        continue;
      }
      const auto at = static_cast<Child>(s);
      const Child low_child = walk.walk_.children(at)[split.slope[axis] > 0.0f ? 0 : 1];
      uint32_t low = 0, high = static_cast<uint32_t>(grid.size(axis));
      while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        walk.set(axis, middle, walk.row(0));
        if (walk.walk_.next(at, walk.row(0)) == low_child)
          low = middle + 1;
        else
          high = middle;
      }
      split.cut = static_cast<uint16_t>(low);
    }
  }

  // Reads the rows [first, first + n) of a table without gaps.
  void read(const float* table, size_t first, size_t n) {
    OpenRows<Node, kHasMissing>::read(table, first, n);
    n_rows_ = n;
    columns_.resize(std::max(columns_.size(), this->width_ * n));
    for (size_t i = 0; i < n; ++i) {
      for (int axis = 0; axis < grid_.n_axes(); ++axis) set(axis, 0, this->row(i));
      write_columns(i, 0);
    }
  }

 protected:
  void set(int axis, size_t point, float* row) const {
    this->write(grid_.feature[axis], grid_.values[axis][point], row);
  }

  // Makes room for rows of the block that begin at the root of a tree.
  void begin(size_t tree, std::span<const uint32_t> chosen) {
    tree_ = tree;
    n_runs_ = 0;
    make_room(chosen.size());
    if (this->forest_.axes.empty()) return;
    for (const uint32_t i : chosen) {
      this->write_axes_of(tree_, this->row(i));
      write_columns(i, static_cast<size_t>(this->forest_.layout.axis(0)));
    }
  }

  // Room for twice as many runs on top of those that wait, and one that is written over.
  void make_room(size_t n) {
    if (n >= left_.size()) {
      left_.resize(n + 1);
      cut_.resize(n + 1);
      values_.resize(n + 1);
    }
    if (n_runs_ + 2 * n >= runs_.size()) runs_.resize(2 * (n_runs_ + 2 * n + 1));
  }

  // Makes the runs from `first` on those of the node.
  void take(size_t first) {
    n_here_ = n_runs_ - first;
    make_room(n_here_);
    here_ = runs_.data() + first;
    n_left_ = n_right_ = 0;
  }

  // Writes a run to both sides, without a branch that would often be mispredicted; unwanted
  // entries are overwritten. The right side replaces runs that have been read.
  void put(const Run& run, bool is_left, bool is_right) {
    left_[n_left_] = run;
    here_[n_right_] = run;
    n_left_ += is_left;
    n_right_ += is_right;
  }

  // Stores a divided run, and its value.
  void put_apart(const Run& run, float value, bool is_cut) {
    cut_[n_cut_] = run;
    values_[n_cut_] = value;
    n_cut_ += is_cut;
  }

  // The runs that go right replace those of the node; those that go left follow them.
  void stack_children(size_t first) {
    std::copy_n(left_.data(), n_left_, here_ + n_right_);
    n_runs_ = first + n_right_ + n_left_;
  }

  // Puts runs on top of those that wait.
  void put_all(const std::vector<Run>& runs) {
    make_room(runs.size());
    std::copy(runs.begin(), runs.end(), runs_.data() + n_runs_);
    n_runs_ += runs.size();
  }

  // Sends the runs of a node, from `first` on, to its children. divide_alike(split): where all rows
  // have the same cut; divide(at, split): where the split reads an open feature and others;
  // sides(at, split): the runs of both children where neighbouring points may go anywhere;
  // wait(child, first): called with each child and where its runs begin, the right one first.
  template <class DivideAlike, class Divide, class Sides, class Wait>
  void send(Child at, size_t first, DivideAlike divide_alike, Divide divide, Sides sides,
            Wait wait) {
    const OpenSplit& split = this->open_split(at);
    const auto children = this->walk_.children(at);
    take(first);
    if ((split.flags & OpenSplit::kErratic) || this->walk_.is_category(at)) {
      const std::array<std::vector<Run>, 2> found = sides(at, split);
      n_runs_ = first;
      for (const size_t side : {size_t{1}, size_t{0}}) {
        if (found[side].empty()) continue;
        wait(children[side], n_runs_);
        put_all(found[side]);
      }
      return;
    }
    if (split.flags & OpenSplit::kAlone) {
      divide_alike(split);
    } else {
      project(at);
      if (split.flags == 0)
        divide_closed(at);
      else
        divide(at, split);
    }
    stack_children(first);
    if (n_right_ > 0) wait(children[1], first);
    if (n_left_ > 0) wait(children[0], first + n_right_);
  }

  // Values of the rows at the first point of the grid, with the operations of prediction.
  void project(Child at) {
    int n_terms = 0;
    if (kHasMissing) this->walk_.over_terms(at, [&](uint32_t, float) { ++n_terms; });
    bool is_first = true;
    this->walk_.over_terms(at, [&](uint32_t place, float weight) {
      const float* column = &columns_[place * n_rows_];
      const auto term = [&](size_t k) {
        float x = column[here_[k].row];
        if (kHasMissing && n_terms > 1 && x != x) x = this->forest_.medians[place];
        return weight * x;
      };
      if (is_first)
        for (size_t k = 0; k < n_here_; ++k) values_[k] = term(k);
      else
        for (size_t k = 0; k < n_here_; ++k) values_[k] += term(k);
      is_first = false;
    });
  }

  // Divides the runs of a split that reads no open feature.
  void divide_closed(Child at) {
    const float threshold = this->walk_.threshold(at);
    for (size_t k = 0; k < n_here_; ++k) {
      bool is_left = values_[k] <= threshold;
      if (kHasMissing && values_[k] != values_[k])
        is_left = this->walk_.next(at, this->row(here_[k].row)) == this->walk_.children(at)[0];
      put(here_[k], is_left, !is_left);
    }
  }

  // The first of the points [first, last) of an axis that is further than this from the first one
  // of the grid, or `last`.
  uint32_t first_beyond(int axis, uint32_t first, uint32_t last, float distance) const {
    const float* from = &beyond_[axis][first];
    for (uint32_t n = last - first; n > 0;) {
      const uint32_t half = n / 2;
      const bool is_before = from[half] <= distance;
      from += is_before ? half + 1 : 0;
      n = is_before ? n - half - 1 : half;
    }
    return static_cast<uint32_t>(from - beyond_[axis].data());
  }

  // Whether the points next to a cut of [first, last), and so all, are far enough from the
  // threshold, which is `distance` above the value at the first point of the axis.
  bool is_sure(const OpenSplit& split, int axis, uint32_t first, uint32_t last, float distance,
               uint32_t cut) const {
    const float slope = split.slope[axis], sign = slope > 0.0f ? 1.0f : -1.0f;
    const auto beyond = [&](uint32_t point) {
      return sign * (slope * beyond_[axis][point] - distance);
    };
    return (cut == first || beyond(cut - 1) < -split.slack) &&
           (cut == last || beyond(cut) > split.slack);
  }

  // Projected value minus threshold at the first point of the grid.
  double distance_of(Child at, const float* row) const {
    double sum = 0.0;
    this->walk_.over_terms(at, [&](uint32_t place, float weight) {
      float x = row[place];
      if (kHasMissing && x != x) x = this->forest_.medians[place];
      sum += static_cast<double>(weight) * x;
    });
    return sum - this->walk_.threshold(at);
  }

  // Whether a point of a row goes to the left child; `distance` is that of its first point.
  bool is_left(Child at, const OpenSplit& split, const float* row, double distance,
               GridPoint point) {
    const auto left = this->walk_.children(at)[0];
    if (split.flags == 0) return this->walk_.next(at, row) == left;
    if (!(split.flags & OpenSplit::kErratic)) {
      for (int axis = 0; axis < grid_.n_axes(); ++axis)
        distance += split.slope[axis] * grid_.beyond_first(axis, point[axis]);
      if (std::fabs(distance) > split.slack) return distance < 0.0;
    }
    exact_.assign(row, row + this->width_);
    for (int axis = 0; axis < grid_.n_axes(); ++axis) set(axis, point[axis], exact_.data());
    this->write_axes_of(tree_, exact_.data());
    return this->walk_.next(at, exact_.data()) == left;
  }

  // Where along an axis, from `point` to before `last`, points go to the other side than the first
  // one; `last` if none does.
  uint32_t find_cut(Child at, const OpenSplit& split, const float* row, double distance, int axis,
                    GridPoint point, uint32_t last, bool first_is_left) {
    const auto is_before = [&](uint32_t place) {
      point[axis] = place;
      return is_left(at, split, row, distance, point) == first_is_left;
    };
    uint32_t low = point[axis], high = last - 1;
    if (low == high || is_before(high)) return last;
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (is_before(middle) ? low : high) = middle;
    }
    return high;
  }

  const FeatureGrid& grid_;
  std::array<std::vector<float>, 2> beyond_;  // by point of an axis: distance from its first one
  size_t tree_ = 0;
  std::vector<Run> runs_;  // the first n_runs_ of them
  size_t n_runs_ = 0;
  // Runs of the node, those that go left and those that are divided, and values.
  Run* here_ = nullptr;
  size_t n_here_ = 0, n_left_ = 0, n_right_ = 0, n_cut_ = 0;
  std::vector<float> values_;
  std::vector<Run> left_, cut_;

 private:
  void write_columns(size_t i, size_t first_place) {
    const float* row = this->row(i);
    for (size_t place = first_place; place < this->width_; ++place)
      columns_[place * n_rows_ + i] = row[place];
  }

  size_t n_rows_ = 0;
  std::vector<float> columns_;  // the block of rows by place, at the first point of the grid
  std::vector<float> exact_;
};

}  // namespace bevel
