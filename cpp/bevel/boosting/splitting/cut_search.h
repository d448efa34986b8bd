// The best cut of a node by the histograms of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/code_groups.h"
#include "bevel/boosting/row_statistics.h"
#include "bevel/boosting/tree_columns.h"
#include "bevel/tree/value_bounds.h"

namespace bevel {

// Lower limits of each side of a cut, and the penalty, in whole units of the statistics.
struct CutRules {
  double penalty = 0.0;  // added to the hessian of a side
  double min_hessian = 0.0;
  int64_t min_rows = 1;
};

struct NodeTotals {
  PackedSum sum = 0;
  int64_t n_rows = 0;
  ValueBounds bounds{};  // of the leaves below it, in units of node_value()
};

// Prediction of a node of these sums.
inline double node_value(PackedSum sum, double penalty) {
  return -static_cast<double>(gradient_of(sum)) / (hessian_of(sum) + penalty);
}

// The score is G_L^2 / (H_L + penalty) + G_R^2 / (H_R + penalty), minus that of the node: twice
// the decrease of the loss. Where values have bounds it is the decrease within them.
struct NodeCut {
  double score = 0.0;  // a cut must lower the loss
  int64_t column = -1;
  int bin = -1;  // numeric: bins up to it go left
  bool has_missing = false, missing_left = false;
  PackedSum left = 0;
  std::vector<uint8_t> levels_left;  // nominal: by code

  bool found() const { return column >= 0; }
};

// A total order: higher score, then the lower column; within a column the search decides.
inline bool is_better(const NodeCut& a, const NodeCut& b) {
  if (!a.found() || !b.found()) return a.found();
  return a.score != b.score ? a.score > b.score : a.column < b.column;
}

// Whether a cut after one of n prefixes may have a score, before subtracting that of the node, of
// `least` or more. Computed in single precision with a margin: it may be true where no cut has, and
// is never false where one has.
bool may_reach(const PackedSum* prefixes, size_t n, PackedSum node, const CutRules& rules,
               double least);

// What a search asks of the rows of a node, for columns whose cuts may be the best.
class RowsOfNode {
 public:
  virtual ~RowsOfNode() = default;
  // The number of rows of each code.
  virtual const uint32_t* counts(size_t column) = 0;
  // The sums by code if each row had the statistics of another one, at random.
  virtual const PackedSum* shuffled_sums(size_t column) = 0;
  // The mean square of the gradients around hessian times mean gradient.
  virtual double gradient_variance() = 0;
};

// Sums of the bins of a numeric column, ascending; bins without rows may be left out, except for
// the first one of a column with missing values.
struct BinSums {
  const PackedSum* sums;
  size_t n;
  PackedSum missing = 0;
  const uint8_t* bins = nullptr;  // the bin of each sum; null: all of them
};

class CutSearch {
 public:
  struct Prefixes;

  // counts_rows: false: cuts may leave a side fewer rows than the rules demand.
  CutSearch(const TreeColumns& columns, const CutRules& rules, RowsOfNode& rows, bool counts_rows)
      : columns_(columns), rules_(rules), rows_(rows), counts_rows_(counts_rows) {}

  // Offers the cuts of a column by its sums. Cuts of lower score than known_score need not be
  // found.
  void search(size_t column, const PackedSum* histogram, const NodeTotals& node, double known_score,
              NodeCut& best) const;
  // Offers the cuts of a numeric column by the sums of its bins.
  void search_numbers(size_t column, const BinSums& bins, const NodeTotals& node,
                      double known_score, NodeCut& best) const;

 private:
  struct Level;
  struct LevelCut;
  // Scores of the cuts after prefixes first .. last - 1 of the column, kNone where a side has too
  // low a hessian.
  void score(size_t column, const NodeTotals& node, size_t first, size_t last,
             Prefixes& prefixes) const;
  bool has_bounds(size_t column, const NodeTotals& node) const {
    return columns_.push(column) != 0 || node.bounds.any();
  }
  double score_of_node(const NodeTotals& node) const;
  void search_levels(size_t column, const PackedSum* histogram, const NodeTotals& node,
                     double known_score, NodeCut& best) const;
  // The score that levels gain by chance.
  double chance_of(size_t column, const NodeTotals& node, const uint32_t* counts,
                   std::span<const Level> levels) const;
  LevelCut cut_levels(size_t column, const PackedSum* histogram, const NodeTotals& node,
                      const uint32_t* counts, std::span<Level> levels, Prefixes& prefixes) const;
  const uint32_t* counts_of(size_t column) const {
    return counts_rows_ ? rows_.counts(column) : nullptr;
  }

  const TreeColumns& columns_;
  const CutRules rules_;
  RowsOfNode& rows_;
  const bool counts_rows_;
};

}  // namespace bevel
