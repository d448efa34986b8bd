// How trees read the columns of the data, which determines how columns are stored.
#pragma once

#include <bit>
#include <cstddef>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/family.h"

namespace bevel {

// A share of the outer cache.
constexpr size_t kCacheBytes = size_t{4} << 20;

inline bool exceeds_cache(const DatasetView& data) {
  return data.n_rows * static_cast<size_t>(data.n_features) * sizeof(float) > kCacheBytes;
}

// Features read for one row of a node.
inline size_t features_per_node(const Options& options) {
  size_t n = 0;
  for (const auto& family : options.families)
    n += family->per_tree() ? static_cast<size_t>(family->n_draws) : family->features_per_node();
  return n;
}

// Whether a subtree of n rows reads its columns often enough to copy them together first.
inline bool worth_copying(size_t features_per_node, size_t n_rows, size_t n_columns) {
  const size_t expected_levels = std::bit_width(n_rows);
  return features_per_node * expected_levels >= 2 * n_columns;
}

// Whether screening by codes will save more than computing the codes costs: columns that do not fit
// in the cache are read repeatedly by nodes of many rows.
inline bool worth_coding(const Options& options, const DatasetView& data, size_t n_trees) {
  constexpr size_t kMinRows = 256;
  const auto n_columns = static_cast<size_t>(data.n_features);
  const size_t per_node = features_per_node(options);
  return options.split_search == SplitSearch::automatic &&
         options.threshold == ThresholdRule::best && !any_family(options, &Family::per_tree) &&
         data.n_rows >= kMinRows && exceeds_cache(data) &&
         !worth_copying(per_node, data.n_rows, n_columns) && n_trees * per_node >= n_columns;
}

}  // namespace bevel
