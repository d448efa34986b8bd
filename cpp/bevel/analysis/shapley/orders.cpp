#include "bevel/analysis/shapley/orders.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr size_t kWorkOfFeature = 256;  // two walks between polls for cancellation, roughly

}  // namespace

ShapleyOrders::ShapleyOrders(const ForestArrays& forest, const LeafOutput& leaf_output)
    : leaf_output_(leaf_output),
      splits_(forest),
      base_(static_cast<size_t>(forest.n_features)),
      filled_(base_.size()),
      draw_(base_.size(), leaf_output.n_columns()),
      sum_(draw_),
      squares_(draw_) {}

void ShapleyOrders::add(const RowPair& pair, int n_draws, Stream& stream, Attribution& mean,
                        Attribution& variance) {
  pair_ = pair;
  order_.clear();
  for (const int32_t feature : tree_->features())
    if (pair.differs(feature)) order_.push_back(feature);
  if (order_.size() <= kMaxSteps) splits_.begin_base(pair.z, pair.filled_z, pair);
  sum_.clear();
  squares_.clear();
  for (int n = 0; n < n_draws; ++n) draw(stream);
  const auto m = static_cast<double>(n_draws);
  for (const int32_t feature : sum_.features()) {
    const double *sum = sum_.of(feature), *squares = squares_.of(feature);
    double *to_mean = mean.touch(feature), *to_variance = variance.touch(feature);
    for (size_t column = 0; column < sum_.n_columns(); ++column) {
      to_mean[column] += sum[column] / m;
      const double spread = squares[column] - sum[column] * sum[column] / m;
      to_variance[column] += std::max(0.0, spread) / (m * (m - 1.0));
    }
  }
}

void ShapleyOrders::draw(Stream& stream) {
  poll_cancellation(order_.size() * kWorkOfFeature);
  draw_.clear();
  for (size_t left = order_.size(); left > 1; --left)
    std::swap(order_[left - 1], order_[stream.below(left)]);
  walk();
  std::reverse(order_.begin(), order_.end());
  walk();
  for (const int32_t feature : draw_.features()) {
    const double* amounts = draw_.of(feature);
    double *sum = sum_.touch(feature), *squares = squares_.touch(feature);
    for (size_t column = 0; column < draw_.n_columns(); ++column) {
      sum[column] += amounts[column];
      squares[column] += amounts[column] * amounts[column];
    }
  }
}

// Parts of long orders are walked one after the other, each from the last hybrid of the one before.
void ShapleyOrders::walk() {
  const bool is_long = order_.size() > kMaxSteps;
  if (leaf_output_.has_models()) hybrid_.assign(pair_.filled_z, pair_.filled_z + base_.size());
  if (is_long) {
    std::copy(pair_.z, pair_.z + base_.size(), base_.begin());
    std::copy(pair_.filled_z, pair_.filled_z + base_.size(), filled_.begin());
  }
  for (size_t first = 0; first < order_.size(); first += kMaxSteps) {
    const size_t n_steps = std::min(kMaxSteps, order_.size() - first);
    const int32_t* order = order_.data() + first;
    if (is_long) splits_.begin_base(base_.data(), filled_.data(), pair_);
    splits_.begin_order(order, n_steps);
    find_leaves(n_steps);
    add_changes(order, n_steps);
    for (size_t step = 0; is_long && step < n_steps; ++step) {
      const auto feature = static_cast<size_t>(order[step]);
      base_[feature] = pair_.x[feature];
      filled_[feature] = pair_.filled_x[feature];
    }
  }
}

void ShapleyOrders::add_changes(const int32_t* order, size_t n_steps) {
  for (size_t step = 1; step <= n_steps; ++step) {
    const int32_t feature = order[step - 1];
    if (leaf_output_.has_models()) {  // each step may change the value of a leaf
      add_credit(feature, leaf_[step - 1], -0.5);
      hybrid_[static_cast<size_t>(feature)] = pair_.filled_x[feature];
      add_credit(feature, leaf_[step], 0.5);
    } else if (leaf_[step] != leaf_[step - 1]) {
      add_credit(feature, leaf_[step], 0.5);
      add_credit(feature, leaf_[step - 1], -0.5);
    }
  }
}

void ShapleyOrders::find_leaves(size_t n_steps) {
  parts_.assign(1, {0, ~uint64_t{0} >> (kMaxSteps - n_steps)});
  while (!parts_.empty()) {
    Part part = parts_.back();
    parts_.pop_back();
    while (tree_->split(part.node).kind != SplitKind::leaf) {
      const auto right = static_cast<size_t>(tree_->split(part.node).right);
      const uint64_t left = splits_.left(part.node, part.hybrids);
      if (left == part.hybrids) {
        ++part.node;
        continue;
      }
      if (left != 0) parts_.push_back({part.node + 1, left});
      part = {right, part.hybrids & ~left};
    }
    for (uint64_t hybrids = part.hybrids; hybrids != 0; hybrids &= hybrids - 1)
      leaf_[std::countr_zero(hybrids)] = tree_->node_in_forest(part.node);
  }
}

void ShapleyOrders::add_credit(int32_t feature, size_t leaf, double share) {
  double* amounts = draw_.touch(feature);
  leaf_output_.each(leaf, hybrid_.data(),
                    [&](size_t column, double amount) { amounts[column] += share * amount; });
}

}  // namespace bevel
