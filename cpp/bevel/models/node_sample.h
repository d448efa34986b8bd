// Input and output of node models. Models do not depend on trees or samplers:
// matrices in, directions out. Every model is a class that owns its work space: keep one per thread
// and refit it at every node.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/models/algebra/dense.h"
#include "bevel/support/risk_sets.h"

namespace bevel {

// Rows of a node in some of its features. Weights (bootstrap multiplicities, sample weights)
// multiply squares; rows of weight 0 should be left out, since they would count as rows.
struct NodeSample {
  size_t n = 0;                // rows
  size_t m = 0;                // features
  size_t stride = 0;           // doubles from one row to the next
  std::vector<double> values;  // row-major, raw units, no NaN; entries m to stride of a row are 0
  std::vector<double> weight;  // n, positive
  int32_t n_classes = 0;       // 0: regression
  std::vector<int32_t> label;  // n, below n_classes: classification
  std::vector<double> target;  // n: regression; survival: the log-rank scores of the node
  std::vector<SurvivalRow> survival;  // n, by ascending rank; empty except in survival
  // Samples of one number differ in their features only: rows, weights, labels and targets are the
  // same. 0: not known.
  uint64_t rows_number = 0;

  // Sets the sizes; values of features are then written with row(i)[feature].
  void resize(size_t n_rows, size_t n_features) {
    n = n_rows;
    m = n_features;
    stride = padded(n_features);
    values.resize(n * stride);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = m; j < stride; ++j) values[i * stride + j] = 0.0;
    weight.resize(n);
  }
  double* row(size_t i) { return values.data() + i * stride; }
  const double* row(size_t i) const { return values.data() + i * stride; }
};

// Directions in raw units: the projected value of a row is the sum of coefficient times value. Only
// the line that a direction spans has a meaning, so its largest entry in magnitude (the first of
// several) is made +1: this fixes the sign, and every direction fits into float32.
struct ModelDirections {
  size_t m = 0;                     // features
  std::vector<double> coefficient;  // direction after direction

  void clear(size_t n_features) {
    m = n_features;
    coefficient.clear();
  }
  size_t count() const { return m == 0 ? 0 : coefficient.size() / m; }
  std::span<const double> operator[](size_t k) const { return {coefficient.data() + k * m, m}; }

  // Takes the m entries that were appended to `coefficient`; false when they are dropped because
  // all are zero or one is not finite.
  bool close() {
    double* entry = coefficient.data() + coefficient.size() - m;
    double largest = 0.0;
    bool finite = true;
    for (size_t j = 0; j < m; ++j) {
      finite = finite && std::isfinite(entry[j]);
      if (std::fabs(entry[j]) > std::fabs(largest)) largest = entry[j];
    }
    if (!finite || largest == 0.0) {
      coefficient.resize(coefficient.size() - m);
      return false;
    }
    for (size_t j = 0; j < m; ++j) entry[j] = entry[j] / largest + 0.0;  // no -0
    return true;
  }
};

}  // namespace bevel
