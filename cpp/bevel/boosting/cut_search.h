// The best cut of a node by the histograms of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/boosting/code_groups.h"
#include "bevel/boosting/row_statistics.h"
#include "bevel/boosting/tree_columns.h"
#include "bevel/tree/value_bounds.h"

namespace bevel {

// What each side of a cut must have, and the penalty, in whole units of the statistics.
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

// What a node of these sums would predict alone.
inline double node_value(PackedSum sum, double penalty) {
  return -static_cast<double>(gradient_of(sum)) / (hessian_of(sum) + penalty);
}

// The score is G_L^2 / (H_L + penalty) + G_R^2 / (H_R + penalty), less the same of the node: twice
// what the loss falls by. Where values have bounds it is what it falls by within them.
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

class CutSearch {
 public:
  struct Prefixes;

  CutSearch(const TreeColumns& columns, const CutRules& rules) : columns_(columns), rules_(rules) {}

  // Offers the cuts of a column by its sums and, unless null, its rows per code. Of equal cuts the
  // first one offered stays, so columns are searched in their order.
  void search(size_t column, const PackedSum* histogram, const uint32_t* counts,
              const NodeTotals& node, NodeCut& best) const;

 private:
  void search_numbers(size_t column, const PackedSum* histogram, const uint32_t* counts,
                      const NodeTotals& node, NodeCut& best) const;
  // Scores of the cuts after each of n prefixes of the column, kNone where a cut is not allowed.
  void score(size_t column, const NodeTotals& node, size_t n, Prefixes& prefixes) const;
  double score_of_node(const NodeTotals& node) const;
  void search_levels(size_t column, const PackedSum* histogram, const uint32_t* counts,
                     const NodeTotals& node, NodeCut& best) const;

  const TreeColumns& columns_;
  const CutRules rules_;
};

}  // namespace bevel
