#include "bevel/analysis/shapley/splits/wide_splits.h"

#include <algorithm>
#include <cmath>

namespace bevel {

// Least and largest projected value over the free features. Rounded sums and products grow with
// each term, so the bounds hold for rounded values too, and meet when nothing is free.
Turn WideSplits::turn(size_t node, const Hybrids& hybrids) const {
  const size_t at = tree_->node_in_forest(node);
  const int64_t first = forest_.entry_offset[at], last = forest_.entry_offset[at + 1];
  Interval sum{0.0f, 0.0f};
  for (int64_t e = first; e < last; ++e) {
    const int32_t index = forest_.entry_index[e];
    const float weight = forest_.entry_weight[e];
    Interval part;
    if (index < forest_.n_features) {
      part = term(index, forest_.level_of_entry(static_cast<size_t>(e)), weight, hybrids);
    } else {
      const Interval values = axis(index - forest_.n_features, hybrids);
      const float one = weight * values.low, other = weight * values.high;
      part = {std::min(one, other), std::max(one, other)};
    }
    sum = e == first ? part : Interval{sum.low + part.low, sum.high + part.high};
  }
  const float threshold = forest_.threshold[at];
  if (sum.high <= threshold) return Turn::left;
  return sum.low <= threshold ? Turn::undecided : Turn::right;
}

WideSplits::Interval WideSplits::axis(int32_t axis, const Hybrids& hybrids) const {
  const auto column = static_cast<size_t>(forest_.rotation_offset[tree_->number()] + axis);
  const int64_t first = forest_.rotation_entry_offset[column];
  const int64_t last = forest_.rotation_entry_offset[column + 1];
  Interval sum{0.0f, 0.0f};
  for (int64_t e = first; e < last; ++e) {
    const Interval part = term(forest_.rotation_index[e], -1, forest_.rotation_weight[e], hybrids);
    sum = e == first ? part : Interval{sum.low + part.low, sum.high + part.high};
  }
  return sum;
}

// Levels of one feature each have their own range, which is wider than that of their sum while the
// feature is free, and the same afterwards.
WideSplits::Interval WideSplits::term(int32_t feature, int32_t level, float weight,
                                      const Hybrids& hybrids) const {
  const auto place = static_cast<size_t>(feature);
  const float of_row = weight * value_of_entry(hybrids.x, place, level);
  const float of_background = weight * value_of_entry(hybrids.z, place, level);
  switch (hybrids.source[tree_->local(feature)]) {
    case Source::row:
      return {of_row, of_row};
    case Source::background:
      return {of_background, of_background};
    default:
      return {std::min(of_row, of_background), std::max(of_row, of_background)};
  }
}

void WideSplits::add_reach(size_t node, const Hybrids& hybrids) {
  const size_t at = tree_->node_in_forest(node);
  for (int64_t e = forest_.entry_offset[at]; e < forest_.entry_offset[at + 1]; ++e) {
    const int32_t index = forest_.entry_index[e];
    const double weight = forest_.entry_weight[e];
    if (index < forest_.n_features) {
      add_term(index, forest_.level_of_entry(static_cast<size_t>(e)), weight, hybrids);
      continue;
    }
    const auto axis =
        static_cast<size_t>(forest_.rotation_offset[tree_->number()] + index - forest_.n_features);
    for (int64_t r = forest_.rotation_entry_offset[axis];
         r < forest_.rotation_entry_offset[axis + 1]; ++r)
      add_term(forest_.rotation_index[r], -1, weight * forest_.rotation_weight[r], hybrids);
  }
}

void WideSplits::add_term(int32_t feature, int32_t level, double weight, const Hybrids& hybrids) {
  const auto place = static_cast<size_t>(tree_->local(feature));
  const auto own = static_cast<size_t>(feature);
  if (hybrids.source[place] != Source::free) return;
  const double gap = static_cast<double>(value_of_entry(hybrids.x, own, level)) -
                     value_of_entry(hybrids.z, own, level);
  reach_[place] += std::fabs(weight * gap);
}

int32_t WideSplits::widest(size_t node) {
  int32_t widest = -1;
  double most = 0.0;
  tree_->each_feature(node, [&](int32_t feature) {
    double& reach = reach_[static_cast<size_t>(tree_->local(feature))];
    if (reach > most) {
      most = reach;
      widest = tree_->local(feature);
    }
    reach = 0.0;
  });
  return widest;
}

}  // namespace bevel
