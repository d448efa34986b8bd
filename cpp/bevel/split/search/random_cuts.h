// Uniform cuts between the smallest and the largest value, n_thresholds of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/options.h"
#include "bevel/random/stream.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/search/node_search.h"

namespace bevel {

// values and stats: those of rows with a value; missing: stats of the other rows.
template <class Criterion>
void search_random_cuts(const Options& options, const Kernels& kernels,
                        const NodeSearch<Criterion>& search, SearchContext c,
                        std::span<const float> values, const typename Criterion::RowStats* stats,
                        std::span<const typename Criterion::RowStats> missing) {
  const ValueRange range = kernels.range(values.data(), values.size());
  if (!(range.low < range.high)) return;
  Stream stream(mix(search.node->key + static_cast<uint64_t>(c.candidate)), Purpose::thresholds);
  typename Criterion::Accumulator left(*search.criterion);
  const bool purely_random = search.node->threshold == ThresholdRule::purely_random;
  const int32_t n_thresholds = purely_random ? 1 : options.n_thresholds;
  for (int32_t t = 0; t < n_thresholds; ++t) {
    auto cut = static_cast<float>(range.low +
                                  stream.uniform() * (static_cast<double>(range.high) - range.low));
    if (!(cut < range.high)) cut = range.low;
    // Purely random cuts do not use the targets: missing rows go to a random side.
    const bool coin = stream.next() & 1;
    for (const bool missing_left : {false, true}) {
      if (missing_left && missing.empty()) break;
      if (purely_random && !missing.empty() && missing_left != coin) continue;
      left.begin();
      size_t rows_left = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        if (!(values[i] <= cut)) continue;
        left.add(stats[i]);
        ++rows_left;
      }
      if (missing_left)
        for (const auto& p : missing) left.add(p);
      c.missing_left = missing_left;
      c.offer(left.score(), rows_left + (missing_left ? missing.size() : 0), left.weight(), cut,
              cut);
    }
  }
}

}  // namespace bevel
