// Rows rotated into a table, for learners of other libraries.
#pragma once

#include <cstddef>

namespace bevel {

// target = rows times rotation. A value is the sum over the features in their order, in double: the
// same bits for a row alone and in a batch, on any machine and with any number of threads.
//   rows: n_rows x n_features, column-major, without missing values
//   rotation: n_features x n_features, column-major: one axis after another
//   target: shape of rows, in other memory
void rotate_rows(const float* rows, size_t n_rows, size_t n_features, const double* rotation,
                 int n_threads, float* target);

}  // namespace bevel
