#include "bevel/analysis/shapley/orders.h"

#include <algorithm>
#include <utility>

#include "bevel/predict/reference_predictor.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr size_t kWorkOfFeature = 256;  // two walks between polls for cancellation, roughly

}  // namespace

ShapleyOrders::ShapleyOrders(const ForestArrays& forest, const LeafOutput& leaf_output)
    : forest_(forest),
      leaf_output_(leaf_output),
      hybrid_(static_cast<size_t>(forest.n_features)),
      first_(static_cast<size_t>(forest.n_features), -1),
      draw_(hybrid_.size(), leaf_output.n_columns()),
      sum_(draw_),
      squares_(draw_) {}

void ShapleyOrders::add(size_t tree, const RowPair& pair, const std::vector<int32_t>& features,
                        int n_draws, Stream& stream, Credit& mean, Credit& variance) {
  tree_ = tree;
  pair_ = pair;
  order_.clear();
  for (const int32_t feature : features)
    if (pair.differs(feature)) order_.push_back(feature);
  std::copy(pair.z, pair.z + hybrid_.size(), hybrid_.begin());
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

void ShapleyOrders::walk() {
  for (const int32_t feature : order_) hybrid_[feature] = pair_.z[feature];
  path_.assign(1, static_cast<size_t>(forest_.tree_offset[tree_]));
  descend(0);
  for (const int32_t feature : order_) {
    hybrid_[feature] = pair_.x[feature];
    if (first_[feature] < 0) continue;
    const size_t leaf = path_.back();
    auto position = static_cast<size_t>(first_[feature]);
    while (position + 1 < path_.size() && child(position) == path_[position + 1]) ++position;
    if (position + 1 == path_.size()) continue;
    descend(position);
    add_credit(feature, path_.back(), 0.5);
    add_credit(feature, leaf, -0.5);
  }
  for (const int32_t feature : marked_) first_[feature] = -1;
  marked_.clear();
}

// Makes the path anew from a position on.
void ShapleyOrders::descend(size_t position) {
  path_.resize(position + 1);
  while (!marked_.empty() && static_cast<size_t>(first_[marked_.back()]) > position) {
    first_[marked_.back()] = -1;
    marked_.pop_back();
  }
  for (; forest_.right[path_.back()] >= 0; ++position) {
    mark(position);
    path_.push_back(child(position));
  }
}

size_t ShapleyOrders::child(size_t position) const {
  const size_t node = path_[position];
  return goes_left(forest_, tree_, node, hybrid_.data(), 1)
             ? node + 1
             : static_cast<size_t>(forest_.tree_offset[tree_]) +
                   static_cast<size_t>(forest_.right[node]);
}

void ShapleyOrders::mark(size_t position) {
  const size_t node = path_[position];
  for (int64_t e = forest_.entry_offset[node]; e < forest_.entry_offset[node + 1]; ++e) {
    const int32_t index = forest_.entry_index[e];
    if (index < forest_.n_features) {
      mark_feature(index, position);
      continue;
    }
    const auto axis =
        static_cast<size_t>(forest_.rotation_offset[tree_] + index - forest_.n_features);
    for (int64_t r = forest_.rotation_entry_offset[axis];
         r < forest_.rotation_entry_offset[axis + 1]; ++r)
      mark_feature(forest_.rotation_index[r], position);
  }
}

void ShapleyOrders::mark_feature(int32_t feature, size_t position) {
  if (first_[feature] >= 0 || !pair_.differs(feature)) return;
  first_[feature] = static_cast<int32_t>(position);
  marked_.push_back(feature);
}

void ShapleyOrders::add_credit(int32_t feature, size_t leaf, double share) {
  double* amounts = draw_.touch(feature);
  leaf_output_.each(leaf, [&](size_t column, double amount) { amounts[column] += share * amount; });
}

}  // namespace bevel
