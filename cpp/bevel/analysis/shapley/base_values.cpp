#include "bevel/analysis/shapley/base_values.h"

#include <algorithm>

#include "bevel/predict/reference_predictor.h"
#include "bevel/support/cancellation.h"

namespace bevel {

void find_base(const ForestArrays& forest, const Background& background,
               const LeafOutput& leaf_output, double* base) {
  constexpr size_t kWorkOfRow = 256;
  const size_t n_columns = leaf_output.n_columns();
  std::fill(base, base + n_columns, 0.0);
  for (size_t tree = 0; tree < forest.n_trees(); ++tree)
    for (size_t i = 0; i < background.per_tree(); ++i) {
      poll_cancellation(kWorkOfRow);
      const size_t z = background.row_of_tree(tree, i);
      const auto leaf = static_cast<size_t>(forest.tree_offset[tree]) +
                        static_cast<size_t>(leaf_of(forest, tree, background.row(z), 1));
      leaf_output.each(leaf, background.row(z),
                       [&](size_t k, double v) { base[k] += background.weight(z) * v; });
    }
  const double n = static_cast<double>(forest.n_trees()) * background.total_weight();
  for (size_t k = 0; k < n_columns; ++k) base[k] /= n;
}

}  // namespace bevel
