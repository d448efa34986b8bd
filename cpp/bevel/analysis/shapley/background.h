// Background rows of Shapley values: original, and with medians in place of missing
// values; all of them for each tree, or some that are drawn for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/predict/forest_arrays.h"
#include "bevel/predict/reference_predictor.h"

namespace bevel {

struct BackgroundRows {
  RowMatrix rows;
  const double* weights = nullptr;  // null: all 1
  const int32_t* drawn = nullptr;   // n_trees x per_tree; null: all rows for each tree
  size_t per_tree = 0;
};

class Background {
 public:
  // The rows must outlive this.
  Background(const ForestArrays& forest, const BackgroundRows& background);

  size_t n_features() const { return n_features_; }
  bool is_drawn() const { return given_.drawn != nullptr; }
  size_t per_tree() const { return is_drawn() ? given_.per_tree : given_.rows.n_rows; }
  // Row number i of a tree, from 0 to per_tree() - 1.
  size_t row_of_tree(size_t tree, size_t i) const {
    return is_drawn() ? static_cast<size_t>(given_.drawn[tree * given_.per_tree + i]) : i;
  }
  const float* row(size_t z) const { return given_.rows.values + z * given_.rows.row_stride; }
  const float* filled_row(size_t z) const { return &filled_[z * n_features_]; }
  // Drawn rows have equal weight: their weights determine the draw.
  double weight(size_t z) const { return is_drawn() || !given_.weights ? 1.0 : given_.weights[z]; }
  // Total weight of the rows of a tree.
  double total_weight() const;

 private:
  BackgroundRows given_;
  size_t n_features_;
  std::vector<float> filled_;
};

// Replaces the missing values of a row by medians.
void fill_missing(const ForestArrays& forest, const float* row, float* filled);

}  // namespace bevel
