// Contribution of a leaf to each column of a prediction: class shares, one vote, or a value, which
// may depend on the row by a linear model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

class LeafOutput {
 public:
  LeafOutput(const ForestArrays& forest, bool hard) : forest_(forest), hard_(hard) {}

  // Number of columns of a prediction: one for each class, or one in regression.
  size_t n_columns() const { return static_cast<size_t>(std::max(1, forest_.n_classes)); }

  bool has_models() const { return forest_.has_leaf_models(); }

  // Calls add(column, amount) for a leaf, counted over the whole forest; of a leaf with a model the
  // amount without its terms.
  template <class Add>
  void each(size_t leaf, Add add) const {
    if (forest_.n_classes == 0) return add(size_t{0}, forest_.leaf_value[leaf]);
    if (hard_) return add(static_cast<size_t>(vote(forest_, leaf)), 1.0);
    for (int64_t e = forest_.entry_offset[leaf]; e < forest_.entry_offset[leaf + 1]; ++e)
      add(static_cast<size_t>(forest_.entry_index[e]),
          static_cast<double>(forest_.entry_weight[e]));
  }
  // Calls add(column, amount) for a leaf on a row, with the terms of its model.
  template <class Add>
  void each(size_t leaf, const float* row, Add add) const {
    if (has_models()) return add(size_t{0}, forest_.value_of_leaf(leaf, row, 1));
    each(leaf, add);
  }

 private:
  const ForestArrays& forest_;
  bool hard_;
};

}  // namespace bevel
