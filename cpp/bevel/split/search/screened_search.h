// A glance at all candidates through the codes of their columns; then those that may win, the most
// promising first, by their values.
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
  // Whether a glance pays at this node.
  bool pays(const NodeView& node) const { return node.codes && record_.pays(node.n); }

  template <class Task, class Histogram>
  void search(const NodeSearch<Task>& search, std::span<const int32_t> candidates,
              NodeProjector& projector, Histogram& histogram) {
    glances_.clear();
    size_t n_kept = 0;
    for (size_t i = 0; i < candidates.size() && !search.is_settled(candidates[i]); ++i) {
      Upcoming next =
          i + 1 < candidates.size() ? projector.upcoming_codes(candidates[i + 1]) : Upcoming{};
      glances_.push_back(glance_at(search, candidates[i], projector, histogram, next));
      // Perhaps nothing more needs to be looked at.
      if (glances_.back().guess >= search.task->perfect_score())
        n_kept += search_again(search, glances_.size() - 1, projector, histogram);
    }
    const size_t n_seen = glances_.size();
    std::sort(glances_.begin(), glances_.end(), [](const Glance& a, const Glance& b) {
      return a.guess != b.guess ? a.guess > b.guess : a.candidate < b.candidate;
    });
    for (size_t i = 0; i < n_seen; ++i) n_kept += search_again(search, i, projector, histogram);
    record_.add(search.node->n, n_seen, n_kept);
  }

 private:
  template <class Task, class Histogram>
  Glance glance_at(const NodeSearch<Task>& search, int32_t candidate, NodeProjector& projector,
                   Histogram& histogram, Upcoming& next) {
    Glance glance;
    if (search.candidates->n_nonzeros(candidate) <= kMostCodedColumns) {
      const CodedDirection coded = coded_(*search.node->codes, *search.candidates, candidate);
      glance = histogram.glance(projector.sum_codes(coded, next), search.node->n);
    }
    glance.candidate = candidate;
    return glance;
  }

  // By its values, if the candidate may win; true if that was necessary.
  template <class Task, class Histogram>
  bool search_again(const NodeSearch<Task>& search, size_t which, NodeProjector& projector,
                    Histogram& histogram) {
    Glance& glance = glances_[which];
    if (!may_win(search, glance)) return false;
    const float* values = projector.project(glance.candidate);
    Upcoming next;
    for (size_t i = which + 1; i < glances_.size() && next.end == 0; ++i)
      if (may_win(search, glances_[i])) next = projector.upcoming(glances_[i].candidate);
    histogram.coarse(values, search.node->n, search.context(glance.candidate), false, next);
    glance.bound = kNoScore;  // done
    return true;
  }

  template <class Task>
  static bool may_win(const NodeSearch<Task>& search, const Glance& glance) {
    return glance.bound > kNoScore && glance.bound >= search.found->cut.score &&
           !search.is_settled(glance.candidate);
  }

  CodedDirections coded_;
  std::vector<Glance> glances_;
  ScreeningRecord record_;
};

}  // namespace bevel
