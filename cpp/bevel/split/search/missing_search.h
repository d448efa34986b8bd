// A single feature with missing values: they go all to the right, or all to the left, whichever is
// better; or the cut separates them from all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/options.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/search/node_search.h"
#include "bevel/split/search/random_cuts.h"
#include "bevel/split/search/sorted_scan.h"

namespace bevel {

template <class Criterion>
class MissingSearch {
 public:
  using RowStats = typename Criterion::RowStats;
  using Accumulator = typename Criterion::Accumulator;

  MissingSearch(const Options& options, const Kernels& kernels, Sorter& sorter)
      : options_(options), kernels_(kernels), sorter_(sorter) {}

  // values: the feature's, of all rows of the node.
  void search(const NodeSearch<Criterion>& search, size_t candidate, const float* values) {
    part(search, values);
    if (present_.empty()) return;
    SearchContext c = search.context(candidate);
    c.has_missing = !missing_.empty();
    if (search.node->threshold != ThresholdRule::best)
      search_random_cuts<Criterion>(options_, kernels_, search, c, values_, present_.data(),
                                    missing_);
    else
      search_best(*search.criterion, c);
  }

 private:
  void part(const NodeSearch<Criterion>& search, const float* values) {
    present_.clear();
    values_.clear();
    missing_.clear();
    const RowStats* stats = search.criterion->stats();
    for (size_t i = 0; i < search.node->n; ++i) {
      if (values[i] == values[i]) {
        values_.push_back(values[i]);
        present_.push_back(stats[i]);
      } else {
        missing_.push_back(stats[i]);
      }
    }
  }

  void search_best(const Criterion& criterion, SearchContext c) {
    const auto& keys = sorter_.sort(values_.data(), values_.size());
    for (const bool missing_left : {false, true}) {
      if (missing_left && missing_.empty()) break;
      c.missing_left = missing_left;
      Accumulator left(criterion);
      left.begin();
      if (missing_left)
        for (const RowStats& p : missing_) left.add(p);
      scan_sorted(keys, present_.data(), left, missing_left ? missing_.size() : 0, c);
    }
    if (missing_.empty()) return;
    Accumulator left(criterion);
    left.begin();
    for (const RowStats& p : present_) left.add(p);
    c.missing_left = false;
    const float highest = from_sortable(static_cast<uint32_t>(keys.back() >> 32));
    c.offer(left.score(), present_.size(), left.weight(), highest, highest);
  }

  const Options& options_;
  const Kernels& kernels_;
  Sorter& sorter_;
  std::vector<RowStats> present_, missing_;
  std::vector<float> values_;  // values of the rows that are not missing
};

}  // namespace bevel
