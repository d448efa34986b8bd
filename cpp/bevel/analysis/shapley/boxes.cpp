#include "bevel/analysis/shapley/boxes.h"

#include <algorithm>
#include <cmath>

#include "bevel/predict/reference_predictor.h"
#include "bevel/support/cancellation.h"
#include "bevel/tree/node_store.h"

namespace bevel {
namespace {

constexpr size_t kWorkOfTurn = 64;  // between polls for cancellation, roughly

}  // namespace

BoxWeights::BoxWeights(size_t n_features)
    : width_(std::min(n_features, kMostDecided) + 1), table_(width_ * width_, 0.0) {
  // w(1, 0) = 1, w(a, b) = w(a, b-1) b / (a+b), w(a, 0) = 1 / a.
  for (size_t a = 1; a < width_; ++a) {
    double weight = 1.0 / static_cast<double>(a);
    table_[a * width_] = weight;
    for (size_t b = 1; b < width_; ++b) {
      weight *= static_cast<double>(b) / static_cast<double>(a + b);
      table_[a * width_ + b] = weight;
    }
  }
}

bool ShapleyBoxes::add(size_t tree, const RowPair& pair, size_t most_boxes, Credit& credit) {
  tree_ = tree;
  pair_ = pair;
  credit_ = &credit;
  boxes_left_ = most_boxes;
  n_of_row_ = 0;
  decided_.clear();
  return visit(static_cast<size_t>(forest_.tree_offset[tree]));
}

bool ShapleyBoxes::visit(size_t node) {
  while (forest_.right[node] >= 0) {
    poll_cancellation(kWorkOfTurn);
    const Turn next = turn(node);
    if (next.feature >= 0) return decide(next.feature, node);
    node = next.left ? node + 1
                     : static_cast<size_t>(forest_.tree_offset[tree_]) +
                           static_cast<size_t>(forest_.right[node]);
  }
  return add_leaf(node);
}

bool ShapleyBoxes::decide(int32_t feature, size_t node) {
  if (decided_.size() == weights_.most()) return false;
  credit_->touch(feature);
  decided_.push_back(feature);
  const float low = pair_.low[feature], high = pair_.high[feature];
  ++n_of_row_;
  bool within = try_side(Side::row, feature, node);
  --n_of_row_;
  within = within && try_side(Side::background, feature, node);
  pair_.side[feature] = Side::free;
  pair_.low[feature] = low;
  pair_.high[feature] = high;
  decided_.pop_back();
  return within;
}

bool ShapleyBoxes::try_side(Side side, int32_t feature, size_t node) {
  const float value = (side == Side::row ? pair_.x : pair_.z)[feature];
  pair_.side[feature] = side;
  pair_.low[feature] = pair_.high[feature] = value != value ? forest_.medians[feature] : value;
  return visit(node);
}

bool ShapleyBoxes::add_leaf(size_t leaf) {
  if (boxes_left_ == 0) return false;
  --boxes_left_;
  const size_t a = n_of_row_, b = decided_.size() - n_of_row_;
  const double gain = a > 0 ? weights_.of_row(a, b) : 0.0;
  const double loss = b > 0 ? weights_.of_background(a, b) : 0.0;
  leaf_output_.each(leaf, [&](size_t column, double amount) {
    const double won = gain * amount, lost = -loss * amount;
    for (const int32_t feature : decided_)
      credit_->of(feature)[column] += pair_.side[feature] == Side::row ? won : lost;
  });
  return true;
}

ShapleyBoxes::Turn ShapleyBoxes::turn(size_t node) const {
  const int64_t first = forest_.entry_offset[node];
  const int32_t index = forest_.entry_index[first];
  const bool is_single = forest_.entry_offset[node + 1] - first == 1;
  return is_single && index < forest_.n_features ? turn_of_one(node, index) : turn_of_many(node);
}

ShapleyBoxes::Turn ShapleyBoxes::turn_of_one(size_t node, int32_t feature) const {
  const Side side = pair_.side[feature];
  if (side != Side::free)
    return {-1, goes_left(forest_, tree_, node, side == Side::row ? pair_.x : pair_.z, 1)};
  const bool left = goes_left(forest_, tree_, node, pair_.x, 1);
  return {left == goes_left(forest_, tree_, node, pair_.z, 1) ? -1 : feature, left};
}

// Least and largest projected value over the free features. Rounded sums and products grow with
// each term, so the bounds hold for rounded values too, and meet when nothing is free.
ShapleyBoxes::Turn ShapleyBoxes::turn_of_many(size_t node) const {
  const int64_t first = forest_.entry_offset[node], last = forest_.entry_offset[node + 1];
  Interval sum{0.0f, 0.0f};
  Widest widest;
  for (int64_t e = first; e < last; ++e) {
    const int32_t index = forest_.entry_index[e];
    const float weight = forest_.entry_weight[e];
    Interval part;
    if (index < forest_.n_features) {
      part = term(index, weight, 1.0f, widest);
    } else {
      const Interval axis = values_of_axis(index - forest_.n_features, weight, widest);
      const float one = weight * axis.low, other = weight * axis.high;
      part = {std::min(one, other), std::max(one, other)};
    }
    sum = e == first ? part : Interval{sum.low + part.low, sum.high + part.high};
  }
  const float threshold = forest_.threshold[node];
  if (sum.high <= threshold) return {-1, true};
  if (!(sum.low <= threshold)) return {-1, false};
  return {widest.feature, true};
}

ShapleyBoxes::Interval ShapleyBoxes::values_of_axis(int32_t axis, float scale,
                                                    Widest& widest) const {
  const auto column = static_cast<size_t>(forest_.rotation_offset[tree_] + axis);
  const int64_t first = forest_.rotation_entry_offset[column];
  const int64_t last = forest_.rotation_entry_offset[column + 1];
  Interval sum{0.0f, 0.0f};
  for (int64_t e = first; e < last; ++e) {
    const Interval part =
        term(forest_.rotation_index[e], forest_.rotation_weight[e], scale, widest);
    sum = e == first ? part : Interval{sum.low + part.low, sum.high + part.high};
  }
  return sum;
}

ShapleyBoxes::Interval ShapleyBoxes::term(int32_t feature, float weight, float scale,
                                          Widest& widest) const {
  const float one = weight * pair_.low[feature], other = weight * pair_.high[feature];
  const Interval part{std::min(one, other), std::max(one, other)};
  const float gap = std::fabs(scale) * (part.high - part.low);
  // The feature that moves the sum most decides soonest where the others go.
  if (part.low < part.high && (widest.feature < 0 || gap > widest.gap)) widest = {feature, gap};
  return part;
}

}  // namespace bevel
