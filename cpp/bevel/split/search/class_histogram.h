// Histogram search for three classes and more: bins hold a count per class.
//
// Gini: inside a bin the left counts are a + x, 0 <= x <= b; with t = sum x,
//   sum (a + x)^2 <= S_L + t max(2 a + b)    and    sum (r - x)^2 <= S_R - t min(2 r - b)
// over the classes of the bin, r = counts from the bin on. Divided by w_L + t and w_R - t these
// bound the score by a function of t alone, whose largest value class_scan (kernels) computes.
//
// Entropy: with F(x) = x log2 x and c the counts of the node, the score is
//   sum_k G(c_k, a_k + x_k) - G(W, w + t),   G(c, l) = F(l) + F(c - l).
// G is convex in l: over the bin each of the first terms is below its chord, and the last above a
// line parallel to its chord. The difference is then a sum over classes, and largest where each
// class is to the left as a whole or not at all (class_entropy_scan).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/split/criterion.h"
#include "bevel/split/cut.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/search/search_context.h"
#include "bevel/split/search/sorted_scan.h"

namespace bevel {

template <class Criterion>
class ClassHistogramSearch {
 public:
  using RowStats = typename Criterion::RowStats;

  ClassHistogramSearch(const Kernels& kernels, Sorter& sorter)
      : kernels_(kernels),
        sorter_(sorter),
        weights_(kMaxBins),
        scores_(kMaxBins),
        bounds_(kMaxBins) {}

  void begin_node(const Criterion& criterion, size_t n) {
    criterion_ = &criterion;
    stride_ = (criterion.n_present() + kLanes - 1) / kLanes * kLanes;
    n_bins_ = kMaxBins;
    while (n_bins_ > 8 && static_cast<size_t>(n_bins_) * stride_ > n) n_bins_ /= 2;
    histogram_.resize(static_cast<size_t>(n_bins_) * stride_);
    pending_.clear();
    binnings_.clear();
  }
  // Whether bins pay: with many classes and few rows they are too wide to exclude anything.
  bool worthwhile() const {
    if constexpr (Criterion::kIsEntropy)
      if (criterion_->weight() >= static_cast<double>(criterion_->table().size())) return false;
    return n_bins_ >= 64;
  }
  void count_rows(bool needed) { count_rows_ = needed; }

  void coarse(const float* values, size_t n, const SearchContext& context, bool approximate,
              Prefetch& prefetch) {
    Binning binning;
    const ValueRange range = kernels_.range_with_prefetch(values, n, prefetch);
    if (!(range.low < range.high)) return;
    if (!Binning::make(range, n_bins_, binning)) return sorted(values, n, context);
    fill(values, n, binning);
    scan();
    offer_edges(binning, context);
    if (approximate) return;
    const size_t before = pending_.size();
    const auto which = static_cast<uint32_t>(binnings_.size());
    for (int b = 0; b < n_bins_; ++b)
      if (bounds_[b] >= context.best->score) pending_.push_back({which, b, bounds_[b]});
    if (pending_.size() > before) binnings_.push_back({binning, context.candidate});
  }

  // Searches the pending bins that may still win. project(candidate) gives its values again.
  template <class Project>
  void refine(size_t n, SearchContext context, Project project) {
    for (size_t i = 0; i < pending_.size();) {
      const uint32_t which = pending_[i].binning;
      wanted_.assign(static_cast<size_t>(n_bins_), 0);
      bool any = false;
      for (; i < pending_.size() && pending_[i].binning == which; ++i) {
        if (pending_[i].bound < context.best->score) continue;
        wanted_[pending_[i].bin] = 1;
        any = true;
      }
      if (!any) continue;
      context.candidate = binnings_[which].candidate;
      inside(project(context.candidate), n, binnings_[which].bins, context);
    }
    pending_.clear();
    binnings_.clear();
  }

 private:
  using Accumulator = typename Criterion::Accumulator;
  struct Pending {
    uint32_t binning;
    int bin;
    double bound;
  };
  struct CandidateBins {
    Binning bins;
    int32_t candidate;
  };

  // Weights, scores and bounds of all bins.
  void scan() {
    const ClassBins bins{histogram_.data(), stride_, n_bins_};
    if constexpr (Criterion::kIsEntropy) {
      terms_.resize(2 * criterion_->n_present());
      kernels_.class_entropy_scan(bins, criterion_->counts().data(), criterion_->n_present(),
                                  criterion_->table().values(),
                                  criterion_->table().slack(criterion_->weight()), terms_.data(),
                                  weights_.data(), scores_.data(), bounds_.data());
    } else {
      left_.assign(stride_, 0.0);
      right_ = criterion_->counts();
      right_.resize(stride_, 0.0);
      kernels_.class_scan(bins, left_.data(), right_.data(), 0.0, criterion_->total_term(), 0.0,
                          criterion_->weight(), weights_.data(), scores_.data(), bounds_.data());
    }
  }

  void sorted(const float* values, size_t n, const SearchContext& context) {
    Accumulator left(*criterion_);
    left.begin();
    scan_sorted(sorter_.sort(values, n), criterion_->stats(), left, 0, context);
  }

  void fill(const float* values, size_t n, const Binning& binning) {
    bins_.resize(n);
    kernels_.bins(values, n, binning.low, binning.scale, binning.n_bins - 1, bins_.data());
    std::fill(histogram_.begin(), histogram_.end(), 0);
    const RowStats* stats = criterion_->stats();
    for (size_t i = 0; i < n; ++i)
      histogram_[bins_[i] * stride_ + stats[i].label] += stats[i].weight;
    if (!count_rows_) return;
    rows_.assign(static_cast<size_t>(binning.n_bins), 0);
    for (size_t i = 0; i < n; ++i) ++rows_[bins_[i]];
  }

  void offer_edges(const Binning& binning, const SearchContext& context) {
    size_t rows_left = 0;
    for (int b = 0; b + 1 < n_bins_; ++b) {
      if (count_rows_) rows_left += rows_[b];
      if (!(scores_[b] >= context.best->score)) continue;
      if (!context.allows(count_rows_ ? rows_left : 1, weights_[b])) continue;
      const Cut cut = context.cut_at_edge(scores_[b], weights_[b], binning, b);
      if (beats(cut, *context.best)) *context.best = cut;
    }
  }

  // Sorts the rows of each selected bin and scans the bins; those in between count as a whole.
  void inside(const float* values, size_t n, const Binning& binning, const SearchContext& context) {
    bins_.resize(n);
    kernels_.bins(values, n, binning.low, binning.scale, binning.n_bins - 1, bins_.data());
    const size_t n_wanted = scatter(values, n);
    if (2 * chosen_.size() > n) return sorted(values, n, context);
    Accumulator left(*criterion_);
    left_.assign(stride_, 0.0);
    size_t rows_left = 0;
    for (size_t w = 0; w < n_wanted; ++w) {
      for (size_t k = 0; k < stride_; ++k) left_[k] += gaps_[w * stride_ + k];
      left.begin_with(left_.data());
      rows_left += gap_rows_[w];
      scan_bin(start_[w], start_[w + 1], left, rows_left, context);
      for (size_t i = start_[w]; i < start_[w + 1]; ++i)
        left_[chosen_[i].stats.label] += chosen_[i].stats.weight;
      rows_left += start_[w + 1] - start_[w];
    }
  }

  // Rows of the w-th selected bin are chosen_[start_[w]] .. chosen_[start_[w + 1]]; the others are
  // counted in gaps_, those between selected bins w - 1 and w in the w-th. Returns how many are
  // selected.
  size_t scatter(const float* values, size_t n) {
    rank_.resize(static_cast<size_t>(n_bins_));
    size_t n_wanted = 0;
    for (int b = 0; b < n_bins_; ++b) {
      rank_[b] = static_cast<uint32_t>(n_wanted);
      n_wanted += wanted_[b];
    }
    start_.assign(n_wanted + 3, 0);  // the last two for bins after the selected ones
    for (size_t i = 0; i < n; ++i) start_[rank_[bins_[i]] + 2] += wanted_[bins_[i]];
    for (size_t w = 2; w < start_.size(); ++w) start_[w] += start_[w - 1];
    chosen_.resize(start_.back());
    gaps_.assign((n_wanted + 1) * stride_, 0);
    gap_rows_.assign(n_wanted + 1, 0);
    const RowStats* stats = criterion_->stats();
    for (size_t i = 0; i < n; ++i) {
      const uint32_t w = rank_[bins_[i]];
      if (wanted_[bins_[i]]) {
        chosen_[start_[w + 1]++] = {values[i], stats[i]};
      } else {
        gaps_[w * stride_ + stats[i].label] += stats[i].weight;
        ++gap_rows_[w];
      }
    }
    return n_wanted;
  }

  struct Chosen {
    float value;
    RowStats stats;
  };

  // Cuts between the rows of one bin; those at its ends are edges, which were tried before.
  void scan_bin(size_t first, size_t last, Accumulator& left, size_t rows_left,
                const SearchContext& context) {
    std::sort(chosen_.begin() + static_cast<ptrdiff_t>(first),
              chosen_.begin() + static_cast<ptrdiff_t>(last),
              [](const Chosen& a, const Chosen& b) { return a.value < b.value; });
    for (size_t i = first; i < last; ++i) {
      left.add(chosen_[i].stats);
      if (i + 1 == last || chosen_[i].value == chosen_[i + 1].value) continue;
      const double score = left.score();
      if (score >= context.best->score)
        context.offer(score, count_rows_ ? rows_left + (i + 1 - first) : 1, left.weight(),
                      chosen_[i].value, chosen_[i + 1].value);
    }
  }

  const Kernels& kernels_;
  Sorter& sorter_;
  const Criterion* criterion_ = nullptr;
  size_t stride_ = 0;
  int n_bins_ = 0;
  bool count_rows_ = false;
  std::vector<uint32_t> histogram_, rows_;
  std::vector<uint16_t> bins_;
  std::vector<double> left_, right_, terms_, weights_, scores_, bounds_;
  std::vector<uint8_t> wanted_;
  std::vector<size_t> start_, gap_rows_;
  std::vector<uint32_t> rank_, gaps_;
  std::vector<Chosen> chosen_;
  std::vector<Pending> pending_;
  std::vector<CandidateBins> binnings_;
};

}  // namespace bevel
