#include "bevel/projection/samplers/ridge_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/cancellation.h"

namespace bevel {

namespace {

double project(const NodeSample& rows, size_t i, std::span<const double> direction) {
  const double* row = rows.row(i);
  double sum = 0.0;
  for (size_t j = 0; j < rows.m; ++j) sum += direction[j] * row[j];
  return sum;
}

// Insertion sort, unless it turns out to be slow.
void sort_nearly_sorted(std::vector<uint64_t>& keys) {
  size_t budget = 4 * keys.size();
  for (size_t k = 1; k < keys.size(); ++k) {
    const uint64_t key = keys[k];
    size_t place = k;
    for (; place > 0 && keys[place - 1] > key; --place) keys[place] = keys[place - 1];
    keys[place] = key;
    if (k - place > budget) return std::sort(keys.begin(), keys.end());
    budget -= k - place;
  }
}

double value(uint64_t key) { return from_sortable(static_cast<uint32_t>(key >> 32)); }

}  // namespace

// Targets are relative to their mean: squares of targets far from zero would lose all digits.
void RidgeChoice::set_responses(const NodeSample& bag) {
  width_ = bag.n_classes > 0 ? static_cast<size_t>(bag.n_classes) : 1;
  total_.assign(width_, 0.0);
  total_weight_ = 0.0;
  centre_ = 0.0;
  spread_ = 1.0;
  for (size_t i = 0; i < bag.n; ++i) {
    total_weight_ += bag.weight[i];
    if (bag.n_classes > 0)
      total_[bag.label[i]] += bag.weight[i];
    else
      centre_ += bag.weight[i] * (bag.target[i] - bag.target[0]);
  }
  if (bag.n_classes > 0) return;
  centre_ = bag.target[0] + centre_ / total_weight_;
  spread_ = 0.0;
  for (size_t i = 0; i < bag.n; ++i) {
    const double target = bag.target[i] - centre_;
    total_[0] += bag.weight[i] * target;
    spread_ += bag.weight[i] * target * target / total_weight_;
  }
}

// One pass over the sorted values. Sums of squares of the sides are updated, so that a step
// costs the same for any number of classes.
void RidgeChoice::find_cut(const NodeSample& bag, std::span<const double> direction,
                           std::vector<uint64_t>& keys, Split& best) {
  // Values in float32, as in the tree, followed by the row. They start in the order of the previous
  // penalty, which is often similar.
  for (uint64_t& key : keys) {
    const auto i = static_cast<uint32_t>(key);
    key = uint64_t{sortable(static_cast<float>(project(bag, i, direction)) + 0.0f)} << 32 | i;
  }
  sort_nearly_sorted(keys);
  left_.assign(width_, 0.0);
  double weight = 0.0, left_square = 0.0, right_square = 0.0;
  for (double t : total_) right_square += t * t;
  for (size_t k = 0; k + 1 < bag.n; ++k) {
    const auto i = static_cast<uint32_t>(keys[k]);
    const size_t c = bag.n_classes > 0 ? static_cast<size_t>(bag.label[i]) : 0;
    const double step = bag.weight[i] * (bag.n_classes > 0 ? 1.0 : bag.target[i] - centre_);
    const double before = left_[c], behind = total_[c] - before;
    left_[c] = before + step;
    left_square += step * (2.0 * before + step);
    right_square -= step * (2.0 * behind - step);
    weight += bag.weight[i];
    if (keys[k] >> 32 == keys[k + 1] >> 32) continue;
    const double behind_weight = total_weight_ - weight;
    const double numerator = left_square * behind_weight + right_square * weight;
    const double denominator = weight * behind_weight;
    if (!(numerator > best.score * denominator)) continue;
    best.score = numerator / denominator;
    const double below = value(keys[k]), above = value(keys[k + 1]);
    best.cut = below + (above - below) / 2.0;
    best.left.resize(width_);
    best.right.resize(width_);
    for (size_t r = 0; r < width_; ++r) {
      best.left[r] = left_[r] / weight;
      best.right[r] = (total_[r] - left_[r]) / behind_weight;
    }
  }
}

double RidgeChoice::error(const NodeSample& rows, std::span<const double> direction,
                          const Split& split) const {
  double total = 0.0;
  for (size_t i = 0; i < rows.n; ++i) {
    const double value = project(rows, i, direction);
    const std::vector<double>& predicted = value <= split.cut ? split.left : split.right;
    double square = 0.0;
    if (rows.n_classes == 0) {
      const double off = predicted[0] - (rows.target[i] - centre_);
      square = off * off;
    } else {
      // A class that is absent from the node's bag (label -1) is missed by all penalties.
      for (size_t k = 0; k < width_; ++k) {
        const double off = predicted[k] - (static_cast<int32_t>(k) == rows.label[i] ? 1.0 : 0.0);
        square += off * off;
      }
    }
    total += rows.weight[i] * square;
  }
  return total;
}

int32_t RidgeChoice::choose(const NodeSample& bag, const NodeSample& out_of_bag,
                            const std::vector<ModelDirections>& path) {
  set_responses(bag);
  size_t n_directions = 0;
  for (const ModelDirections& directions : path)
    n_directions = std::max(n_directions, directions.count());
  if (keys_.size() < n_directions) keys_.resize(n_directions);
  for (size_t k = 0; k < n_directions; ++k) {
    keys_[k].resize(bag.n);
    std::iota(keys_[k].begin(), keys_[k].end(), uint64_t{0});
  }
  loss_.assign(path.size(), std::numeric_limits<double>::infinity());
  for (size_t a = 0; a < path.size(); ++a) {
    split_.score = -1.0;
    size_t best = 0;
    for (size_t k = 0; k < path[a].count(); ++k) {
      poll_cancellation(bag.n * bag.m);
      const double before = split_.score;
      find_cut(bag, path[a][k], keys_[k], split_);
      if (split_.score > before) best = k;
    }
    if (split_.score >= 0.0) loss_[a] = error(out_of_bag, path[a][best], split_);
  }
  double smallest = std::numeric_limits<double>::infinity(), weight = 0.0;
  for (double loss : loss_) smallest = std::min(smallest, loss);
  for (double w : out_of_bag.weight) weight += w;
  // Penalties with the same cut sum their rows in different orders: differences by rounding are
  // ties.
  const double limit = smallest * (1.0 + 1e-9) + 1e-18 * weight * spread_;
  for (size_t a = path.size(); a-- > 0;)
    if (std::isfinite(loss_[a]) && loss_[a] <= limit) return static_cast<int32_t>(a);
  return -1;
}

}  // namespace bevel
