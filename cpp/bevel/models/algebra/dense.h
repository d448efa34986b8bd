// Loops over small row-major matrices. Rows are padded with zeros to a multiple of kBlock columns;
// columns are processed in blocks, a lane per column, so that every sum runs over the rows in their
// order and has the same bits on all machines.
#pragma once

#include <cstddef>

#include "bevel/support/arithmetic/dot.h"

namespace bevel {

constexpr size_t kBlock = 4;
constexpr size_t padded(size_t n_columns) { return (n_columns + kBlock - 1) / kBlock * kBlock; }

struct ConstMatrix {
  const double* data;
  size_t n_rows;
  size_t stride;  // a multiple of kBlock
};
struct Matrix {
  double* data;
  size_t n_rows;
  size_t stride;
  operator ConstMatrix() const { return {data, n_rows, stride}; }
};

// out[j] = sum over i of v[i] a[i][j], for the columns from the block that holds `first` on.
void transposed_times(ConstMatrix a, const double* v, double* out, size_t first = 0);

// out[j] = sum over i of a[i][j]^2.
void column_squares(ConstMatrix a, double* out);

// a[i][j] -= v[i] s[j], for the columns from the block that holds `first` on.
void subtract_outer(Matrix a, const double* v, const double* s, size_t first = 0);

// out = a' a, stride x stride, both halves.
void gram(ConstMatrix a, double* out);

// out[i] = sum over the first n_columns of a[i][j] v[j].
void times(ConstMatrix a, const double* v, size_t n_columns, double* out);

// out[j][i] = a[i][j] for j below n_columns; out has padded(n_rows) columns.
void transpose(ConstMatrix a, size_t n_columns, double* out);

// Factorises a symmetric positive definite a = U' U of n_rows columns, U in place of its upper
// half. False when a pivot is not positive.
bool factorise_positive(Matrix a);

// Solves U' U x = b in place of b, for a matrix that factorise_positive has overwritten.
void solve_factorised(ConstMatrix a, double* b);

}  // namespace bevel
