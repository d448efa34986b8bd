#include "bevel/analysis/shapley/background.h"

namespace bevel {

Background::Background(const ForestArrays& forest, const BackgroundRows& background)
    : given_(background),
      n_features_(static_cast<size_t>(forest.n_features)),
      filled_(background.rows.n_rows * n_features_) {
  for (size_t z = 0; z < background.rows.n_rows; ++z)
    fill_missing(forest, row(z), &filled_[z * n_features_]);
}

double Background::total_weight() const {
  double total = 0.0;
  for (size_t i = 0; i < per_tree(); ++i) total += weight(row_of_tree(0, i));
  return total;
}

void fill_missing(const ForestArrays& forest, const float* row, float* filled) {
  for (size_t f = 0; f < static_cast<size_t>(forest.n_features); ++f)
    filled[f] = row[f] != row[f] && forest.levels[f] == 0 ? forest.medians[f] : row[f];
}

}  // namespace bevel
