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

// Base of the walks: a block of rows, laid out for nodes, that is written to.
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
    const auto p = static_cast<size_t>(forest_.layout.n_columns);
    first_row_ = first;
    rows_.resize(std::max(rows_.size(), n * width_));
    at_.resize(std::max(at_.size(), n));
    for (size_t i = 0; i < n; ++i) {
      const float* source = table + (first + i) * p;
      std::copy(source, source + p, row(i));
      write_rest(forest_, row(i));
    }
  }

 protected:
  const OpenSplit& open_split(Child at) const { return open_splits_[number_of(at)]; }
  bool is_closed(Child at) const { return at >= 0 && open_split(at).flags == 0; }
  float* row(size_t i) { return &rows_[i * width_]; }

  // Walks to the first split that reads an open feature, or to a leaf.
  Child pass_closed(Child at, const float* row) const {
    while (is_closed(at)) at = walk_.next(at, row);
    return at;
  }

  // Walks to the first open split from the root for some rows of the block, into at_; the walks are
  // interleaved to hide memory latency.
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
    forest_.write_levels_of(feature, row);
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

// A run of neighbouring variants that end in one leaf.
struct OneRun {
  size_t first, last;

  template <class Use>
  void each(Use use) const {
    use(first, last);
  }
};

// Variants that differ by row: each is evaluated at the splits that read a changed feature.
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
      part(tree, i, [&](int32_t leaf, OneRun run) { add(i, leaf, run); });
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
        add(~run.at, OneRun{run.first, run.last});
      else
        cut(run);
    }
  }

  void change(size_t variant, float* row) const {
    const float* values = variants_.of(number_, variant);
    for (size_t f = 0; f < variants_.features.size(); ++f)
      this->write(variants_.features[f], values[f], row);
  }

  // Writes all variants with their axes.
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
  size_t number_ = 0;  // index of the row in the table
  float* row_ = nullptr;
  std::vector<Run> runs_;
  std::vector<float> variant_rows_;
};

}  // namespace bevel
