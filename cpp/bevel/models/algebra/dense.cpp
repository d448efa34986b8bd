#include "bevel/models/algebra/dense.h"

#include <cmath>

#include "bevel/support/cancellation.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

// Loops over fewer rows are polled for cancellation by their callers.
constexpr size_t kPolledRows = 4096;

void poll_if_many(size_t n_rows, size_t n_columns) {
  if (n_rows >= kPolledRows) poll_cancellation(n_rows * n_columns);
}

// Columns in blocks, their sums in registers.
BEVEL_WIDE_LOOP void transposed_times_loop(ConstMatrix a, const double* v, double* out,
                                           size_t column) {
  constexpr size_t W = 2 * kBlock;
  for (; column + W <= a.stride; column += W) {
    double sum[W] = {};
    const double* row = a.data + column;
    for (size_t i = 0; i < a.n_rows; ++i, row += a.stride)
      for (size_t j = 0; j < W; ++j) sum[j] += v[i] * row[j];
    for (size_t j = 0; j < W; ++j) out[column + j] = sum[j];
  }
  for (; column < a.stride; column += kBlock) {
    double sum[kBlock] = {};
    const double* row = a.data + column;
    for (size_t i = 0; i < a.n_rows; ++i, row += a.stride)
      for (size_t j = 0; j < kBlock; ++j) sum[j] += v[i] * row[j];
    for (size_t j = 0; j < kBlock; ++j) out[column + j] = sum[j];
  }
}

BEVEL_WIDE_LOOP void subtract_outer_loop(Matrix a, const double* v, const double* s,
                                         size_t column) {
  for (; column < a.stride; column += kBlock) {
    double factor[kBlock];
    for (size_t j = 0; j < kBlock; ++j) factor[j] = s[column + j];
    double* row = a.data + column;
    for (size_t i = 0; i < a.n_rows; ++i, row += a.stride)
      for (size_t j = 0; j < kBlock; ++j) row[j] -= v[i] * factor[j];
  }
}

// A tile of kBlock x kBlock entries, its sums in registers.
BEVEL_WIDE_LOOP void gram_tile(ConstMatrix a, size_t r, size_t c, double* out) {
  double sum[kBlock][kBlock] = {};
  const double* row = a.data;
  for (size_t i = 0; i < a.n_rows; ++i, row += a.stride)
    for (size_t k = 0; k < kBlock; ++k)
      for (size_t j = 0; j < kBlock; ++j) sum[k][j] += row[r + k] * row[c + j];
  for (size_t k = 0; k < kBlock; ++k)
    for (size_t j = 0; j < kBlock; ++j) {
      out[(r + k) * a.stride + c + j] = sum[k][j];
      out[(c + j) * a.stride + r + k] = sum[k][j];
    }
}

}  // namespace

void transposed_times(ConstMatrix a, const double* v, double* out, size_t first) {
  poll_if_many(a.n_rows, a.stride);
  transposed_times_loop(a, v, out, first / kBlock * kBlock);
}

void column_squares(ConstMatrix a, double* out) {
  for (size_t column = 0; column < a.stride; column += kBlock) {
    poll_if_many(a.n_rows, kBlock);
    double sum[kBlock] = {};
    const double* row = a.data + column;
    for (size_t i = 0; i < a.n_rows; ++i, row += a.stride)
      for (size_t j = 0; j < kBlock; ++j) sum[j] += row[j] * row[j];
    for (size_t j = 0; j < kBlock; ++j) out[column + j] = sum[j];
  }
}

void subtract_outer(Matrix a, const double* v, const double* s, size_t first) {
  poll_if_many(a.n_rows, a.stride);
  subtract_outer_loop(a, v, s, first / kBlock * kBlock);
}

void gram(ConstMatrix a, double* out) {
  const bool is_large = a.n_rows * a.stride >= kPolledRows;
  for (size_t r = 0; r < a.stride; r += kBlock)
    for (size_t c = r; c < a.stride; c += kBlock) {
      if (is_large) poll_cancellation(a.n_rows * kBlock * kBlock);
      gram_tile(a, r, c, out);
    }
}

void times(ConstMatrix a, const double* v, size_t n_columns, double* out) {
  for (size_t i = 0; i < a.n_rows; ++i) {
    if (i % kPolledRows == kPolledRows - 1) poll_cancellation(kPolledRows * n_columns);
    const double* row = a.data + i * a.stride;
    double sum = 0.0;
    for (size_t j = 0; j < n_columns; ++j) sum += row[j] * v[j];
    out[i] = sum;
  }
}

void transpose(ConstMatrix a, size_t n_columns, double* out) {
  const size_t stride = padded(a.n_rows);
  for (size_t j = 0; j < n_columns; ++j) {
    poll_cancellation_at(j, a.n_rows);
    for (size_t i = 0; i < a.n_rows; ++i) out[j * stride + i] = a.data[i * a.stride + j];
    for (size_t i = a.n_rows; i < stride; ++i) out[j * stride + i] = 0.0;
  }
}

bool factorise_positive(Matrix a) {
  const size_t n = a.n_rows;
  // Row k of U = L' is kept above the diagonal, so that each elimination runs along rows.
  for (size_t k = 0; k < n; ++k) {
    poll_cancellation((n - k) * (n - k));
    double* pivot_row = a.data + k * a.stride;
    if (!(pivot_row[k] > 0.0)) return false;
    const double root = std::sqrt(pivot_row[k]);
    const double inverse = 1.0 / root;
    pivot_row[k] = root;
    for (size_t j = k + 1; j < n; ++j) pivot_row[j] *= inverse;
    for (size_t i = k + 1; i < n; ++i) {
      double* row = a.data + i * a.stride;
      const double factor = pivot_row[i];
      for (size_t j = i; j < n; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  return true;
}

void solve_factorised(ConstMatrix a, double* b) {
  const size_t n = a.n_rows;
  poll_cancellation(n * n);
  for (size_t k = 0; k < n; ++k) {
    const double* row = a.data + k * a.stride;
    b[k] *= 1.0 / row[k];
    for (size_t i = k + 1; i < n; ++i) b[i] -= row[i] * b[k];
  }
  for (size_t k = n; k-- > 0;) {
    const double* row = a.data + k * a.stride;
    double value = b[k];
    for (size_t j = k + 1; j < n; ++j) value -= row[j] * b[j];
    b[k] = value / row[k];
  }
}

}  // namespace bevel
