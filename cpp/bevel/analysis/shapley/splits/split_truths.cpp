#include "bevel/analysis/shapley/splits/split_truths.h"

#include "bevel/predict/reference_predictor.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// The sums are those of the reference predictor, in the same order.
uint64_t SplitTruths::make(size_t node) const {
  const GameSplit& split = tree_->split(node);
  const size_t at = tree_->node_in_forest(node);
  if (split.kind == SplitKind::single) return make_single(at);
  const auto first = static_cast<size_t>(forest_.entry_offset[at]);
  float sums[size_t{1} << kMostTabulated];
  size_t size = 1;
  sums[0] = 0.0f;
  for (size_t k = 0; k < split.n_features; ++k, size *= 2) {
    const int32_t feature = forest_.entry_index[first + k];
    const float weight = forest_.entry_weight[first + k];
    const float of_row = weight * pair_.filled_x[feature];
    const float of_background = weight * pair_.filled_z[feature];
    for (size_t T = 0; T < size; ++T) {
      sums[size + T] = k == 0 ? of_row : sums[T] + of_row;
      sums[T] = k == 0 ? of_background : sums[T] + of_background;
    }
  }
  const float threshold = forest_.threshold[at];
  const bool missing_left = forest_.flags[at] & kMissingLeft;
  uint64_t word = 0;
  for (size_t T = 0; T < size; ++T) {
    const bool left = (sums[T] <= threshold) | (missing_left & (sums[T] != sums[T]));
    word |= static_cast<uint64_t>(left) << T;
  }
  return word;
}

uint64_t SplitTruths::make_single(size_t at) const {
  const size_t tree = tree_->number();
  return (goes_left(forest_, tree, at, pair_.z, 1) ? 1u : 0u) |
         (goes_left(forest_, tree, at, pair_.x, 1) ? 2u : 0u);
}

}  // namespace bevel
