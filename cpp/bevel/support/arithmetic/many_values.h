// Vectorised exponentials and logarithms, with the same bits as the scalar functions.
#pragma once

#include <cstddef>

namespace bevel {

// out[i] = fixed_exp(x[i]), where no x[i] is NaN; x may be out.
void exponentials(const double* x, size_t n, double* out);
// out[i] = fixed_log(x[i]), where no x[i] is denormal; x may be out.
void logarithms(const double* x, size_t n, double* out);

}  // namespace bevel
