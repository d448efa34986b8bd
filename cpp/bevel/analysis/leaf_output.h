// Contribution of a leaf to each column of a prediction: class shares, one vote, or a value.
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

  // Calls add(column, amount); the leaf is counted over the whole forest.
  template <class Add>
  void each(size_t leaf, Add add) const {
    if (forest_.n_classes == 0) return add(size_t{0}, forest_.leaf_value[leaf]);
    if (hard_) return add(static_cast<size_t>(vote(forest_, leaf)), 1.0);
    for (int64_t e = forest_.entry_offset[leaf]; e < forest_.entry_offset[leaf + 1]; ++e)
      add(static_cast<size_t>(forest_.entry_index[e]),
          static_cast<double>(forest_.entry_weight[e]));
  }

 private:
  const ForestArrays& forest_;
  bool hard_;
};

}  // namespace bevel
