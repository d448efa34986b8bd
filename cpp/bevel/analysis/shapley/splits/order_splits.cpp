#include "bevel/analysis/shapley/splits/order_splits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "bevel/predict/reference_predictor.h"

namespace bevel {
namespace {

constexpr double kMaxSum = 1e37;  // sums in float32 do not overflow below

// Bits of values below the first bound, and of those above the second; exact for those wanted.
struct Sides {
  uint64_t below = 0, above = 0;
};
Sides compare(const double* values, uint64_t wanted, double low, double high) {
  Sides sides;
  const auto first = static_cast<size_t>(std::countr_zero(wanted));
  const auto last = static_cast<size_t>(64 - std::countl_zero(wanted));
  uint64_t bit = uint64_t{1} << first;
  for (size_t k = first; k < last; ++k, bit <<= 1) {
    sides.below |= values[k] < low ? bit : 0;
    sides.above |= values[k] > high ? bit : 0;
  }
  return sides;
}

}  // namespace

void OrderSplits::begin_tree(const GameTree& tree) {
  tree_ = &tree;
  of_node_.assign(tree.n_nodes(), -1);
  of_axis_.clear();
  directions_.clear();
  terms_.clear();
}

void OrderSplits::begin_base(const float* base, const float* filled_base, const RowPair& pair) {
  base_ = base;
  filled_base_ = filled_base;
  pair_ = pair;
  ++base_number_;
}

void OrderSplits::begin_order(const int32_t* order, size_t n_steps) {
  for (const int32_t feature : positioned_) position_[static_cast<size_t>(feature)] = 0;
  positioned_.assign(order, order + n_steps);
  for (size_t step = 0; step < n_steps; ++step)
    position_[static_cast<size_t>(order[step])] = static_cast<uint8_t>(step + 1);
  order_ = order;
  n_steps_ = n_steps;
  ++order_number_;
}

uint64_t OrderSplits::left(size_t node, uint64_t wanted) {
  const GameSplit& split = tree_->split(node);
  const size_t at = tree_->node_in_forest(node);
  if (split.kind == SplitKind::single) return left_of_single(split, at) & wanted;
  if (of_node_[node] < 0) of_node_[node] = static_cast<int32_t>(direction_of_split(at));
  Direction& direction = directions_[static_cast<size_t>(of_node_[node])];
  if (direction.base_number != base_number_) read_base(direction);
  if (direction.order_number != order_number_) read_order(direction);
  // An axis of weight w: w value <= t. Divided by w, with sides exchanged if w is negative.
  const double threshold = forest_.threshold[at];
  const float scale = forest_.entry_offset[at + 1] - forest_.entry_offset[at] == 1
                          ? forest_.entry_weight[forest_.entry_offset[at]]
                          : 1.0f;
  const double cut = threshold / scale;
  const double slack = direction.slack + std::fabs(cut) * 1e-6 + 1e-30 / std::fabs(scale);
  const Sides sides = compare(direction.values, wanted, cut - slack, cut + slack);
  uint64_t left = (scale > 0.0f ? sides.below : sides.above) & wanted;
  for (uint64_t near = wanted & ~(sides.below | sides.above); near != 0; near &= near - 1) {
    const auto step = static_cast<size_t>(std::countr_zero(near));
    if (exact_side(at, step)) left |= uint64_t{1} << step;
  }
  return left;
}

uint64_t OrderSplits::left_of_single(const GameSplit& split, size_t at) const {
  const size_t tree = tree_->number();
  const size_t step = position_[static_cast<size_t>(split.terms[0].of_forest)];
  const uint64_t of_base = goes_left(forest_, tree, at, base_, 1) ? ~uint64_t{0} : 0;
  if (step == 0) return of_base;
  const uint64_t of_row = goes_left(forest_, tree, at, pair_.x, 1) ? ~uint64_t{0} : 0;
  const uint64_t before = (uint64_t{1} << step) - 1;
  return (of_base & before) | (of_row & ~before);
}

bool OrderSplits::exact_side(size_t at, size_t step) {
  std::copy(base_, base_ + hybrid_.size(), hybrid_.begin());
  for (size_t k = 0; k < step; ++k) {
    const auto feature = static_cast<size_t>(order_[k]);
    hybrid_[feature] = pair_.x[feature];
  }
  return goes_left(forest_, tree_->number(), at, hybrid_.data(), 1);
}

size_t OrderSplits::direction_of_split(size_t at) {
  const auto first = static_cast<size_t>(forest_.entry_offset[at]);
  const auto last = static_cast<size_t>(forest_.entry_offset[at + 1]);
  if (last - first == 1) return direction_of_axis(forest_.entry_index[first] - forest_.n_features);
  Direction& direction = directions_.emplace_back();
  direction.first = terms_.size();
  for (size_t e = first; e < last; ++e)
    add_terms(forest_.entry_index[e], forest_.level_of_entry(e), forest_.entry_weight[e]);
  direction.last = terms_.size();
  return directions_.size() - 1;
}

size_t OrderSplits::direction_of_axis(int32_t axis) {
  const auto a = static_cast<size_t>(axis);
  if (of_axis_.size() <= a) of_axis_.resize(a + 1, -1);
  if (of_axis_[a] >= 0) return static_cast<size_t>(of_axis_[a]);
  Direction& direction = directions_.emplace_back();
  direction.first = terms_.size();
  add_terms(axis + forest_.n_features, -1, 1.0);
  direction.last = terms_.size();
  of_axis_[a] = static_cast<int32_t>(directions_.size() - 1);
  return directions_.size() - 1;
}

// Adds the terms of a feature, or of an axis of the tree.
void OrderSplits::add_terms(int32_t index, int32_t level, double weight) {
  if (index < forest_.n_features) {
    terms_.push_back({index, level, weight});
    return;
  }
  const auto axis =
      static_cast<size_t>(forest_.rotation_offset[tree_->number()] + index - forest_.n_features);
  for (int64_t r = forest_.rotation_entry_offset[axis]; r < forest_.rotation_entry_offset[axis + 1];
       ++r)
    terms_.push_back({forest_.rotation_index[r], -1, weight * forest_.rotation_weight[r]});
}

void OrderSplits::read_base(Direction& direction) const {
  direction.base_number = base_number_;
  direction.order_number = 0;
  double sum = 0.0, size = 0.0;
  for (size_t t = direction.first; t < direction.last; ++t) {
    const auto feature = static_cast<size_t>(terms_[t].feature);
    const double x = value_of_entry(pair_.filled_x, feature, terms_[t].level);
    const double z = value_of_entry(filled_base_, feature, terms_[t].level);
    sum += terms_[t].weight * z;
    size += std::fabs(terms_[t].weight) * std::max(std::fabs(x), std::fabs(z));
  }
  direction.base = sum;
  // Terms and partial sums are rounded to float32 by at most 2^-24 of the sizes, in axes and
  // splits.
  const auto n = static_cast<double>(direction.last - direction.first);
  direction.slack = size <= kMaxSum ? size * std::ldexp(4.0 * (n + 4.0), -24)
                                    : std::numeric_limits<double>::infinity();
}

void OrderSplits::read_order(Direction& direction) const {
  direction.order_number = order_number_;
  double step[kMaxSteps + 1];
  std::fill(step, step + n_steps_ + 1, 0.0);
  for (size_t t = direction.first; t < direction.last; ++t) {
    const auto feature = static_cast<size_t>(terms_[t].feature);
    const int32_t level = terms_[t].level;
    const double gap = static_cast<double>(value_of_entry(pair_.filled_x, feature, level)) -
                       value_of_entry(filled_base_, feature, level);
    step[position_[feature]] += terms_[t].weight * gap;
  }
  double value = direction.base;
  direction.values[0] = value;
  for (size_t k = 1; k <= n_steps_; ++k) direction.values[k] = value += step[k];
}

}  // namespace bevel
