#include "bevel/predict/survival_curves.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "bevel/predict/parallel_rows.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// Adds the contribution of a leaf to the differences of a curve.
void add_leaf(const ForestArrays& forest, const CurveRequest& request, size_t node, double* out) {
  double survival = 1.0, jumps = 0.0;  // before the event time, and at it
  size_t current = 0;
  for (int64_t e = forest.entry_offset[node]; e < forest.entry_offset[node + 1]; ++e) {
    const auto number = static_cast<size_t>(forest.entry_index[e]);
    const size_t time = number / request.n_causes;
    if (time >= request.first_point.size())
      throw std::invalid_argument("A leaf has an event time that the forest has not.");
    if (time != current) {
      survival *= std::max(0.0, 1.0 - jumps);
      jumps = 0.0;
      current = time;
    }
    const auto jump = static_cast<double>(forest.entry_weight[e]);
    jumps += jump;
    const auto point = static_cast<size_t>(request.first_point[time]);
    if (point >= request.n_points) continue;
    if (request.kind == CurveKind::incidence && number % request.n_causes != request.cause)
      continue;
    out[point] += request.kind == CurveKind::hazard ? jump : survival * jump;
  }
}

}  // namespace

void survival_curves(const ForestArrays& forest, const CurveRequest& request, const int32_t* leaves,
                     size_t n_rows, int n_threads, double* out) {
  const size_t n_trees = forest.n_trees();
  parallel_rows(n_trees, n_rows, n_threads, [&](size_t first, size_t last) {
    for (size_t row = first; row < last; ++row) {
      poll_cancellation(n_trees * 16 + request.n_points);
      double* curve = out + row * request.n_points;
      size_t n = 0;
      for (size_t tree = 0; tree < n_trees; ++tree) {
        const int64_t leaf = leaves[row * n_trees + tree];
        if (leaf < 0) continue;
        const int64_t node = forest.tree_offset[tree] + leaf;
        if (node >= forest.tree_offset[tree + 1] || forest.right[static_cast<size_t>(node)] >= 0)
          throw std::invalid_argument("A leaf is none of its tree.");
        add_leaf(forest, request, static_cast<size_t>(node), curve);
        ++n;
      }
      double sum = 0.0;
      for (size_t k = 0; k < request.n_points; ++k) {
        sum += curve[k];
        const double mean = sum / static_cast<double>(n);
        curve[k] = n == 0 ? std::numeric_limits<double>::quiet_NaN()
                          : (request.kind == CurveKind::survival ? 1.0 - mean : mean);
      }
    }
  });
}

}  // namespace bevel
