// Predictions of a packed forest: blocks of rows, tree after tree; single rows, all trees at once.
// Agrees with the reference predictor bit for bit.
#pragma once

#include <cstdint>

#include "bevel/predict/packed_forest.h"
#include "bevel/predict/row_source.h"
#include "bevel/predict/tree_range.h"

namespace bevel {

enum class Voting { soft, hard };

// Mean over trees of leaf shares (soft) or of votes (hard); out: n_rows x n_classes.
void predict_proba(const PackedForest& forest, const RowSource& rows, Voting voting, int n_threads,
                   double* out);
// The class of highest probability, of a forest with one output: the first of those that are equal.
// Stops at the tree after which a row's class cannot change.
void predict_class(const PackedForest& forest, const RowSource& rows, Voting voting, int n_threads,
                   int32_t* out);
// Mean over trees of leaf values; out: n_rows x max(1, n_outputs).
void predict_value(const PackedForest& forest, const RowSource& rows, int n_threads, double* out);

// Adds leaf values of some trees to out (n_rows x n_outputs), tree t to output t % n_outputs.
void add_values(const PackedForest& forest, const RowSource& rows, TreeRange trees,
                size_t n_outputs, int n_threads, double* out);

}  // namespace bevel
