// All variants of a row go down a tree together. Splits that read none of the changed features are
// evaluated once; at the others the variants part. Leaves are those of prediction, bit for bit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bevel/analysis/effects/open_splits.h"
#include "bevel/analysis/effects/variants.h"
#include "bevel/predict/packed_walk.h"
#include "bevel/predict/row_source.h"

namespace bevel {

// What walks of both kinds share: a block of rows, laid out for nodes, that is written to.
template <class Node, bool kHasMissing>
class OpenRows {
 public:
  OpenRows(const PackedForest& forest, const Node* nodes, const std::vector<OpenSplit>& open_splits)
      : forest_(forest),
        walk_(forest, nodes),
        open_splits_(open_splits),
        width_(static_cast<size_t>(forest.layout.width())) {}

  // Reads the rows [first, first + n) of a table without gaps.
  void read(const float* table, size_t first, size_t n) {
    const auto p = static_cast<size_t>(forest_.layout.n_features);
    first_row_ = first;
    rows_.resize(std::max(rows_.size(), n * width_));
    at_.resize(std::max(at_.size(), n));
    for (size_t i = 0; i < n; ++i) {
      const float* source = table + (first + i) * p;
      std::copy(source, source + p, row(i));
      write_rest(forest_.layout, row(i));
    }
  }

 protected:
  const OpenSplit& open_split(Child at) const { return open_splits_[number_of(at)]; }
  bool is_closed(Child at) const { return at >= 0 && open_split(at).flags == 0; }
  float* row(size_t i) { return &rows_[i * width_]; }

  // The first split that reads an open feature, or a leaf.
  Child pass_closed(Child at, const float* row) const {
    while (is_closed(at)) at = walk_.next(at, row);
    return at;
  }

  // The same from the root for some rows of the block, into at_; one waits for memory while the
  // others go on.
  void pass_closed(size_t tree, std::span<const uint32_t> chosen) {
    active_.assign(chosen.begin(), chosen.end());
    const Child root = forest_.roots[tree];
    for (const uint32_t i : chosen) at_[i] = root;
    size_t n = is_closed(root) ? active_.size() : 0;
    while (n > 0)
      for (size_t k = 0; k < n; ++k) {
        const uint32_t i = active_[k];
        at_[i] = walk_.next(at_[i], row(i));
        if (!is_closed(at_[i])) active_[k] = active_[--n];
      }
  }

  void write(int32_t feature, float value, float* row) const {
    row[feature] = value;
    if (forest_.layout.has_negatives) row[forest_.layout.negative(feature)] = -value;
  }

  void write_axes_of(size_t tree, float* row) {
    if (!forest_.axes.empty()) write_axes(forest_, tree, !kHasMissing, row, complete_);
  }

  const PackedForest& forest_;
  const PackedWalk<Node, kHasMissing> walk_;
  const std::vector<OpenSplit>& open_splits_;
  const size_t width_;
  size_t first_row_ = 0;
  std::vector<float> rows_, complete_;
  std::vector<Child> at_;

 private:
  std::vector<uint32_t> active_;
};

// Variants of a grid. A region of the grid has a span of points on each of its lines, which run
// along the first axis. Where the projected value rises or falls along both axes, the parts of a
// region on both sides of a split are regions too: no node is visited twice. Points are evaluated
// by the slope of the split; those too near to the threshold, by the split itself.
template <class Node, bool kHasMissing>
class GridWalk : public OpenRows<Node, kHasMissing> {
 public:
  GridWalk(const PackedForest& forest, const Node* nodes, const std::vector<OpenSplit>& open_splits,
           const FeatureGrid& grid)
      : OpenRows<Node, kHasMissing>(forest, nodes, open_splits), grid_(grid) {}

  // Sends rows of the block down a tree; calls add(row, leaf, first, last) for runs of variants
  // that end in the same leaf.
  template <class Add>
  void run(size_t tree, std::span<const uint32_t> chosen, Add add) {
    tree_ = tree;
    for (const uint32_t i : chosen) {
      for (int axis = 0; axis < grid_.n_axes(); ++axis) set(axis, 0, this->row(i));
      this->write_axes_of(tree, this->row(i));
    }
    this->pass_closed(tree, chosen);
    for (const uint32_t i : chosen)
      part(i, [&](int32_t leaf, size_t first, size_t last) { add(i, leaf, first, last); });
  }

 private:
  struct Span {
    uint32_t first = 0, last = 0;
    bool empty() const { return first >= last; }
  };
  using Spans = std::vector<Span>;
  // The spans of a region that waits are on top of those of the regions that wait below it.
  struct Region {
    Child at;
    size_t first_line, n_lines;
    Span hull;  // the points of all its spans
  };
  // Sides of a split by its children.
  using Side = int;

  // The variants of a row, from where it has met an open split.
  template <class Add>
  void part(uint32_t i, Add add) {
    row_ = this->row(i);
    spans_.assign(grid_.size(1), {0, static_cast<uint32_t>(grid_.size(0))});
    regions_.assign(1, {this->at_[i], 0, grid_.size(1), spans_[0]});
    while (!regions_.empty()) {
      Region region = regions_.back();
      regions_.pop_back();
      current_.assign(spans_.end() - static_cast<std::ptrdiff_t>(region.n_lines), spans_.end());
      spans_.resize(spans_.size() - region.n_lines);
      do region.at = this->pass_closed(region.at, row_);
      while (region.at >= 0 && passes_whole(region));
      if (region.at >= 0) continue;
      add_lines(region, add);
    }
  }

  // Spans that follow each other, of whole lines, are one run.
  template <class Add>
  void add_lines(const Region& region, Add add) const {
    size_t first = 0, last = 0;
    for (size_t k = 0; k < region.n_lines; ++k) {
      if (current_[k].empty()) continue;
      const size_t line = (region.first_line + k) * grid_.size(0);
      if (line + current_[k].first != last) {
        if (first < last) add(~region.at, first, last);
        first = line + current_[k].first;
      }
      last = line + current_[k].last;
    }
    if (first < last) add(~region.at, first, last);
  }

  void set(int axis, size_t point, float* row) const {
    this->write(grid_.feature[axis], grid_.values[axis][point], row);
  }

  // Sends the current region on as a whole, or puts its parts to those that wait.
  bool passes_whole(Region& region) {
    split_ = &this->open_split(region.at);
    const bool is_erratic = split_->flags & OpenSplit::kErratic;
    if (is_erratic && (split_->flags & OpenSplit::kFirst)) {
      cut_points(region);
      return false;
    }
    if (!is_erratic) {
      distance_ = distance_of(region.at);
      const auto side = side_of_box(region);
      if (side >= 0) {
        region.at = this->walk_.children(region.at)[static_cast<size_t>(side)];
        return true;
      }
    }
    for (Spans& spans : sides_) spans.assign(region.n_lines, {});
    if (split_->flags & OpenSplit::kSecond)
      cut_lines(region);
    else
      cut_alike(region);
    const bool any[2] = {any_in(sides_[0]), any_in(sides_[1])};
    const auto children = this->walk_.children(region.at);
    if (any[0] && any[1]) {
      push(children[1], region.first_line, sides_[1]);
      push(children[0], region.first_line, sides_[0]);
      return false;
    }
    region.at = children[any[1] ? 1 : 0];
    return true;
  }

  // The side of all points between the outermost of the region; -1 if they are not known to have
  // one.
  Side side_of_box(const Region& region) const {
    double low = distance_, high = distance_;
    const auto add = [&](int axis, size_t first, size_t last) {
      const double one = split_->slope[axis] * grid_.beyond_first(axis, first);
      const double other = split_->slope[axis] * grid_.beyond_first(axis, last);
      low += std::min(one, other);
      high += std::max(one, other);
    };
    add(0, region.hull.first, region.hull.last - 1);
    if (grid_.n_axes() == 2) add(1, region.first_line, region.first_line + region.n_lines - 1);
    if (low > split_->slack) return 1;
    return high < -split_->slack ? 0 : -1;
  }

  static bool any_in(const Spans& spans) {
    return std::any_of(spans.begin(), spans.end(), [](Span span) { return !span.empty(); });
  }

  void push(Child at, size_t first_line, const Spans& spans) {
    size_t first = 0, last = spans.size();
    while (spans[first].empty()) ++first;
    while (spans[last - 1].empty()) --last;
    spans_.insert(spans_.end(), spans.begin() + static_cast<std::ptrdiff_t>(first),
                  spans.begin() + static_cast<std::ptrdiff_t>(last));
    Span hull = spans[first];
    for (size_t k = first; k < last; ++k)
      if (!spans[k].empty())
        hull = {std::min(hull.first, spans[k].first), std::max(hull.last, spans[k].last)};
    regions_.push_back({at, first_line + first, last - first, hull});
  }

  // Projected value less threshold, where the open features have the first values of the grid.
  double distance_of(Child at) const {
    double sum = 0.0;
    this->walk_.over_terms(at, [&](uint32_t place, float weight) {
      float x = row_[place];
      if (kHasMissing && x != x) x = this->forest_.medians[place];
      sum += static_cast<double>(weight) * x;
    });
    return sum - this->walk_.threshold(at);
  }

  Side side(Child at, size_t point, size_t line) {
    if (!(split_->flags & OpenSplit::kErratic)) {
      double distance = distance_ + split_->slope[0] * grid_.beyond_first(0, point);
      if (grid_.n_axes() == 2) distance += split_->slope[1] * grid_.beyond_first(1, line);
      if (std::fabs(distance) > split_->slack) return distance > 0.0;
    }
    return exact_side(at, point, line);
  }

  Side exact_side(Child at, size_t point, size_t line) {
    exact_.assign(row_, row_ + this->width_);
    set(0, point, exact_.data());
    if (grid_.n_axes() == 2) set(1, line, exact_.data());
    this->write_axes_of(tree_, exact_.data());
    return this->walk_.next(at, exact_.data()) == this->walk_.children(at)[0] ? 0 : 1;
  }

  // The side of the first point of a span, and where the other side begins.
  std::pair<Side, uint32_t> find_cut(Child at, Span span, size_t line) {
    const Side first = side(at, span.first, line);
    if (!(split_->flags & OpenSplit::kFirst) || span.last - span.first == 1 ||
        side(at, span.last - 1, line) == first)
      return {first, span.last};
    uint32_t low = span.first, high = span.last - 1;
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (side(at, middle, line) == first ? low : high) = middle;
    }
    return {first, high};
  }

  void cut(size_t k, Side first, uint32_t at) {
    const Span span = current_[k];
    sides_[first][k] = {span.first, std::min(span.last, at)};
    sides_[1 - first][k] = {std::max(span.first, at), span.last};
  }

  // The cut moves little from line to line, and always the same way.
  void cut_lines(const Region& region) {
    const bool follows = !(split_->flags & OpenSplit::kErratic) && split_->slope[0] != 0.0f;
    const Side first_side = split_->slope[0] > 0.0f ? 0 : 1;
    uint32_t place = region.hull.first;
    for (size_t k = 0; k < region.n_lines; ++k) {
      const Span span = current_[k];
      const size_t line = region.first_line + k;
      if (span.empty()) continue;
      if (!follows) {
        const auto [first, cut_place] = find_cut(region.at, span, line);
        cut(k, first, cut_place);
        continue;
      }
      place = std::clamp(place, span.first, span.last);
      while (place < span.last && side(region.at, place, line) == first_side) ++place;
      while (place > span.first && side(region.at, place - 1, line) != first_side) --place;
      cut(k, first_side, place);
    }
  }

  // Where the split does not read the second axis.
  void cut_alike(const Region& region) {
    const auto [first, place] = find_cut(region.at, region.hull, region.first_line);
    for (size_t k = 0; k < region.n_lines; ++k)
      if (!current_[k].empty()) cut(k, first, place);
  }

  // Where neighbouring points of a line may go anywhere: a region for each run that goes one way,
  // of all lines together where the split does not read the second axis.
  void cut_points(const Region& region) {
    const auto children = this->walk_.children(region.at);
    const bool alike = !(split_->flags & OpenSplit::kSecond);
    const size_t n_groups = alike ? 1 : region.n_lines;
    for (size_t group = 0; group < n_groups; ++group) {
      const Span all = alike ? region.hull : current_[group];
      const size_t line = region.first_line + group;
      for (uint32_t first = all.first; first < all.last;) {
        const Side way = side(region.at, first, line);
        uint32_t last = first + 1;
        while (last < all.last && side(region.at, last, line) == way) ++last;
        sides_[0].assign(region.n_lines, {});
        for (size_t k = alike ? 0 : group; k < (alike ? region.n_lines : group + 1); ++k)
          sides_[0][k] = {std::max(first, current_[k].first), std::min(last, current_[k].last)};
        if (any_in(sides_[0])) push(children[way], region.first_line, sides_[0]);
        first = last;
      }
    }
  }

  const FeatureGrid& grid_;
  size_t tree_ = 0;
  const float* row_ = nullptr;
  std::vector<Region> regions_;
  Spans spans_, current_, sides_[2];
  std::vector<float> exact_;
  const OpenSplit* split_ = nullptr;
  double distance_ = 0.0;
};

// Variants of the row's own: each is evaluated at the splits that read a changed feature.
template <class Node, bool kHasMissing>
class VariantWalk : public OpenRows<Node, kHasMissing> {
 public:
  VariantWalk(const PackedForest& forest, const Node* nodes,
              const std::vector<OpenSplit>& open_splits, const RowVariants& variants)
      : OpenRows<Node, kHasMissing>(forest, nodes, open_splits), variants_(variants) {}

  template <class Add>
  void run(size_t tree, std::span<const uint32_t> chosen, Add add) {
    for (const uint32_t i : chosen) this->write_axes_of(tree, this->row(i));
    this->pass_closed(tree, chosen);
    for (const uint32_t i : chosen)
      part(tree, i, [&](int32_t leaf, size_t first, size_t last) { add(i, leaf, first, last); });
  }

 private:
  struct Run {
    Child at;
    size_t first, last;
  };

  template <class Add>
  void part(size_t tree, uint32_t i, Add add) {
    row_ = this->row(i);
    number_ = this->first_row_ + i;
    runs_.clear();
    runs_.push_back({this->at_[i], 0, variants_.n_variants()});
    if (this->at_[i] >= 0 && !this->forest_.axes.empty()) write_out(tree);
    while (!runs_.empty()) {
      Run run = runs_.back();
      runs_.pop_back();
      run.at = this->pass_closed(run.at, row_);
      if (run.at < 0)
        add(~run.at, run.first, run.last);
      else
        cut(run);
    }
  }

  void change(size_t variant, float* row) const {
    const float* values = variants_.of(number_, variant);
    for (size_t f = 0; f < variants_.features.size(); ++f)
      this->write(variants_.features[f], values[f], row);
  }

  // All variants with their axes.
  void write_out(size_t tree) {
    variant_rows_.resize(variants_.n_variants() * this->width_);
    for (size_t variant = 0; variant < variants_.n_variants(); ++variant) {
      float* row = &variant_rows_[variant * this->width_];
      std::copy(row_, row_ + this->width_, row);
      change(variant, row);
      this->write_axes_of(tree, row);
    }
  }

  Child next(Child at, size_t variant) {
    if (!this->forest_.axes.empty())
      return this->walk_.next(at, &variant_rows_[variant * this->width_]);
    change(variant, row_);
    return this->walk_.next(at, row_);
  }

  void cut(const Run& run) {
    size_t first = run.first;
    Child before = next(run.at, first);
    for (size_t variant = first + 1; variant < run.last; ++variant) {
      const Child now = next(run.at, variant);
      if (now == before) continue;
      runs_.push_back({before, first, variant});
      first = variant;
      before = now;
    }
    runs_.push_back({before, first, run.last});
  }

  const RowVariants& variants_;
  size_t number_ = 0;  // of the row in the table
  float* row_ = nullptr;
  std::vector<Run> runs_;
  std::vector<float> variant_rows_;
};

}  // namespace bevel
