// Variants of one feature: the points of a grid go down a tree in runs of neighbours. All runs that
// come to a node are evaluated there in one loop, which reads the node once.
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

// Where the projected value rises or falls along the grid, a split parts a run in two at most.
// Points are evaluated by the slope of the split; those too near to the threshold, by the split
// itself. Leaves are those of prediction, bit for bit.
template <class Node, bool kHasMissing>
class LineWalk : public OpenRows<Node, kHasMissing> {
 public:
  LineWalk(const PackedForest& forest, const Node* nodes, const std::vector<OpenSplit>& open_splits,
           const FeatureGrid& grid)
      : OpenRows<Node, kHasMissing>(forest, nodes, open_splits), grid_(grid) {
    for (size_t point = 0; point < grid.size(0); ++point)
      beyond_.push_back(static_cast<float>(grid.beyond_first(0, point)));
  }

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

  // Reads the rows [first, first + n) of a table without gaps.
  void read(const float* table, size_t first, size_t n) {
    OpenRows<Node, kHasMissing>::read(table, first, n);
    n_rows_ = n;
    columns_.resize(std::max(columns_.size(), this->width_ * n));
    for (size_t i = 0; i < n; ++i) {
      set(0, this->row(i));
      write_columns(i, 0);
    }
  }

  // Sends rows of the block down a tree; calls add(row, leaf, first, last) for runs of variants
  // that end in the same leaf.
  template <class Add>
  void run(size_t tree, std::span<const uint32_t> chosen, Add add) {
    tree_ = tree;
    if (!this->forest_.axes.empty()) read_axes(chosen);
    waiting_.assign(1, {this->forest_.roots[tree], 0});
    make_room(chosen.size());
    n_runs_ = 0;
    for (const uint32_t i : chosen) runs_[n_runs_++] = {i, 0, static_cast<uint32_t>(grid_.size(0))};
    while (!waiting_.empty()) {
      const Waiting node = waiting_.back();
      waiting_.pop_back();
      if (node.at >= 0) {
        advance(node);
        continue;
      }
      for (const Run& run : std::span(runs_).subspan(node.first, n_runs_ - node.first))
        add(run.row, ~node.at, run.first, run.last);
      n_runs_ = node.first;
    }
  }

 private:
  struct Run {
    uint32_t row, first, last;  // points from first to last - 1
  };
  // A node whose runs begin at `first`. Those of the node that waits last are on top of runs_.
  struct Waiting {
    Child at;
    size_t first;
  };

  void set(size_t point, float* row) const {
    this->write(grid_.feature[0], grid_.values[0][point], row);
  }

  void write_columns(size_t i, size_t first_place) {
    const float* row = this->row(i);
    for (size_t place = first_place; place < this->width_; ++place)
      columns_[place * n_rows_ + i] = row[place];
  }

  void read_axes(std::span<const uint32_t> chosen) {
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

  // Sends the runs of a node on: those of the right child take their place, those of the left one
  // follow.
  void advance(const Waiting& node) {
    const OpenSplit& split = this->open_split(node.at);
    n_here_ = n_runs_ - node.first;
    make_room(n_here_);
    here_ = runs_.data() + node.first;
    n_left_ = n_right_ = 0;
    if ((split.flags & OpenSplit::kErratic) || this->walk_.is_category(node.at))
      return part_anywhere(node, split);
    if (split.flags & OpenSplit::kAlone) {
      divide_alike(split);
    } else {
      project(node.at);
      if (split.flags == 0)
        divide_closed(node.at);
      else
        divide(node.at, split);
    }
    std::copy_n(left_.data(), n_left_, here_ + n_right_);
    n_runs_ = node.first + n_right_ + n_left_;
    const auto children = this->walk_.children(node.at);
    if (n_right_ > 0) waiting_.push_back({children[1], node.first});
    if (n_left_ > 0) waiting_.push_back({children[0], node.first + n_right_});
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

  // Where the split does not read the feature.
  void divide_closed(Child at) {
    const float threshold = this->walk_.threshold(at);
    for (size_t k = 0; k < n_here_; ++k) {
      bool is_left = values_[k] <= threshold;
      if (kHasMissing && values_[k] != values_[k])
        is_left = this->walk_.next(at, this->row(here_[k].row)) == this->walk_.children(at)[0];
      put(here_[k], is_left, !is_left);
    }
  }

  // Where all rows have the same cut.
  void divide_alike(const OpenSplit& split) {
    for (size_t k = 0; k < n_here_; ++k) {
      const Run run = here_[k];
      const bool is_before = run.last <= split.cut, is_after = run.first >= split.cut;
      const bool rises = split.slope[0] > 0.0f;
      cut_[n_cut_] = run;
      n_cut_ += !is_before && !is_after;
      put(run, rises ? is_before : is_after, rises ? is_after : is_before);
    }
    for (size_t k = 0; k < n_cut_; ++k) part(cut_[k], split.cut, split.slope[0] > 0.0f);
    n_cut_ = 0;
  }

  // Values along the grid are taken from that at its first point. Those too near to the threshold
  // are evaluated.
  void divide(Child at, const OpenSplit& split) {
    const float threshold = this->walk_.threshold(at), slope = split.slope[0];
    for (size_t k = 0; k < n_here_; ++k) {
      const Run run = here_[k];
      const float value = values_[k];
      const float one = value + slope * beyond_[run.first];
      const float other = value + slope * beyond_[run.last - 1];
      const bool is_right = std::min(one, other) - split.slack > threshold;
      const bool is_left = std::max(one, other) + split.slack <= threshold;
      cut_[n_cut_] = run;
      values_[n_cut_] = value;
      n_cut_ += !is_left && !is_right;
      put(run, is_left, is_right);
    }
    for (size_t k = 0; k < n_cut_; ++k) {
      const Run& run = cut_[k];
      const float distance = threshold - values_[k];
      const uint32_t cut = first_beyond(run, distance / slope);
      if (is_sure(run, split, distance, cut)) {
        part(run, cut, slope > 0.0f);
      } else {
        const float* row = this->row(run.row);
        const double exact = distance_of(at, row);
        const bool first = is_left(at, split, row, exact, run.first);
        part(run, find_cut(at, run, split, row, exact, first), first);
      }
    }
    n_cut_ = 0;
  }

  // Writes a run to both sides, without a jump that would often be guessed wrong; what is not
  // wanted is written over. The right side takes the place of runs that have been read.
  void put(const Run& run, bool is_left, bool is_right) {
    left_[n_left_] = run;
    here_[n_right_] = run;
    n_left_ += is_left;
    n_right_ += is_right;
  }

  // Points before the cut go to one side, the others to the other one.
  void part(const Run& run, uint32_t cut, bool left_first) {
    const Run before{run.row, run.first, std::min(cut, run.last)};
    const Run after{run.row, std::max(cut, run.first), run.last};
    if (before.first < before.last) put(before, left_first, !left_first);
    if (after.first < after.last) put(after, !left_first, left_first);
  }

  // The first point of a run that is further than this from the first one of the grid, or its end.
  uint32_t first_beyond(const Run& run, float distance) const {
    const float* from = &beyond_[run.first];
    for (uint32_t n = run.last - run.first; n > 0;) {
      const uint32_t half = n / 2;
      const bool is_before = from[half] <= distance;
      from += is_before ? half + 1 : 0;
      n = is_before ? n - half - 1 : half;
    }
    return static_cast<uint32_t>(from - beyond_.data());
  }

  // Whether the points next to the cut, and so all of the run, are far enough from the threshold,
  // which is `distance` above the value at the first point of the grid.
  bool is_sure(const Run& run, const OpenSplit& split, float distance, uint32_t cut) const {
    const float slope = split.slope[0], sign = slope > 0.0f ? 1.0f : -1.0f;
    const auto beyond = [&](uint32_t point) { return sign * (slope * beyond_[point] - distance); };
    return (cut == run.first || beyond(cut - 1) < -split.slack) &&
           (cut == run.last || beyond(cut) > split.slack);
  }

  // Where neighbouring points may go anywhere: a run for each stretch that goes one way.
  void part_anywhere(const Waiting& node, const OpenSplit& split) {
    std::array<std::vector<Run>, 2> sides;  // left, right
    for (size_t k = 0; k < n_here_; ++k) {
      const Run run = here_[k];
      const float* row = this->row(run.row);
      for (uint32_t first = run.first; first < run.last;) {
        const bool way = is_left(node.at, split, row, 0.0, first);
        uint32_t last = split.flags == 0 ? run.last : first + 1;
        while (last < run.last && is_left(node.at, split, row, 0.0, last) == way) ++last;
        sides[way ? 0 : 1].push_back({run.row, first, last});
        first = last;
      }
    }
    n_runs_ = node.first;
    for (const size_t side : {size_t{1}, size_t{0}}) {
      if (sides[side].empty()) continue;
      waiting_.push_back({this->walk_.children(node.at)[side], n_runs_});
      make_room(sides[side].size());
      std::copy(sides[side].begin(), sides[side].end(), runs_.data() + n_runs_);
      n_runs_ += sides[side].size();
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

  // Whether a point goes to the left child.
  bool is_left(Child at, const OpenSplit& split, const float* row, double distance,
               uint32_t point) {
    const auto left = this->walk_.children(at)[0];
    if (split.flags == 0) return this->walk_.next(at, row) == left;
    if (!(split.flags & OpenSplit::kErratic)) {
      distance += split.slope[0] * grid_.beyond_first(0, point);
      if (std::fabs(distance) > split.slack) return distance < 0.0;
    }
    exact_.assign(row, row + this->width_);
    set(point, exact_.data());
    this->write_axes_of(tree_, exact_.data());
    return this->walk_.next(at, exact_.data()) == left;
  }

  // The first point of the run that is not on the side of its first one, or its end.
  uint32_t find_cut(Child at, const Run& run, const OpenSplit& split, const float* row,
                    double distance, bool first) {
    if (run.last - run.first == 1 || is_left(at, split, row, distance, run.last - 1) == first)
      return run.last;
    uint32_t low = run.first, high = run.last - 1;
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (is_left(at, split, row, distance, middle) == first ? low : high) = middle;
    }
    return high;
  }

  const FeatureGrid& grid_;
  std::vector<float> beyond_;  // by point of the grid: its distance from the first one
  size_t tree_ = 0;
  std::vector<Waiting> waiting_;
  std::vector<Run> runs_;  // the first n_runs_ of them
  size_t n_runs_ = 0;
  size_t n_rows_ = 0;
  std::vector<float> columns_;  // the block of rows by place, at the first point of the grid
  std::vector<float> exact_;
  // Of the node: its runs, their values, those that go left and those that are parted.
  Run* here_ = nullptr;
  size_t n_here_ = 0, n_left_ = 0, n_right_ = 0, n_cut_ = 0;
  std::vector<float> values_;
  std::vector<Run> left_, cut_;
};

}  // namespace bevel
