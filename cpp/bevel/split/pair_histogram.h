// Best cut of one (weight, sum) pair per row by equal-width bins and branch and bound. Edges of bins
// are cuts; inside a bin the score is bounded by its convexity (kernels: pair_bounds), and only bins
// whose bound reaches the best cut of all candidates are looked into, again by bins. The result is
// that of a full sort, bit for bit, since sums are whole numbers and the score is one formula.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/split/kernels.h"
#include "bevel/split/search_context.h"
#include "bevel/split/sorted_scan.h"
#include "bevel/split/task.h"

namespace bevel {

// Bins by the number of rows: scanning more of them costs more than sorting what they would spare.
inline int bins_for(size_t n_rows) {
  if (n_rows < 256) return 32;
  if (n_rows < 1024) return 64;
  if (n_rows < 4096) return 128;
  if (n_rows < 65536) return 256;
  return kMaxBins;
}

template <class Task>
class PairHistogramSearch {
 public:
  using Payload = typename Task::Payload;

  PairHistogramSearch(const Kernels& kernels, Sorter& sorter)
      : kernels_(kernels),
        sorter_(sorter),
        histogram_(2 * kMaxBins),
        weight_(kMaxBins + 1),
        sum_(kMaxBins + 1),
        rows_(kMaxBins + 1),
        cumulative_(kMaxBins + 1),
        flags_(kMaxBins) {}

  void begin_node(const Task& task, size_t n) {
    task_ = &task;
    low_ = 0.0;
    high_ = 1.0;
    if constexpr (sizeof(Payload) == sizeof(WidePair))
      if (task.is_regression()) kernels_.target_range(task.payload(), n, &low_, &high_);
    pending_.clear();
    binnings_.clear();
  }

  // Cuts on the edges of bins; what may hide inside bins is put on the list of pending ones.
  void coarse(const float* values, size_t n, const SearchContext& context, bool approximate) {
    Binning binning;
    if (!Binning::make(kernels_.range(values, n), bins_for(n), binning)) {
      if (binning.low < kernels_.range(values, n).high) sorted(values, task_->payload(), n, {0, 0}, 0, context);
      return;
    }
    edges(values, task_->payload(), n, binning, {0, 0}, 0, context);
    if (approximate) return;
    bounds(binning, context);
    const auto which = static_cast<uint32_t>(binnings_.size());
    for (int b = 0; b < binning.n_bins; ++b)
      if (flags_[b])
        pending_.push_back({which, b, cumulative_[b], cumulative_[b + 1], 0});
    if (!pending_.empty() && pending_.back().binning == which)
      binnings_.push_back({binning, context.candidate});
  }

  // Looks into the pending bins that may still win. project(candidate) gives its values again.
  template <class Project>
  void refine(size_t n, SearchContext context, Project project) {
    for (size_t i = 0; i < pending_.size();) {
      const uint32_t which = pending_[i].binning;
      size_t end = i;
      while (end < pending_.size() && pending_[end].binning == which) ++end;
      context.candidate = binnings_[which].candidate;
      const float* values = nullptr;
      while (i < end) {
        if (!may_win(pending_[i], context)) {
          ++i;
          continue;
        }
        size_t last = i;
        while (last + 1 < end && pending_[last + 1].bin == pending_[last].bin + 1 &&
               may_win(pending_[last + 1], context))
          ++last;
        if (!values) values = project(context.candidate);
        inside(values, task_->payload(), n, binnings_[which].bins, pending_[i], pending_[last].bin,
               context, 1);
        i = last + 1;
      }
    }
    pending_.clear();
    binnings_.clear();
  }

 private:
  static constexpr size_t kSortRows = 96;
  static constexpr int kMaxLevels = 6;

  struct Pending {
    uint32_t binning;
    int bin;
    WidePair before, after;  // sums left of the bin, and with it
    size_t rows_before;  // left of all bins
  };
  struct CandidateBins {
    Binning bins;
    int32_t candidate;
  };

  bool may_win(const Pending& p, const SearchContext& context) const {
    const double w[2] = {static_cast<double>(p.before.weight), static_cast<double>(p.after.weight)};
    const double a[2] = {static_cast<double>(p.before.sum), static_cast<double>(p.after.sum)};
    uint8_t flag = 0;
    kernels_.pair_bounds(w, a, 1, low_, high_, task_->totals(), context.best->score, &flag);
    return flag;
  }

  void sorted(const float* values, const Payload* payload, size_t n, WidePair before,
              size_t rows_before, const SearchContext& context) {
    typename Task::Accumulator left(*task_);
    left.add_sum(before);
    scan_sorted(sorter_.sort(values, n), payload, left, rows_before, context);
  }

  // Fills the cumulative arrays and offers the best edge.
  void edges(const float* values, const Payload* payload, size_t n, const Binning& binning,
             WidePair before, size_t rows_before, const SearchContext& context) {
    const int n_bins = binning.n_bins;
    if constexpr (sizeof(Payload) == 8) {
      kernels_.histogram_packed(values, payload, n, binning.low, binning.scale, n_bins,
                                reinterpret_cast<uint64_t*>(histogram_.data()));
    } else {
      kernels_.histogram_wide(values, payload, n, binning.low, binning.scale, n_bins,
                              histogram_.data());
    }
    count_rows(values, n, binning, rows_before, context.limits.min_rows > 1);
    cumulative_[0] = before;
    weight_[0] = static_cast<double>(before.weight);
    sum_[0] = static_cast<double>(before.sum);
    for (int b = 0; b < n_bins; ++b) {
      if constexpr (sizeof(Payload) == 8)
        cumulative_[b + 1] =
            cumulative_[b] + widen(reinterpret_cast<const uint64_t*>(histogram_.data())[b]);
      else
        cumulative_[b + 1] = cumulative_[b] + histogram_[b];
      weight_[b + 1] = static_cast<double>(cumulative_[b + 1].weight);
      sum_[b + 1] = static_cast<double>(cumulative_[b + 1].sum);
    }
    kernels_.pair_edges(&weight_[1], &sum_[1], n_bins - 1, task_->totals(), context.best->score,
                        flags_.data());
    for (int b = 0; b + 1 < n_bins; ++b) {
      if (!flags_[b]) continue;
      const double score = pair_score(weight_[b + 1], sum_[b + 1], task_->totals());
      const size_t rows_left =
          context.limits.min_rows > 1 ? rows_[b + 1] : 1;  // with a limit of one any edge will do
      if (!(score >= context.best->score) || !edge_allowed(rows_left, weight_[b + 1], context)) continue;
      const Cut cut = context.cut_at_edge(score, weight_[b + 1], binning, b);
      if (beats(cut, *context.best)) *context.best = cut;
    }
  }

  static bool edge_allowed(size_t rows_left, double weight_left, const SearchContext& context) {
    if (context.limits.min_rows > 1) return context.allows(rows_left, weight_left);
    return weight_left >= context.limits.min_weight &&
           context.total_weight - weight_left >= context.limits.min_weight;
  }

  // Rows left of each edge; only a limit on them makes them worth counting.
  void count_rows(const float* values, size_t n, const Binning& binning, size_t rows_before,
                  bool needed) {
    rows_[0] = rows_before;
    if (!needed) return;
    std::fill(rows_.begin() + 1, rows_.begin() + binning.n_bins + 1, 0);
    for (size_t i = 0; i < n; ++i)
      ++rows_[bin(values[i], binning.low, binning.scale, binning.n_bins - 1) + 1];
    for (int b = 0; b < binning.n_bins; ++b) rows_[b + 1] += rows_[b];
  }

  void bounds(const Binning& binning, const SearchContext& context) {
    kernels_.pair_bounds(weight_.data(), sum_.data(), binning.n_bins, low_, high_, task_->totals(),
                         context.best->score, flags_.data());
  }

  // Exact search over the rows of the run of bins [first.bin, last].
  void inside(const float* values, const Payload* payload, size_t n, const Binning& binning,
              const Pending& first, int last, const SearchContext& context, int level) {
    if (static_cast<size_t>(level) >= levels_.size()) levels_.resize(level + 1);
    auto& own = levels_[level];
    own.values.resize(n);
    own.payload.resize(n);
    size_t kept = 0;
    size_t skipped = 0;
    for (size_t i = 0; i < n; ++i) {
      const int b = bin(values[i], binning.low, binning.scale, binning.n_bins - 1);
      own.values[kept] = values[i];
      own.payload[kept] = payload[i];
      kept += b >= first.bin && b <= last;
      skipped += b < first.bin;
    }
    run(kept, first.before, first.rows_before + skipped, context, level);
  }

  void run(size_t n, WidePair before, size_t rows_before, const SearchContext& context, int level) {
    const float* values = levels_[level].values.data();
    const Payload* payload = levels_[level].payload.data();
    Binning binning;
    if (n < 2) return;
    const ValueRange range = kernels_.range(values, n);
    if (!(range.low < range.high)) return;
    if (n <= kSortRows || level >= kMaxLevels || !Binning::make(range, bins_for(n), binning))
      return sorted(values, payload, n, before, rows_before, context);
    edges(values, payload, n, binning, before, rows_before, context);
    bounds(binning, context);
    std::vector<Pending> found;
    for (int b = 0; b < binning.n_bins; ++b)
      if (flags_[b]) found.push_back({0, b, cumulative_[b], cumulative_[b + 1], rows_before});
    for (size_t i = 0; i < found.size();) {
      size_t end = i;
      while (end + 1 < found.size() && found[end + 1].bin == found[end].bin + 1) ++end;
      if (may_win(found[i], context) || end > i)
        inside(levels_[level].values.data(), levels_[level].payload.data(), n, binning, found[i],
               found[end].bin, context, level + 1);
      i = end + 1;
    }
  }

  struct Level {
    std::vector<float> values;
    std::vector<Payload> payload;
  };

  const Kernels& kernels_;
  Sorter& sorter_;
  const Task* task_ = nullptr;
  double low_ = 0.0, high_ = 1.0;  // range of the targets in the node
  std::vector<WidePair> histogram_;
  std::vector<double> weight_, sum_;
  std::vector<size_t> rows_;
  std::vector<WidePair> cumulative_;
  std::vector<uint8_t> flags_;
  std::vector<Pending> pending_;
  std::vector<CandidateBins> binnings_;
  std::vector<Level> levels_;
};

}  // namespace bevel
