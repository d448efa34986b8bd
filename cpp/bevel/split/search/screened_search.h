// Screens all candidates through the codes of their columns; then searches those that may win, the
// most promising first, by their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/split/kernels/kernels.h"
#include "bevel/split/node_projector.h"
#include "bevel/split/search/node_search.h"
#include "bevel/split/search/screening.h"

namespace bevel {

class ScreenedSearch {
 public:
  // Whether screening is likely to save time at this node.
  bool saves_time(const NodeView& node) const { return node.codes && record_.saves_time(node.n); }

  template <class Criterion, class Histogram>
  void search(const NodeSearch<Criterion>& search, std::span<const int32_t> candidates,
              NodeProjector& projector, Histogram& histogram) {
    screenings_.clear();
    size_t n_kept = 0;
    for (size_t i = 0; i < candidates.size() && !search.is_decided(candidates[i]); ++i) {
      Prefetch next =
          i + 1 < candidates.size() ? projector.prefetch_codes(candidates[i + 1]) : Prefetch{};
      screenings_.push_back(screening_at(search, candidates[i], projector, histogram, next));
      // Returns if nothing else can win.
      if (screenings_.back().guess >= search.criterion->perfect_score())
        n_kept += search_again(search, screenings_.size() - 1, projector, histogram);
    }
    const size_t n_seen = screenings_.size();
    std::sort(screenings_.begin(), screenings_.end(),
              [](const ScreeningBound& a, const ScreeningBound& b) {
                return a.guess != b.guess ? a.guess > b.guess : a.candidate < b.candidate;
              });
    for (size_t i = 0; i < n_seen; ++i) n_kept += search_again(search, i, projector, histogram);
    record_.add(search.node->n, n_seen, n_kept);
  }

 private:
  template <class Criterion, class Histogram>
  ScreeningBound screening_at(const NodeSearch<Criterion>& search, int32_t candidate,
                              NodeProjector& projector, Histogram& histogram, Prefetch& next) {
    ScreeningBound screening;
    if (search.candidates->n_nonzeros(candidate) <= kMaxCodedColumns) {
      const CodedDirection coded = coded_(*search.node->codes, *search.candidates, candidate);
      screening = histogram.screening(projector.sum_codes(coded, next), search.node->n);
    }
    screening.candidate = candidate;
    return screening;
  }

  // Searches a candidate by its values if it may win; returns whether that was necessary.
  template <class Criterion, class Histogram>
  bool search_again(const NodeSearch<Criterion>& search, size_t which, NodeProjector& projector,
                    Histogram& histogram) {
    ScreeningBound& screening = screenings_[which];
    if (!may_win(search, screening)) return false;
    const float* values = projector.project(screening.candidate);
    Prefetch next;
    for (size_t i = which + 1; i < screenings_.size() && next.end == 0; ++i)
      if (may_win(search, screenings_[i])) next = projector.prefetch(screenings_[i].candidate);
    histogram.coarse(values, search.node->n, search.context(screening.candidate), false, next);
    screening.bound = kNoScore;  // done
    return true;
  }

  template <class Criterion>
  static bool may_win(const NodeSearch<Criterion>& search, const ScreeningBound& screening) {
    return screening.bound > kNoScore && screening.bound >= search.found->cut.score &&
           !search.is_decided(screening.candidate);
  }

  CodedDirections coded_;
  std::vector<ScreeningBound> screenings_;
  ScreeningRecord record_;
};

}  // namespace bevel
