#include "bevel/projection/haar.h"

#include <cmath>
#include <cstddef>

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

// H = I - scale v v', which acts on the last coordinates, and the sign that makes R's diagonal
// positive.
struct Reflection {
  std::vector<double> v;
  double scale;
  double sign;
};

// The reflection that takes a random normal vector x to -+|x| e1, where the QR of a Gaussian matrix
// goes on with what is left of it: a smaller Gaussian matrix, independent of x.
Reflection draw_reflection(size_t n, Stream& stream) {
  Reflection h{std::vector<double>(n), 0.0, 1.0};
  double norm = 0.0;
  while (norm == 0.0) {
    for (double& x : h.v) x = stream.normal();
    norm = std::sqrt(dot(h.v.data(), h.v.data(), n));
  }
  const double side = h.v[0] < 0.0 ? -1.0 : 1.0;
  if (n == 1) {  // nothing to reflect
    h.sign = side;
    return h;
  }
  h.sign = -side;
  h.v[0] += side * norm;
  h.scale = 2.0 / dot(h.v.data(), h.v.data(), n);
  return h;
}

}  // namespace

std::vector<double> haar_columns(int32_t m, int32_t n_columns, bool flip, Stream& stream) {
  const auto rows = static_cast<size_t>(m), n = static_cast<size_t>(n_columns);
  std::vector<Reflection> reflections;
  double determinant = 1.0;
  for (size_t k = 0; k < n; ++k) {
    reflections.push_back(draw_reflection(rows - k, stream));
    determinant *= reflections[k].sign * (rows - k > 1 ? -1.0 : 1.0);
  }
  // Column j of Q = H1 H2 ... D is H1 H2 ... Hj ej, since the later ones leave ej alone.
  std::vector<double> q(rows * n, 0.0);
  for (size_t j = 0; j < n; ++j) {
    double* column = q.data() + j * rows;
    column[j] = reflections[j].sign;
    for (size_t k = j + 1; k-- > 0;) {
      const Reflection& h = reflections[k];
      const double along = h.scale * dot(h.v.data(), column + k, rows - k);
      for (size_t i = 0; i < rows - k; ++i) column[k + i] -= along * h.v[i];
    }
  }
  // With fewer than m columns the rest of the matrix can always be chosen to make it +1.
  if (!flip && n == rows && determinant < 0.0)
    for (size_t i = 0; i < rows; ++i) q[i] = -q[i];
  return q;
}

}  // namespace bevel
