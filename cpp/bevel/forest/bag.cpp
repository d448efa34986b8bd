#include "bevel/forest/bag.h"

#include "bevel/random/stream.h"

namespace bevel {
namespace {

std::vector<int32_t> draw_rows(const Options& options, size_t n_rows, uint64_t tree) {
  if (options.bag_size == 0) return std::vector<int32_t>(n_rows, 1);
  std::vector<int32_t> multiplicity(n_rows, 0);
  Stream stream(root_key(options.seed, tree), Purpose::bag);
  if (options.replace) {
    for (int64_t i = 0; i < options.bag_size; ++i) ++multiplicity[stream.below(n_rows)];
    return multiplicity;
  }
  // Selection sampling (Knuth, 3.4.2, algorithm S): one pass, every subset equally likely.
  auto wanted = static_cast<uint64_t>(options.bag_size);
  for (size_t row = 0; row < n_rows && wanted > 0; ++row) {
    if (stream.below(n_rows - row) < wanted) {
      multiplicity[row] = 1;
      --wanted;
    }
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
  for (size_t row = 0; row < n_rows; ++row) multiplicity[row] = weights[row] > 0.0;
  return multiplicity;
}

}  // namespace bevel
