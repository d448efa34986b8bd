#include "bevel/forest/bag.h"

#include <algorithm>

#include "bevel/random/stream.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

std::vector<int32_t> draw_units(const Options& options, size_t n, uint64_t tree) {
  if (options.bag_size == 0) return std::vector<int32_t>(n, 1);
  std::vector<int32_t> multiplicity(n, 0);
  Stream stream(root_key(options.seed, tree), Purpose::bag);
  if (options.replace) {
    for (int64_t k = 0; k < options.bag_size; ++k) ++multiplicity[stream.below(n)];
    return multiplicity;
  }
  // Selection sampling (Knuth, 3.4.2, algorithm S): one pass, every subset equally likely.
  auto wanted = static_cast<uint64_t>(options.bag_size);
  for (size_t i = 0; i < n && wanted > 0; ++i) {
    if (stream.below(n - i) < wanted) {
      multiplicity[i] = 1;
      --wanted;
    }
  }
  return multiplicity;
}

std::vector<int32_t> draw_rows(const Options& options, size_t n_rows, uint64_t tree) {
  if (options.bag_groups.empty()) return draw_units(options, n_rows, tree);
  require(options.bag_groups.size() == n_rows && options.n_bag_groups > 0, "[bag] groups of rows");
  const std::vector<int32_t> drawn = draw_units(options, options.n_bag_groups, tree);
  std::vector<int32_t> multiplicity(n_rows, 0);
  for (size_t row = 0; row < n_rows; ++row) {
    const uint32_t group = options.bag_groups[row];
    if (group < options.n_bag_groups) multiplicity[row] = drawn[group];
  }
  return multiplicity;
}

}  // namespace

std::vector<int32_t> draw_bag(const Options& options, size_t n_rows, uint64_t tree,
                              const double* weights) {
  std::vector<int32_t> multiplicity = draw_rows(options, n_rows, tree);
  if (!weights) return multiplicity;
  for (size_t row = 0; row < n_rows; ++row)
    if (multiplicity[row] > 0 && weights[row] > 0.0) return multiplicity;
  const auto& groups = options.bag_groups;
  for (size_t row = 0; row < n_rows; ++row)
    multiplicity[row] =
        weights[row] > 0.0 && (groups.empty() || groups[row] < options.n_bag_groups);
  return multiplicity;
}

int64_t most_draws(const Options& options, size_t n_rows) {
  const auto n = static_cast<int64_t>(n_rows);
  if (options.bag_size == 0) return n;
  if (options.bag_groups.empty()) return options.bag_size;
  std::vector<int64_t> sizes(options.n_bag_groups, 0);
  for (const uint32_t group : options.bag_groups)
    if (group < options.n_bag_groups) ++sizes[group];
  const int64_t most = options.bag_size * *std::max_element(sizes.begin(), sizes.end());
  return std::max(n, options.replace ? most : std::min(n, most));
}

}  // namespace bevel
