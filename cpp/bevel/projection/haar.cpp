#include "bevel/projection/haar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "bevel/projection/sample_without_replacement.h"
#include "bevel/support/arithmetic/dot.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// H = I - scale v v', which acts on the last coordinates, and the sign that makes R's diagonal
// positive.
struct Reflection {
  std::vector<double> v;
  double scale;
  double sign;
};

constexpr size_t kWorkOfNormal = 32;

// The reflection that takes a random normal vector x to -+|x| e1, after which the QR of a Gaussian
// matrix continues with a smaller Gaussian matrix, independent of x.
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
    poll_cancellation((rows - k) * kWorkOfNormal);
    reflections.push_back(draw_reflection(rows - k, stream));
    determinant *= reflections[k].sign * (rows - k > 1 ? -1.0 : 1.0);
  }
  // Column j of Q = H1 H2 ... D is H1 H2 ... Hj ej, since later reflections do not change ej.
  std::vector<double> q(rows * n, 0.0);
  for (size_t j = 0; j < n; ++j) {
    poll_cancellation(j * rows);
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

std::vector<double> direct_columns(int32_t m, int32_t n_columns, bool flip, Stream& stream) {
  const auto rows = static_cast<size_t>(m), n = static_cast<size_t>(n_columns);
  poll_cancellation(rows * kWorkOfNormal);
  std::vector<double> c(rows);
  double norm = 0.0;
  // c = 0 only if a = -e1, which happens in one dimension only, where it is not a rotation.
  while (norm == 0.0) {
    for (double& x : c) x = stream.normal();
    const double length = std::sqrt(dot(c.data(), c.data(), rows));
    if (length == 0.0) continue;
    for (double& x : c) x /= length;
    c[0] += 1.0;
    norm = dot(c.data(), c.data(), rows);
  }
  std::vector<double> q(rows * n);
  const bool turn = !flip && n == rows && rows % 2 == 0;
  for (size_t j = 0; j < n; ++j) {
    poll_cancellation(rows);
    for (size_t i = 0; i < rows; ++i) {
      const double value = 2.0 * c[i] * c[j] / norm - (i == j ? 1.0 : 0.0);
      q[j * rows + i] = turn && j == 0 ? -value : value;
    }
  }
  return q;
}

std::vector<int32_t> append_rotation(std::vector<int32_t> features, const RotationDraw& draw,
                                     Stream& stream, Candidates& axes) {
  std::vector<int32_t> rest;
  if (draw.max_features < static_cast<int64_t>(features.size())) {
    SampleWithoutReplacement undrawn;
    undrawn.resize(static_cast<int32_t>(features.size()));
    std::vector<int32_t> chosen;
    for (int64_t k = 0; k < draw.max_features; ++k)
      chosen.push_back(features[undrawn.draw(stream)]);
    // Sorted, since a permutation might turn a rotation into a reflection.
    std::sort(chosen.begin(), chosen.end());
    std::set_difference(features.begin(), features.end(), chosen.begin(), chosen.end(),
                        std::back_inserter(rest));
    features = std::move(chosen);
  }
  const size_t m = features.size();
  const std::vector<double> q =
      draw.columns(static_cast<int32_t>(m), static_cast<int32_t>(m), stream);
  for (size_t axis = 0; axis < m; ++axis) {
    poll_cancellation(m);
    for (size_t k = 0; k < m; ++k) axes.add_entry(features[k], static_cast<float>(q[axis * m + k]));
    axes.close();
  }
  return rest;
}

}  // namespace bevel
