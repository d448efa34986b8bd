// Variants of two features: the points of a grid go down a tree in regions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/analysis/effects/node_runs.h"

namespace bevel {

// Points of a row's grid: a box, and in it, unless all of it, a span of points on each line. Lines
// run along the first axis; the second one counts them.
struct GridRegion {
  static constexpr uint32_t kWhole = UINT32_MAX;

  uint32_t row;
  GridPoint first, last;    // the box
  uint32_t spans = kWhole;  // offset of the spans of the lines, from first_line on
  uint32_t first_line = 0;
};

// Where the projected value rises or falls along both axes, the parts of a region on both sides of
// a split are regions too: a node is visited once for each row. Splits that read one of the two
// features cut the box; only those that read both write spans.
template <class Node, bool kHasMissing>
class GridWalk : public NodeRuns<Node, kHasMissing, GridRegion> {
 public:
  using NodeRuns<Node, kHasMissing, GridRegion>::NodeRuns;

  // Sends rows of the block down a tree; calls add(row, leaf, runs) for runs of variants that
  // end in the same leaf.
  template <class Add>
  void run(size_t tree, std::span<const uint32_t> chosen, Add add) {
    this->begin(tree, chosen);
    n_spans_ = 0;
    waiting_.assign(1, {this->forest_.roots[tree], 0, 0});
    const GridPoint end{static_cast<uint32_t>(this->grid_.size(0)),
                        static_cast<uint32_t>(this->grid_.size(1))};
    for (const uint32_t i : chosen) this->runs_[this->n_runs_++] = {i, {0, 0}, end};
    while (!waiting_.empty()) {
      const Waiting node = waiting_.back();
      waiting_.pop_back();
      n_spans_ = node.n_spans;
      if (node.at >= 0) {
        advance(node);
        continue;
      }
      const std::span<const GridRegion> regions(this->runs_.data(), this->n_runs_);
      for (const GridRegion& region : regions.subspan(node.first))
        add(region.row, ~node.at, Runs{*this, region});
      this->n_runs_ = node.first;
    }
  }

  const FeatureGrid& grid() const { return this->grid_; }

 private:
  // The variants of a region.
  struct Runs {
    const GridWalk& walk;
    const GridRegion& region;

    // The box if the region is one.
    const GridRegion* box() const { return region.spans == GridRegion::kWhole ? &region : nullptr; }
    template <class Use>
    void each(Use use) const {
      walk.add_lines(region, use);
    }
  };

  // A node whose regions begin at `first`. Those of the node that waits last are on top of the
  // others, and their spans are among the first n_spans; later ones are finished.
  struct Waiting {
    Child at;
    size_t first, n_spans;
  };
  struct Span {
    uint32_t first, last;
    bool empty() const { return first >= last; }
  };

  Span span_of(const GridRegion& region, uint32_t line) const {
    const Span box{region.first[0], region.last[0]};
    if (region.spans == GridRegion::kWhole) return box;
    const Span span = spans_[region.spans + line - region.first_line];
    return {std::max(box.first, span.first), std::min(box.last, span.last)};
  }

  // Consecutive spans of whole lines are one run.
  template <class Add>
  void add_lines(const GridRegion& region, Add add) const {
    const size_t size = this->grid_.size(0);
    if (region.spans == GridRegion::kWhole && region.last[0] - region.first[0] == size)
      return add(region.first[1] * size, region.last[1] * size);
    for (uint32_t line = region.first[1]; line < region.last[1]; ++line) {
      const Span span = span_of(region, line);
      if (!span.empty()) add(line * size + span.first, line * size + span.last);
    }
  }

  void advance(const Waiting& node) {
    this->send(
        node.at, node.first, [this](const OpenSplit& split) { divide_alike(split); },
        [this](Child at, const OpenSplit& split) { divide(at, split); },
        [this](Child at, const OpenSplit& split) { return part_anywhere(at, split); },
        [this](Child child, size_t first) { waiting_.push_back({child, first, n_spans_}); });
  }

  // Divides the runs of a split whose cut is common to all rows.
  void divide_alike(const OpenSplit& split) {
    const int axis = split.axis();
    const bool rises = split.slope[axis] > 0.0f;
    for (size_t k = 0; k < this->n_here_; ++k) {
      const GridRegion region = this->here_[k];
      const bool is_before = region.last[axis] <= split.cut;
      const bool is_after = region.first[axis] >= split.cut;
      this->put_apart(region, 0.0f, !is_before && !is_after);
      this->put(region, rises ? is_before : is_after, rises ? is_after : is_before);
    }
    for (size_t k = 0; k < this->n_cut_; ++k) cut_box(this->cut_[k], axis, split.cut, rises);
    this->n_cut_ = 0;
  }

  // Values are relative to the first point of the grid. Regions whose box is on one side of
  // the threshold go there.
  void divide(Child at, const OpenSplit& split) {
    const float threshold = this->walk_.threshold(at);
    for (size_t k = 0; k < this->n_here_; ++k) {
      const GridRegion region = this->here_[k];
      const float value = this->values_[k];
      float low = value, high = value;
      for (int axis = 0; axis < 2; ++axis) {
        const float one = split.slope[axis] * this->beyond_[axis][region.first[axis]];
        const float other = split.slope[axis] * this->beyond_[axis][region.last[axis] - 1];
        low += std::min(one, other);
        high += std::max(one, other);
      }
      const bool is_right = low - split.slack > threshold;
      const bool is_left = high + split.slack <= threshold;
      this->put_apart(region, value, !is_left && !is_right);
      this->put(region, is_left, is_right);
    }
    constexpr uint8_t kBoth = OpenSplit::kFirst | OpenSplit::kSecond;
    const bool reads_both = (split.flags & kBoth) == kBoth;
    for (size_t k = 0; k < this->n_cut_; ++k) {
      const float distance = threshold - this->values_[k];
      if (reads_both)
        cut_lines(at, split, this->cut_[k], distance);
      else
        cut_along(at, split, this->cut_[k], distance);
    }
    this->n_cut_ = 0;
  }

  // Cuts a region along a split on one of the features: the cut is common to all lines, or
  // between lines.
  void cut_along(Child at, const OpenSplit& split, const GridRegion& region, float distance) {
    const int axis = split.axis();
    const uint32_t first = region.first[axis], last = region.last[axis];
    const float slope = split.slope[axis];
    const uint32_t cut = this->first_beyond(axis, first, last, distance / slope);
    if (this->is_sure(split, axis, first, last, distance, cut))
      return cut_box(region, axis, cut, slope > 0.0f);
    const float* row = this->row(region.row);
    const double exact = this->distance_of(at, row);
    const bool is_left = this->is_left(at, split, row, exact, region.first);
    const uint32_t found = this->find_cut(at, split, row, exact, axis, region.first, last, is_left);
    cut_box(region, axis, found, is_left);
  }

  // Sends points of an axis before the cut to one side, the others to the other one.
  void cut_box(const GridRegion& region, int axis, uint32_t cut, bool left_first) {
    GridRegion before = region, after = region;
    before.last[axis] = std::min(cut, region.last[axis]);
    after.first[axis] = std::max(cut, region.first[axis]);
    if (fit_box(before)) this->put(before, left_first, !left_first);
    if (fit_box(after)) this->put(after, !left_first, left_first);
  }

  // Shrinks the box to the spans in it; returns whether it has a point.
  bool fit_box(GridRegion& region) const {
    if (region.first[0] >= region.last[0] || region.first[1] >= region.last[1]) return false;
    if (region.spans == GridRegion::kWhole) return true;
    Hull hull;
    for (uint32_t line = region.first[1]; line < region.last[1]; ++line)
      hull.add(line, span_of(region, line));
    return hull.fit(region);
  }

  // The smallest box around spans.
  struct Hull {
    GridPoint first{UINT32_MAX, UINT32_MAX}, last{0, 0};

    void add(uint32_t line, Span span) {
      if (span.empty()) return;
      first = {std::min(first[0], span.first), std::min(first[1], line)};
      last = {std::max(last[0], span.last), line + 1};
    }
    bool fit(GridRegion& region) const {
      region.first = first;
      region.last = last;
      return last[1] > 0;
    }
  };

  // Cuts a region along a split on both features. The cut moves monotonically from line to line.
  void cut_lines(Child at, const OpenSplit& split, const GridRegion& region, float distance) {
    const uint32_t n_lines = region.last[1] - region.first[1];
    const auto base = static_cast<uint32_t>(n_spans_);
    n_spans_ += 2 * n_lines;
    if (spans_.size() < n_spans_) spans_.resize(2 * n_spans_);
    const bool left_first = split.slope[0] > 0.0f;
    std::array<Hull, 2> hulls;
    uint32_t place = region.first[0];
    for (uint32_t k = 0; k < n_lines; ++k) {
      const uint32_t line = region.first[1] + k;
      const Span span = span_of(region, line);
      uint32_t cut = span.first;
      if (!span.empty()) {
        place = std::clamp(place, span.first, span.last);
        cut = place = cut_of_line(at, split, region.row, line, span, distance, place);
      }
      const Span parts[2] = {{span.first, cut}, {cut, span.last}};
      for (size_t part = 0; part < 2; ++part) {
        spans_[base + part * n_lines + k] = parts[part];
        hulls[part].add(line, parts[part]);
      }
    }
    for (uint32_t part = 0; part < 2; ++part) {
      GridRegion cut = region;
      cut.spans = base + part * n_lines;
      cut.first_line = region.first[1];
      const bool goes_left = (part == 0) == left_first;
      if (hulls[part].fit(cut)) this->put(cut, goes_left, !goes_left);
    }
  }

  // Where a line is cut: the first point of its span that is not on the side of low points. It is
  // looked for from `place` on.
  uint32_t cut_of_line(Child at, const OpenSplit& split, uint32_t i, uint32_t line, Span span,
                       float distance, uint32_t place) {
    const float slope = split.slope[0];
    const float* beyond = this->beyond_[0].data();
    const float of_line = distance - split.slope[1] * this->beyond_[1][line];
    const float furthest = of_line / slope;
    while (place < span.last && beyond[place] <= furthest) ++place;
    while (place > span.first && beyond[place - 1] > furthest) --place;
    if (this->is_sure(split, 0, span.first, span.last, of_line, place)) return place;
    const float* row = this->row(i);
    const double exact = this->distance_of(at, row);
    const GridPoint from{span.first, line};
    const bool is_low = this->is_left(at, split, row, exact, from) == (slope > 0.0f);
    if (!is_low) return span.first;
    return this->find_cut(at, split, row, exact, 0, from, span.last, slope > 0.0f);
  }

  // Splits a region whose neighbouring points may go anywhere into stretches that go one way.
  std::array<std::vector<GridRegion>, 2> part_anywhere(Child at, const OpenSplit& split) {
    std::array<std::vector<GridRegion>, 2> sides;  // left, right
    const bool reads_first = split.flags & OpenSplit::kFirst;
    const bool reads_both = reads_first && (split.flags & OpenSplit::kSecond);
    for (size_t k = 0; k < this->n_here_; ++k) {
      GridRegion region = this->here_[k];
      if (split.flags == 0) {
        const bool way = this->is_left(at, split, this->row(region.row), 0.0, {0, 0});
        sides[way ? 0 : 1].push_back(region);
      } else if (!reads_both) {
        part_stretches(at, split, region, reads_first ? 0 : 1, sides);
      } else {
        const uint32_t last = region.last[1];
        for (uint32_t line = region.first[1]; line < last; ++line) {
          region.first[1] = line;
          region.last[1] = line + 1;
          part_stretches(at, split, region, 0, sides);
        }
      }
    }
    return sides;
  }

  // Stretches of points along an axis, or of lines, that go one way.
  void part_stretches(Child at, const OpenSplit& split, const GridRegion& region, int axis,
                      std::array<std::vector<GridRegion>, 2>& sides) {
    const float* row = this->row(region.row);
    const auto way_of = [&](uint32_t place) {
      GridPoint point = region.first;
      point[axis] = place;
      return this->is_left(at, split, row, 0.0, point);
    };
    for (uint32_t first = region.first[axis]; first < region.last[axis];) {
      const bool way = way_of(first);
      uint32_t last = first + 1;
      while (last < region.last[axis] && way_of(last) == way) ++last;
      GridRegion stretch = region;
      stretch.first[axis] = first;
      stretch.last[axis] = last;
      if (fit_box(stretch)) sides[way ? 0 : 1].push_back(stretch);
      first = last;
    }
  }

  std::vector<Waiting> waiting_;
  std::vector<Span> spans_;  // the first n_spans_ of them
  size_t n_spans_ = 0;
};

}  // namespace bevel
