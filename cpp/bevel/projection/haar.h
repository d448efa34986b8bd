// Haar-distributed rotations (Blaser 1.4; Mezzadri 2007): QR of a Gaussian matrix with a positive
// diagonal of R.
#pragma once

#include <cstdint>
#include <vector>

#include "bevel/random/stream.h"

namespace bevel {

// The first n_columns columns of an m x m Haar rotation, column-major. The determinant of the whole
// matrix is +1 unless flip is set, in which case it is +1 or -1 as the QR gives it.
std::vector<double> haar_columns(int32_t m, int32_t n_columns, bool flip, Stream& stream);

}  // namespace bevel
