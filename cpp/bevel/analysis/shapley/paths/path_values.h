// Path-dependent Shapley values: a coalition is a set of known features. A split whose features are
// all known sends the row to its side. Any other split sends it to both children, with the shares
// of the training weight that went there. No background is needed.
#pragma once

#include <cstddef>
#include <functional>

#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

// The forest has the weights of its nodes. values: n x n_features x k, zeros before; base: k.
// False, with the values unfinished, if a game has more than `most_boxes`. Otherwise as
// shapley_values().
bool path_values(const ForestArrays& forest, const RowMatrix& rows, bool hard, size_t most_boxes,
                 int n_threads, const std::function<bool(size_t rows_done)>& progress,
                 double* values, double* base);

}  // namespace bevel
