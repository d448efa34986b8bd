// Predictions of variants of rows: of each row by the forest, and means over rows of each tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include "bevel/analysis/effects/variants.h"
#include "bevel/predict/packed_forest.h"

namespace bevel {

// Encoded rows, one after another.
struct PlainRows {
  const float* values;
  size_t n_rows;
};

using Variants = std::variant<FeatureGrid, RowVariants>;
// Called with the number of steps done; returns whether to continue.
using CurveProgress = std::function<bool(size_t n_done)>;

struct CurveOptions {
  bool hard = false;  // trees vote
  // n_rows x n_trees: whether a tree predicts a row; null: every tree predicts every row.
  const uint8_t* is_evaluated = nullptr;
  int n_threads = 1;
};

// Predictions of the forest: n_rows x k x n_variants, k the number of classes or 1. They are, bit
// for bit, those of prediction; NaN where no tree predicts a row. Steps are blocks of rows.
void row_curves(const PackedForest& forest, const PlainRows& rows, const Variants& variants,
                const CurveOptions& options, const CurveProgress& progress, double* out);

// Weighted sums over the rows of a group and the trees of a part of the forest: n_parts x n_groups
// x k x n_variants. Parts are equally many trees in a row, one tree each if there are as many. Rows
// of group -1 do not count. Steps are parts.
struct RowGroups {
  std::span<const int32_t> group;
  std::span<const double> weight;  // empty: all 1
  size_t n_groups = 1;
};
void tree_curves(const PackedForest& forest, const PlainRows& rows, const Variants& variants,
                 const RowGroups& groups, size_t n_parts, const CurveOptions& options,
                 const CurveProgress& progress, double* out);

}  // namespace bevel
