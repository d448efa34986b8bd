// Best cut of one (weight, sum) pair per row by equal-width bins and branch and bound. Edges of
// bins are cuts; inside a bin the score is bounded by its convexity (kernels: pair_bounds), and
// only bins whose bound reaches the best cut of all candidates are searched, again by bins. The
// result is that of a full sort, bit for bit, since sums are whole numbers and the score is one
// formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/split/criterion.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/search/screening.h"
#include "bevel/split/search/search_context.h"
#include "bevel/split/search/sorted_scan.h"

namespace bevel {

// Number of bins by the number of rows: scanning more of them costs more than it saves in sorting.
inline int bins_for(size_t n_rows) {
  if (n_rows < 256) return 32;
  if (n_rows < 1024) return 64;
  if (n_rows < 4096) return 128;
  if (n_rows < 65536) return 256;
  return kMaxBins;
}

template <class Criterion>
class PairHistogramSearch {
 public:
  using RowStats = typename Criterion::RowStats;

  PairHistogramSearch(const Kernels& kernels, Sorter& sorter)
      : kernels_(kernels),
        sorter_(sorter),
        histogram_(2 * kMaxBins),
        weights_(kMaxReach + kMaxBins + kLanes),
        sums_(kMaxReach + kMaxBins + kLanes),
        rows_(kMaxBins + 1),
        flags_(kMaxBins),
        weight_(weights_.data() + kMaxReach),
        sum_(sums_.data() + kMaxReach) {}

  void begin_node(const Criterion& criterion, size_t n) {
    criterion_ = &criterion;
    low_ = 0.0;
    high_ = 1.0;
    if constexpr (sizeof(RowStats) == sizeof(WidePair))
      if (criterion.is_regression()) kernels_.target_range(criterion.stats(), n, &low_, &high_);
    pending_.clear();
    binnings_.clear();
  }

  // Tries cuts on the edges of bins; bins that may contain a better cut become pending.
  void coarse(const float* values, size_t n, const SearchContext& context, bool approximate,
              Prefetch& prefetch) {
    Binning binning;
    const ValueRange range = kernels_.range_with_prefetch(values, n, prefetch);
    if (!Binning::make(range, bins_for(n), binning)) {
      if (range.low < range.high) sorted(values, criterion_->stats(), n, {0, 0}, 0, context);
      return;
    }
    edges(values, criterion_->stats(), n, binning, {0, 0}, 0, context, prefetch);
    if (approximate) return;
    bounds(binning, context);
    const auto which = static_cast<uint32_t>(binnings_.size());
    for (int b = 0; b < binning.n_bins; ++b)
      if (flags_[b]) pending_.push_back(pending(which, b));
    if (!pending_.empty() && pending_.back().binning == which)
      binnings_.push_back({binning, context.candidate});
  }

  // Screening by codes (split/search/screening.h); their rows are the node's.
  ScreeningBound screening(const CodedValues& coded, size_t n) {
    ScreeningBound result;
    if (coded.range.low >= coded.range.high) return result;
    const int n_bins = bins_for(n / 2);  // whose scan costs more than finer ones would spare
    const uint32_t span = uint32_t{coded.range.high} - coded.range.low + 1u;
    const uint32_t scale = std::min(static_cast<uint32_t>(n_bins) * 65536u / span, 65535u);
    // Bins before a cut's own that may hold rows of its right side.
    const double reach = std::ceil(coded.width * scale / 65536.0);
    if (!(reach <= kMaxReach)) return result;
    const CodeBins bins{coded.range.low, static_cast<uint16_t>(scale), n_bins};
    bins_.resize(coded.sums.size());
    if constexpr (kPacked)
      kernels_.code_histogram_packed(coded.sums.data(), coded.sums.size(), coded.rows, bins,
                                     criterion_->stats(), n, bins_.data(), packed());
    else
      kernels_.code_histogram_wide(coded.sums.data(), coded.sums.size(), coded.rows, bins,
                                   criterion_->stats(), n, bins_.data(), histogram_.data());
    cumulate(n_bins, {0, 0});
    const PairPeak peak = find_peak(n_bins, static_cast<int>(reach));
    result.guess = peak.edge;
    result.bound = peak.bound;
    return result;
  }

  // Searches the pending bins that may still win. project(candidate) gives its values again.
  template <class Project>
  void refine(size_t n, SearchContext context, Project project) {
    for (size_t i = 0; i < pending_.size();) {
      const CandidateBins& which = binnings_[pending_[i].binning];
      wanted_.clear();
      for (const uint32_t binning = pending_[i].binning;
           i < pending_.size() && pending_[i].binning == binning; ++i)
        if (may_win(pending_[i], context)) wanted_.push_back(pending_[i]);
      if (wanted_.empty()) continue;
      context.candidate = which.candidate;
      inside(project(context.candidate), criterion_->stats(), n, which.bins, wanted_, 0, context,
             1);
    }
    pending_.clear();
    binnings_.clear();
  }

 private:
  static constexpr size_t kSortRows = 96;
  static constexpr int kMaxLevels = 6;
  static constexpr int kMaxReach = 16;
  static constexpr bool kPacked = Criterion::kIsPacked;
  static constexpr bool kOwnBound = Criterion::kHasOwnBound;

  struct Pending {
    uint32_t binning;
    int bin;
    WidePair before, after;  // sums left of the bin, and with it
  };
  struct CandidateBins {
    Binning bins;
    int32_t candidate;
  };

  bool may_win(const Pending& p, const SearchContext& context) const {
    if constexpr (kOwnBound) return bound_inside(p.before, p.after) >= context.best->score;
    const double w[2] = {static_cast<double>(p.before.weight), static_cast<double>(p.after.weight)};
    const double a[2] = {static_cast<double>(p.before.sum), static_cast<double>(p.after.sum)};
    uint8_t flag = 0;
    kernels_.pair_bounds(w, a, 1, low_, high_, criterion_->totals(), context.best->score, &flag);
    return flag;
  }

  double bound_inside(WidePair before, WidePair after) const {
    return criterion_->score().bound_inside(before, after, low_, high_);
  }

  PairPeak find_peak(int n_bins, int reach) const {
    if constexpr (kOwnBound)
      return find_own_peak(n_bins, reach);
    else
      return kernels_.pair_peak(weight_, sum_, n_bins, reach, low_, high_, criterion_->totals());
  }
  PairPeak find_own_peak(int n_bins, int reach) const {
    auto cumulative = [this](int edge) {
      return WidePair{static_cast<int64_t>(weight_[edge]), static_cast<int64_t>(sum_[edge])};
    };
    const auto& score = criterion_->score();
    PairPeak peak{kNoScore, kNoScore};
    for (int e = 0; e < n_bins; ++e) {
      const WidePair before = cumulative(e - reach), after = cumulative(e + 1);
      peak.edge = std::max(peak.edge, score(after) + score.slack());
      peak.bound = std::max(peak.bound, bound_inside(before, after));
    }
    return {peak.edge, std::max(peak.edge, peak.bound)};
  }

  void sorted(const float* values, const RowStats* stats, size_t n, WidePair before,
              size_t rows_before, const SearchContext& context) {
    typename Criterion::Accumulator left(*criterion_);
    left.add_sum(before);
    scan_sorted(sorter_.sort(values, n), stats, left, rows_before, context);
  }

  // Cumulative sums of the histogram, as doubles too.
  void cumulate(int n_bins, WidePair before) {
    before_ = before;
    weight_[0] = static_cast<double>(before.weight);
    sum_[0] = static_cast<double>(before.sum);
    if constexpr (kPacked) {
      const auto all =
          static_cast<uint64_t>(before.weight) << 32 | static_cast<uint64_t>(before.sum);
      return kernels_.cumulate(packed(), n_bins, all, weight_ + 1, sum_ + 1);
    }
    for (int b = 0; b < n_bins; ++b) {
      before = histogram_[b] = before + histogram_[b];
      weight_[b + 1] = static_cast<double>(before.weight);
      sum_[b + 1] = static_cast<double>(before.sum);
    }
  }
  // Sums left of a bin.
  WidePair left_of(int bin) {
    if (bin == 0) return before_;
    if constexpr (kPacked) return widen(packed()[bin - 1]);
    return histogram_[bin - 1];
  }
  Pending pending(uint32_t binning, int bin) {
    return {binning, bin, left_of(bin), left_of(bin + 1)};
  }
  uint64_t* packed() { return reinterpret_cast<uint64_t*>(histogram_.data()); }

  // Fills the cumulative arrays and offers the best edge.
  void edges(const float* values, const RowStats* stats, size_t n, const Binning& binning,
             WidePair before, size_t rows_before, const SearchContext& context,
             Prefetch& prefetch) {
    const int n_bins = binning.n_bins;
    if constexpr (kPacked)
      kernels_.histogram_packed(values, stats, n, binning.low, binning.scale, n_bins, prefetch,
                                packed());
    else
      kernels_.histogram_wide(values, stats, n, binning.low, binning.scale, n_bins, prefetch,
                              histogram_.data());
    cumulate(n_bins, before);
    count_rows_ = context.limits.min_rows > 1;
    count_rows(values, n, binning, rows_before);
    kernels_.pair_edges(&weight_[1], &sum_[1], n_bins - 1, criterion_->totals(),
                        criterion_->score().least_square(context.best->score), flags_.data());
    for (int b = 0; b + 1 < n_bins; ++b) {
      if (!flags_[b]) continue;
      const double score = criterion_->score()(left_of(b + 1));
      const size_t rows_left = context.limits.min_rows > 1
                                   ? rows_[b + 1]
                                   : 1;  // with a limit of one any edge is allowed
      if (!(score >= context.best->score) || !edge_allowed(rows_left, weight_[b + 1], context))
        continue;
      const Cut cut = context.cut_at_edge(score, weight_[b + 1], binning, b);
      if (beats(cut, *context.best)) *context.best = cut;
    }
  }

  static bool edge_allowed(size_t rows_left, double weight_left, const SearchContext& context) {
    if (context.limits.min_rows > 1) return context.allows(rows_left, weight_left);
    return weight_left >= context.limits.min_weight &&
           context.total_weight - weight_left >= context.limits.min_weight;
  }

  // Counts rows left of each edge, which is needed only if they are limited.
  void count_rows(const float* values, size_t n, const Binning& binning, size_t rows_before) {
    rows_[0] = rows_before;
    if (!count_rows_) return;
    std::fill(rows_.begin() + 1, rows_.begin() + binning.n_bins + 1, 0);
    for (size_t i = 0; i < n; ++i)
      ++rows_[bin(values[i], binning.low, binning.scale, binning.n_bins - 1) + 1];
    for (int b = 0; b < binning.n_bins; ++b) rows_[b + 1] += rows_[b];
  }

  void bounds(const Binning& binning, const SearchContext& context) {
    kernels_.pair_bounds(weight_, sum_, binning.n_bins, low_, high_, criterion_->totals(),
                         criterion_->score().least_square(context.best->score), flags_.data());
    if constexpr (kOwnBound)
      for (int b = 0; b < binning.n_bins; ++b)
        flags_[b] = flags_[b] && bound_inside(left_of(b), left_of(b + 1)) >= context.best->score;
  }

  // Exact search inside some of the bins of n rows, of which rows_before are left of all of them.
  void inside(const float* values, const RowStats* stats, size_t n, const Binning& binning,
              const std::vector<Pending>& wanted, size_t rows_before, const SearchContext& context,
              int level) {
    if (static_cast<size_t>(level) >= levels_.size()) levels_.resize(level + 1);
    collect(values, stats, n, binning, wanted, levels_[level]);
    for (size_t w = 0; w < wanted.size(); ++w) {
      const size_t first = levels_[level].start[w], last = levels_[level].start[w + 1];
      if (!may_win(wanted[w], context)) continue;
      run(first, last - first, wanted[w].before, rows_before + levels_[level].rows_before[w],
          context, level);
    }
  }

  struct Level {
    std::vector<float> values;
    std::vector<RowStats> stats;
    std::vector<size_t> start;        // rows of the w-th wanted bin: start[w] .. start[w + 1]
    std::vector<size_t> rows_before;  // rows left of it
    std::vector<int32_t> rank;        // of a bin among the wanted ones, -1: not wanted
    std::vector<uint32_t> chosen;
  };

  // Copies the rows of the selected bins together, bin after bin, in one pass.
  void collect(const float* values, const RowStats* stats, size_t n, const Binning& binning,
               const std::vector<Pending>& wanted, Level& own) {
    own.rank.assign(static_cast<size_t>(binning.n_bins), -1);
    for (size_t w = 0; w < wanted.size(); ++w) own.rank[wanted[w].bin] = static_cast<int32_t>(w);
    own.start.assign(wanted.size() + 2, 0);
    bins_.resize(n);
    kernels_.bins(values, n, binning.low, binning.scale, binning.n_bins - 1, bins_.data());
    own.chosen.resize(n);
    size_t n_chosen = 0;  // avoids an unpredictable branch
    for (size_t i = 0; i < n; ++i) {
      own.chosen[n_chosen] = static_cast<uint32_t>(i);
      n_chosen += own.rank[bins_[i]] >= 0;
    }
    own.chosen.resize(n_chosen);
    for (const uint32_t i : own.chosen) ++own.start[own.rank[bins_[i]] + 2];
    for (size_t w = 2; w < own.start.size(); ++w) own.start[w] += own.start[w - 1];
    own.values.resize(own.chosen.size());
    own.stats.resize(own.chosen.size());
    for (const uint32_t i : own.chosen) {
      const size_t slot = own.start[own.rank[bins_[i]] + 1]++;
      own.values[slot] = values[i];
      own.stats[slot] = stats[i];
    }
    count_rows_before(n, wanted, own);
  }

  void count_rows_before(size_t n, const std::vector<Pending>& wanted, Level& own) {
    own.rows_before.assign(wanted.size(), 0);
    if (!count_rows_) return;
    std::vector<size_t> rows(own.rank.size() + 1, 0);
    for (size_t i = 0; i < n; ++i) ++rows[bins_[i] + 1u];
    for (size_t b = 1; b < rows.size(); ++b) rows[b] += rows[b - 1];
    for (size_t w = 0; w < wanted.size(); ++w) own.rows_before[w] = rows[wanted[w].bin];
  }

  // Rows [first, first + n) of a level: all of one bin of the level above.
  void run(size_t first, size_t n, WidePair before, size_t rows_before,
           const SearchContext& context, int level) {
    if (n < 2) return;
    const float* values = levels_[level].values.data() + first;
    const RowStats* stats = levels_[level].stats.data() + first;
    const ValueRange range = kernels_.range(values, n);
    if (!(range.low < range.high)) return;
    Binning binning;
    if (n <= kSortRows || level >= kMaxLevels || !Binning::make(range, bins_for(n), binning))
      return sorted(values, stats, n, before, rows_before, context);
    Prefetch nothing;
    edges(values, stats, n, binning, before, rows_before, context, nothing);
    bounds(binning, context);
    std::vector<Pending> found;
    for (int b = 0; b < binning.n_bins; ++b)
      if (flags_[b]) found.push_back(pending(0, b));
    if (!found.empty()) inside(values, stats, n, binning, found, rows_before, context, level + 1);
  }

  const Kernels& kernels_;
  Sorter& sorter_;
  const Criterion* criterion_ = nullptr;
  double low_ = 0.0, high_ = 1.0;       // range of the targets in the node
  std::vector<WidePair> histogram_;     // then its running sums; of packed pairs the first half
  WidePair before_{0, 0};               // sums left of the first bin
  std::vector<double> weights_, sums_;  // behind kMaxReach zeros
  std::vector<size_t> rows_;
  std::vector<uint8_t> flags_;
  double *weight_, *sum_;
  std::vector<uint16_t> bins_;
  bool count_rows_ = false;
  std::vector<Pending> pending_, wanted_;
  std::vector<CandidateBins> binnings_;
  std::vector<Level> levels_;
};

}  // namespace bevel
