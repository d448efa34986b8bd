// The best cut of a node by the sums of its bins: the criteria and the order of ties are those of
// the search over rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "bevel/blocks/block_request.h"
#include "bevel/blocks/row_grid.h"
#include "bevel/data/dataset_view.h"
#include "bevel/split/criterion.h"
#include "bevel/split/node_view.h"
#include "bevel/split/search/search_context.h"
#include "bevel/tree/node_store.h"

namespace bevel {

struct ChosenCut {
  bool found = false;
  size_t candidate = 0;  // in the request
  SplitRecord split;
  std::vector<int64_t> left;  // cell of the rows on the left
};

template <class Criterion>
class CutChoice {
 public:
  CutChoice(const DatasetView& data, const RowGrid& grid, Criterion criterion)
      : data_(data), grid_(grid), size_(grid.cell_size()), criterion_(std::move(criterion)) {}

  // cells: the answer of all blocks together; totals: the cell of the node.
  ChosenCut choose(const CandidateBins& bins, size_t slot, const int64_t* cells,
                   const int64_t* totals, const Limits& limits) {
    begin_node(totals);
    found_ = BestSplit();
    left_.assign(size_, 0);
    for (size_t c = bins.first[slot]; c < bins.first[slot + 1]; ++c) {
      SearchContext context{limits,
                            static_cast<size_t>(totals[0]),
                            criterion_.weight(),
                            static_cast<int32_t>(c),
                            false,
                            false,
                            &found_.cut};
      const int64_t* own = cells + bins.cell[c] * size_;
      if (bins.is_nominal[c])
        search_levels(*bins.candidates.indices(c), own, context);
      else
        search_edges({bins.edges.data() + bins.edge_offset[c], bins.n_edges(c)}, own, context);
    }
    ChosenCut result;
    if (found_.cut.found()) record(bins, result);
    return result;
  }

 private:
  // Above any stored value: everything that is present goes left.
  static constexpr float kAboveAll = 1e34f;

  void begin_node(const int64_t* totals) {
    if constexpr (Criterion::kIsPair) {
      const WidePair total = pair(totals);
      criterion_.begin_node(&total, 1);
    } else {
      present_.clear();
      stats_.clear();
      for (int32_t k = 0; k < grid_.n_classes; ++k) {
        if (totals[1 + k] == 0) continue;
        present_.push_back(k);
        stats_.push_back({static_cast<uint32_t>(k), static_cast<double>(totals[1 + k])});
      }
      criterion_.begin_node(stats_.data(), stats_.size());
    }
    moments_.resize(criterion_.n_moments());
  }
  WidePair pair(const int64_t* cell) const {
    if (grid_.n_classes == 0) return {cell[1], cell[2]};
    return {cell[1] + cell[2], cell[2]};
  }
  void set_moments(const int64_t* cell, double* moments) const {
    if constexpr (Criterion::kIsPair) {
      const WidePair p = pair(cell);
      moments[0] = static_cast<double>(p.weight);
      moments[1] = static_cast<double>(p.sum);
    } else {
      for (size_t id = 0; id < present_.size(); ++id)
        moments[id] = static_cast<double>(cell[1 + present_[id]]);
    }
  }
  void add(const int64_t* cell, std::vector<int64_t>& sums) const {
    for (size_t k = 0; k < size_; ++k) sums[k] += cell[k];
  }

  // Offers the cut with these sums on the left; true if it is the best so far.
  bool offer(const SearchContext& context, const std::vector<int64_t>& left, float threshold) {
    if (left[0] == 0) return false;
    set_moments(left.data(), moments_.data());
    const Cut before = found_.cut;
    context.offer(criterion_.moments_score(moments_.data()), static_cast<size_t>(left[0]),
                  criterion_.moments_weight(moments_.data()), threshold, threshold);
    if (!beats(found_.cut, before)) return false;
    left_ = left;
    return true;
  }

  void search_edges(std::span<const float> edges, const int64_t* cells, SearchContext context) {
    const int64_t* missing = cells + (edges.size() + 1) * size_;
    context.has_missing = missing[0] > 0;
    std::vector<int64_t> left(size_);
    for (const bool missing_left : {false, true}) {
      if (missing_left && !context.has_missing) break;
      context.missing_left = missing_left;
      std::fill(left.begin(), left.end(), 0);
      if (missing_left) add(missing, left);
      for (size_t e = 0; e < edges.size(); ++e) {
        add(cells + e * size_, left);
        offer(context, left, edges[e]);
      }
      if (missing_left || !context.has_missing) continue;
      add(cells + edges.size() * size_, left);
      offer(context, left, kAboveAll);
    }
  }

  // Levels in the order of their mean target, cut like values.
  void search_levels(int32_t feature, const int64_t* cells, const SearchContext& context) {
    std::vector<int32_t> levels;
    for (int32_t level = 0; level < data_.levels[feature]; ++level)
      if (cells[static_cast<size_t>(level) * size_] > 0) levels.push_back(level);
    const size_t n = levels.size(), m = criterion_.n_moments();
    if (n < 2) return;
    std::vector<double> moments(n * m), keys(n);
    for (size_t g = 0; g < n; ++g)
      set_moments(cells + static_cast<size_t>(levels[g]) * size_, &moments[g * m]);
    criterion_.order_keys(moments, n, keys);
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    std::vector<int64_t> left(size_, 0);
    size_t best = 0;
    for (size_t g = 0; g + 1 < n; ++g) {
      add(cells + static_cast<size_t>(levels[order[g]]) * size_, left);
      if (offer(context, left, 0.0f)) best = g + 1;
    }
    if (best == 0) return;
    // Levels that are not in the node go with the heavier child.
    const bool heavier_left = found_.cut.weight_left * 2.0 >= criterion_.weight();
    std::vector<uint8_t> goes_left(static_cast<size_t>(data_.levels[feature]), heavier_left);
    for (size_t g = 0; g < n; ++g) goes_left[static_cast<size_t>(levels[order[g]])] = g < best;
    found_.levels.reset(data_.levels[feature]);
    for (int32_t level = 0; level < data_.levels[feature]; ++level)
      if (goes_left[static_cast<size_t>(level)]) found_.levels.insert(level);
  }

  void record(const CandidateBins& bins, ChosenCut& out) {
    const Cut& cut = found_.cut;
    const auto c = static_cast<size_t>(cut.candidate);
    const int n = bins.candidates.n_nonzeros(c);
    out.found = true;
    out.candidate = c;
    out.left = left_;
    SplitRecord& split = out.split;
    split.index.assign(bins.candidates.indices(c), bins.candidates.indices(c) + n);
    split.coefficient.assign(bins.candidates.weights(c), bins.candidates.weights(c) + n);
    const bool nominal = bins.is_nominal[c] != 0;
    const bool heavier_left = cut.weight_left * 2.0 >= criterion_.weight();
    const bool missing_left = cut.has_missing ? cut.missing_left : heavier_left;
    split.flags =
        static_cast<uint8_t>((missing_left ? kMissingLeft : 0) | (nominal ? kCategoryNode : 0));
    split.threshold = nominal ? 0.0f : cut.low;
    if (nominal) split.level_bits = found_.levels.words();
    split.gain = criterion_.gain(cut.score);
    if constexpr (!Criterion::kPreciseGain) {
      std::vector<double> left(present_.size());
      set_moments(left_.data(), left.data());
      split.gain = criterion_.gain_of_left(left);
    }
  }

  const DatasetView& data_;
  const RowGrid& grid_;
  const size_t size_;
  Criterion criterion_;
  std::vector<int32_t> present_;  // classes of the node
  std::vector<ClassRowStats<double>> stats_;
  std::vector<double> moments_;
  std::vector<int64_t> left_;  // left cell of the best cut
  BestSplit found_;
};

}  // namespace bevel
