#include "bevel/projection/haar.h"

#include <algorithm>
#include <cmath>

namespace bevel {
namespace {

// Eight running sums in a fixed order: quick on any machine, and the same number on all of them.
double dot(const double* a, const double* b, size_t n) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Sign of the determinant of the orthogonal matrix q (column-major), by elimination on a copy.
double determinant_sign(std::vector<double> q, size_t m) {
  double sign = 1.0;
  for (size_t k = 0; k < m; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < m; ++i)
      if (std::fabs(q[k * m + i]) > std::fabs(q[k * m + pivot])) pivot = i;
    if (pivot != k) {
      sign = -sign;
      for (size_t j = k; j < m; ++j) std::swap(q[j * m + k], q[j * m + pivot]);
    }
    if (q[k * m + k] < 0.0) sign = -sign;
    for (size_t j = k + 1; j < m; ++j) {
      const double factor = q[j * m + k] / q[k * m + k];
      for (size_t i = k + 1; i < m; ++i) q[j * m + i] -= factor * q[k * m + i];
    }
  }
  return sign;
}

}  // namespace

std::vector<double> haar_columns(int32_t m, int32_t n_columns, bool flip, Stream& stream) {
  // Gram-Schmidt, twice for orthogonality to rounding, is the QR whose R has a positive diagonal.
  const auto rows = static_cast<size_t>(m);
  std::vector<double> q(rows * static_cast<size_t>(n_columns));
  for (int32_t j = 0; j < n_columns; ++j) {
    double* column = q.data() + static_cast<size_t>(j) * rows;
    double norm = 0.0;
    while (norm < 1e-8) {  // redraws a column that lies in the span of the others: never, nearly
      for (size_t i = 0; i < rows; ++i) column[i] = stream.normal();
      for (int pass = 0; pass < 2; ++pass) {
        for (int32_t k = 0; k < j; ++k) {
          const double* other = q.data() + static_cast<size_t>(k) * rows;
          const double along = dot(column, other, rows);
          for (size_t i = 0; i < rows; ++i) column[i] -= along * other[i];
        }
      }
      norm = std::sqrt(dot(column, column, rows));
    }
    for (size_t i = 0; i < rows; ++i) column[i] /= norm;
  }
  // With fewer than m columns the rest of the matrix can always be chosen to make it +1.
  if (!flip && n_columns == m && determinant_sign(q, rows) < 0.0)
    for (size_t i = 0; i < rows; ++i) q[i] = -q[i];
  return q;
}

}  // namespace bevel
