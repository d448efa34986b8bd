// The inputs of a search over one candidate, and the only place where a cut is accepted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bevel/split/cut.h"

namespace bevel {

// Lower limits of each side of a cut.
struct Limits {
  size_t min_rows = 1;
  double min_weight = 0.0;
};

struct SearchContext {
  Limits limits;
  size_t n_rows;        // of the node, rows with a missing value included
  double total_weight;  // of the node
  int32_t candidate;
  bool missing_left = false;
  bool has_missing = false;
  Cut* best;

  bool allows(size_t rows_left, double weight_left) const {
    return rows_left >= limits.min_rows && n_rows - rows_left >= limits.min_rows &&
           weight_left >= limits.min_weight && total_weight - weight_left >= limits.min_weight;
  }
  Cut cut(double score, double weight_left, float low, float high) const {
    Cut c;
    c.score = score;
    c.candidate = candidate;
    c.missing_left = missing_left;
    c.has_missing = has_missing;
    c.weight_left = weight_left;
    c.low = low;
    c.high = high;
    return c;
  }
  Cut cut_at_edge(double score, double weight_left, const Binning& binning, int edge) const {
    Cut c = cut(score, weight_left, 0.0f, 0.0f);
    c.edge = edge;
    c.binning = binning;
    return c;
  }
  void offer(double score, size_t rows_left, double weight_left, float low, float high) const {
    if (score < best->score || !allows(rows_left, weight_left)) return;
    const Cut c = cut(score, weight_left, low, high);
    if (beats(c, *best)) *best = c;
  }
};

}  // namespace bevel
