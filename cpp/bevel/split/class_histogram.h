// The same search for three classes and more with the Gini gain: bins hold a count per class.
//
// Inside a bin the left counts are a + x, 0 <= x <= b; with t = sum x,
//   sum (a + x)^2 <= S_L + t max(2 a + b)    and    sum (r - x)^2 <= S_R - t min(2 r - b)
// over the classes of the bin, r = counts from the bin on. Both quotients, by w_L + t and w_R - t, are
// monotone in t, so their larger ends add up to an upper bound of the score.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/split/kernels.h"
#include "bevel/split/pair_histogram.h"
#include "bevel/split/search_context.h"
#include "bevel/split/sorted_scan.h"
#include "bevel/split/task.h"

namespace bevel {

class ClassHistogramSearch {
 public:
  using Task = CountTask;
  using Payload = Task::Payload;

  ClassHistogramSearch(const Kernels& kernels, Sorter& sorter) : kernels_(kernels), sorter_(sorter) {}

  void begin_node(const Task& task, size_t n) {
    task_ = &task;
    const size_t m = task.n_present();
    n_bins_ = bins_for(n);
    while (n_bins_ > 8 && static_cast<size_t>(n_bins_) * m > 2 * n) n_bins_ /= 2;
    histogram_.resize(static_cast<size_t>(n_bins_) * m);
    left_.resize(m);
    right_.resize(m);
    pending_.clear();
    binnings_.clear();
  }
  // Whether bins pay at all: with nearly as many classes as rows they do not.
  bool worthwhile() const { return n_bins_ > 8; }

  void coarse(const float* values, size_t n, const SearchContext& context, bool approximate) {
    Binning binning;
    const ValueRange range = kernels_.range(values, n);
    if (!(range.low < range.high)) return;
    if (!Binning::make(range, n_bins_, binning)) return sorted(values, task_->payload(), n, context);
    fill(values, n, binning);
    const size_t before = pending_.size();
    scan(values, n, binning, context, approximate);
    if (pending_.size() > before) binnings_.push_back({binning, context.candidate});
  }

  template <class Project>
  void refine(size_t n, SearchContext context, Project project) {
    for (size_t i = 0; i < pending_.size();) {
      const uint32_t which = pending_[i].binning;
      wanted_.assign(static_cast<size_t>(n_bins_), 0);
      bool any = false;
      for (; i < pending_.size() && pending_[i].binning == which; ++i)
        if (pending_[i].bound >= context.best->score) {
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
  struct Pending {
    uint32_t binning;
    int bin;
    double bound;
  };
  struct CandidateBins {
    Binning bins;
    int32_t candidate;
  };

  void sorted(const float* values, const Payload* payload, size_t n, const SearchContext& context) {
    Task::Accumulator left(*task_);
    left.begin();
    scan_sorted(sorter_.sort(values, n), payload, left, 0, context);
  }

  void fill(const float* values, size_t n, const Binning& binning) {
    bins_.resize(n);
    kernels_.bins(values, n, binning.low, binning.scale, binning.n_bins - 1, bins_.data());
    std::fill(histogram_.begin(), histogram_.end(), 0);
    const size_t m = task_->n_present();
    const Payload* payload = task_->payload();
    for (size_t i = 0; i < n; ++i) histogram_[bins_[i] * m + payload[i].label] += payload[i].weight;
    if (count_rows_) {
      rows_.assign(static_cast<size_t>(binning.n_bins), 0);
      for (size_t i = 0; i < n; ++i) ++rows_[bins_[i]];
    }
  }

  // Bound of the score inside a bin, from the counts left of it and from it on.
  double bound(const uint32_t* counts, double weight, double left_term, double right_term) const {
    const size_t m = left_.size();
    double most_left = 0.0, least_right = std::numeric_limits<double>::infinity();
    double cap_left = 0.0, cap_right = 0.0, b = 0.0;
    for (size_t k = 0; k < m; ++k) {
      const double c = counts[k];
      cap_left = std::max(cap_left, left_[k] + c);
      cap_right = std::max(cap_right, right_[k]);
      if (c == 0.0) continue;
      b += c;
      most_left = std::max(most_left, 2.0 * left_[k] + c);
      least_right = std::min(least_right, 2.0 * right_[k] - c);
    }
    if (b == 0.0) return kNoScore;
    const double rest = task_->weight() - weight;
    // A side's sum of squares over its weight is at most its largest count.
    double left = std::min(cap_left, (left_term + most_left * b) / (weight + b));
    if (weight > 0.0) left = std::max(left, left_term / weight);
    else left = cap_left;
    double right = right_term / rest;
    right = rest > b ? std::max(right, (right_term - least_right * b) / (rest - b)) : cap_right;
    return (left + std::min(right, cap_right)) * (1.0 + 1e-12);
  }

  void scan(const float* values, size_t n, const Binning& binning, const SearchContext& context,
            bool approximate) {
    const size_t m = task_->n_present();
    std::fill(left_.begin(), left_.end(), 0.0);
    right_ = task_->counts();
    double weight = 0.0, left_term = 0.0, right_term = task_->total_term();
    Cut best = *context.best;
    int edge = -1;
    size_t rows_left = 0;
    const auto which = static_cast<uint32_t>(binnings_.size());
    for (int b = 0; b < binning.n_bins; ++b) {
      const uint32_t* counts = &histogram_[static_cast<size_t>(b) * m];
      if (!approximate) {
        const double u = bound(counts, weight, left_term, right_term);
        if (u >= best.score) pending_.push_back({which, b, u});
      }
      for (size_t k = 0; k < m; ++k) {
        const double c = counts[k];
        left_term += c * (2.0 * left_[k] + c);
        right_term -= c * (2.0 * right_[k] - c);
        left_[k] += c;
        right_[k] -= c;
        weight += c;
      }
      const double rest = task_->weight() - weight;
      if (count_rows_) rows_left += rows_[b];
      if (!(weight > 0.0 && rest > 0.0)) continue;
      const double score = left_term / weight + right_term / rest;
      if (!(score >= best.score)) continue;
      if (count_rows_ ? !context.allows(rows_left, weight)
                      : weight < context.limits.min_weight || rest < context.limits.min_weight)
        continue;
      const Cut cut = context.cut(score, weight, 0.0f, 0.0f);
      if (!beats(cut, best)) continue;
      best = cut;
      edge = b;
    }
    if (edge < 0) return;
    const ValueRange sides = kernels_.neighbours(values, n, binning.low, binning.scale,
                                                 binning.n_bins - 1, edge);
    best.low = sides.low;
    best.high = sides.high;
    *context.best = best;
  }

  // Sorts the rows of the wanted bins and walks over all bins: others are added as a whole.
  void inside(const float* values, size_t n, const Binning& binning, const SearchContext& context) {
    fill(values, n, binning);
    const Payload* payload = task_->payload();
    chosen_values_.clear();
    chosen_payload_.clear();
    std::vector<size_t> skipped_rows(static_cast<size_t>(binning.n_bins) + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      if (wanted_[bins_[i]]) {
        chosen_values_.push_back(values[i]);
        chosen_payload_.push_back(payload[i]);
      } else if (count_rows_) {
        ++skipped_rows[bins_[i]];
      }
    }
    const auto& keys = sorter_.sort(chosen_values_.data(), chosen_values_.size());
    Task::Accumulator left(*task_);
    left.begin();
    size_t next = 0, rows_left = 0;
    const size_t m = task_->n_present();
    for (int b = 0; b < binning.n_bins; ++b) {
      if (!wanted_[b]) {
        const uint32_t* counts = &histogram_[static_cast<size_t>(b) * m];
        for (size_t k = 0; k < m; ++k)
          if (counts[k]) left.move(k, counts[k]);
        rows_left += skipped_rows[b];
        continue;
      }
      while (next < keys.size()) {
        const float value = from_sortable(static_cast<uint32_t>(keys[next] >> 32));
        if (bin(value, binning.low, binning.scale, binning.n_bins - 1) != b) break;
        left.add(chosen_payload_[static_cast<uint32_t>(keys[next])]);
        ++next;
        ++rows_left;
        if (next == keys.size()) break;
        const float after = from_sortable(static_cast<uint32_t>(keys[next] >> 32));
        // The last cut of a bin is an edge, and edges have been tried.
        if (after == value || bin(after, binning.low, binning.scale, binning.n_bins - 1) != b) continue;
        const double score = left.score();
        if (score >= context.best->score)
          context.offer(score, count_rows_ ? rows_left : 1, left.weight(), value, after);
      }
    }
  }

 public:
  void count_rows(bool needed) { count_rows_ = needed; }

 private:
  const Kernels& kernels_;
  Sorter& sorter_;
  const Task* task_ = nullptr;
  int n_bins_ = 0;
  bool count_rows_ = false;
  std::vector<uint32_t> histogram_;
  std::vector<uint32_t> rows_;
  std::vector<uint16_t> bins_;
  std::vector<double> left_, right_;
  std::vector<uint8_t> wanted_;
  std::vector<float> chosen_values_;
  std::vector<Payload> chosen_payload_;
  std::vector<Pending> pending_;
  std::vector<CandidateBins> binnings_;
};

}  // namespace bevel
