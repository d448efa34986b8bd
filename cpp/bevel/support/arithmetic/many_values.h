// Exponentials and logarithms of many numbers, several at once; the same bits as one by one.
#pragma once

#include <cstddef>

namespace bevel {

// out[i] = fixed_exp(x[i]), where no x[i] is NaN; x may be out.
void exponentials(const double* x, size_t n, double* out);
// out[i] = fixed_log(x[i]), where no x[i] is denormal; x may be out.
void logarithms(const double* x, size_t n, double* out);

}  // namespace bevel
