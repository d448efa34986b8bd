// Finds the best cut of a node over its candidates, from any source.
// One finder per thread; it owns the work space of the search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/split/criterion.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/node_projector.h"
#include "bevel/split/projection_bound.h"
#include "bevel/split/search/category_search.h"
#include "bevel/split/search/class_histogram.h"
#include "bevel/split/search/missing_search.h"
#include "bevel/split/search/network_search.h"
#include "bevel/split/search/node_search.h"
#include "bevel/split/search/pair_histogram.h"
#include "bevel/split/search/random_cuts.h"
#include "bevel/split/search/screened_search.h"
#include "bevel/split/search/sorted_scan.h"

namespace bevel {

template <class Criterion>
class Finder {
 public:
  Finder(const Options& options, const DatasetView& data, const ProjectionBound& bound,
         const Kernels& kernels)
      : options_(options),
        data_(data),
        bound_(bound),
        kernels_(kernels),
        projector_(data, kernels),
        category_(data),
        missing_(options, kernels, sorter_),
        network_(kernels),
        histogram_(kernels, sorter_) {}

  // Searches candidates [first, last) of a node whose totals the criterion holds.
  void search(const NodeView& node, const Criterion& criterion, const Limits& limits,
              const Candidates& candidates, size_t first, size_t last, BestSplit& found) {
    search_ = {&node, &criterion, &candidates, limits, &found};
    projector_.begin_node(node, candidates);
    plain_.clear();
    const bool may_overflow = bound_.may_overflow(candidates, first, last);
    for (size_t c = first; c < last; ++c) {
      if (is_category(c))
        category_.search(node, criterion, search_.context(c), *candidates.indices(c), found);
      else if (may_overflow && overflows(c))
        continue;
      else if (may_miss(c))
        missing_.search(search_, c, projector_.project(c));
      else
        plain_.push_back(static_cast<int32_t>(c));
    }
    if (node.threshold != ThresholdRule::best) {
      for (int32_t c : plain_) search_random(c);
    } else if (options_.split_search == SplitSearch::exact) {
      for (int32_t c : plain_) search_sorted(c);
    } else if (node.n == 2) {
      search_two_rows();
    } else if (network_.fits(node, criterion)) {
      network_.search(search_, plain_, projector_);
    } else {
      search_histogram();
    }
  }

  // Values of a candidate on the rows of any node.
  const float* project(size_t candidate, const NodeView& node, const Candidates& candidates,
                       float* out) {
    return projector_.project(candidate, node, candidates, out);
  }

 private:
  using Accumulator = typename Criterion::Accumulator;
  using RowStats = typename Criterion::RowStats;
  // For criteria without histograms (real weights with three classes and more), which use sorting.
  struct NoHistogram {
    NoHistogram(const Kernels&, Sorter&) {}
  };
  static constexpr bool kPairHistogram = Criterion::kIsPair;
  static constexpr bool kClassHistogram = std::is_same_v<RowStats, ClassRowStats<uint16_t>>;
  using PairCriterionOrAny = std::conditional_t<kPairHistogram, Criterion, WideCriterion>;
  using CountCriterionOrAny = std::conditional_t<kClassHistogram, Criterion, CountCriterion>;
  using Histogram = std::conditional_t<
      kPairHistogram, PairHistogramSearch<PairCriterionOrAny>,
      std::conditional_t<kClassHistogram, ClassHistogramSearch<CountCriterionOrAny>, NoHistogram>>;

  bool is_category(size_t c) const {
    const int32_t f = *search_.candidates->indices(c);
    return f < data_.n_features && data_.levels[f] > 0;
  }
  bool may_miss(size_t c) const {
    const int32_t f = *search_.candidates->indices(c);
    return search_.candidates->n_nonzeros(c) == 1 && f < data_.n_features && data_.has_nan[f];
  }

  // A direction that is not finite on every row of the node is not a candidate: it has no
  // midpoints, and no order where it is NaN. A single feature may be missing.
  bool overflows(size_t c) {
    if (!bound_.may_overflow(*search_.candidates, c, c + 1)) return false;
    const float* values = projector_.project(c);
    const bool may_miss = search_.candidates->n_nonzeros(c) == 1;
    return std::any_of(values, values + search_.node->n, [may_miss](float x) {
      return std::isinf(x) || (std::isnan(x) && !may_miss);
    });
  }

  void search_random(size_t candidate) {
    const float* values = projector_.project(candidate);
    search_random_cuts<Criterion>(options_, kernels_, search_, search_.context(candidate),
                                  {values, search_.node->n}, search_.criterion->stats(), {});
  }

  void search_sorted(size_t candidate) {
    const auto& keys = sorter_.sort(projector_.project(candidate), search_.node->n);
    Accumulator left(*search_.criterion);
    left.begin();
    scan_sorted(keys, search_.criterion->stats(), left, 0, search_.context(candidate));
  }

  // Two rows: a direction separates them or does not, and there are two orders.
  void search_two_rows() {
    const Criterion& criterion = *search_.criterion;
    const Cut& best = search_.found->cut;
    double score[2], weight[2];
    for (size_t left_row : {0, 1}) {
      Accumulator left(criterion);
      left.begin();
      left.add(criterion.stats()[left_row]);
      score[left_row] = left.score();
      weight[left_row] = left.weight();
    }
    const bool alike = score[0] == score[1];
    for (int32_t c : plain_) {
      // No later candidate can beat a cut that has the better score of the two.
      if (alike && best.found() && best.candidate < c && best.score >= score[0]) return;
      const float* v = projector_.project(c);
      if (v[0] == v[1]) continue;
      const size_t left_row = v[0] < v[1] ? 0 : 1;
      search_.context(c).offer(score[left_row], 1, weight[left_row], v[left_row], v[1 - left_row]);
    }
  }

  void search_histogram() {
    if constexpr (std::is_same_v<Histogram, NoHistogram>) {
      for (int32_t c : plain_) search_sorted(c);
    } else {
      const size_t n = search_.node->n;
      histogram_.begin_node(*search_.criterion, n);
      if constexpr (kClassHistogram) {
        histogram_.count_rows(search_.limits.min_rows > 1);
        if (!histogram_.worthwhile()) {
          for (int32_t c : plain_) search_sorted(c);
          return;
        }
      }
      search_bins();
      histogram_.refine(n, search_.context(0), [this](int32_t c) { return projector_.project(c); });
    }
  }

  // Edges of bins for all candidates, or for those that may win after screening.
  void search_bins() {
    const bool approximate = options_.split_search == SplitSearch::histogram;
    if constexpr (kPairHistogram)
      if (!approximate && screened_.saves_time(*search_.node))
        return screened_.search(search_, plain_, projector_, histogram_);
    for (size_t i = 0; i < plain_.size() && !search_.is_decided(plain_[i]); ++i) {
      const float* values = projector_.project(plain_[i]);
      Prefetch next = i + 1 < plain_.size() ? projector_.prefetch(plain_[i + 1]) : Prefetch{};
      histogram_.coarse(values, search_.node->n, search_.context(plain_[i]), approximate, next);
    }
  }

  const Options& options_;
  const DatasetView& data_;
  const ProjectionBound& bound_;
  const Kernels& kernels_;
  Sorter sorter_;
  NodeProjector projector_;
  CategorySearch<Criterion> category_;
  MissingSearch<Criterion> missing_;
  NetworkSearch<Criterion> network_;
  Histogram histogram_;
  ScreenedSearch screened_;

  NodeSearch<Criterion> search_;  // the node being searched
  std::vector<int32_t> plain_;    // its candidates that are neither nominal nor missing
};

}  // namespace bevel
