#include "bevel/boosting/leaf_models.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bevel/models/algebra/dense.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// With more features, models fit noise and cost more than the histograms of the tree.
constexpr size_t kMaxTerms = 7;
// Rows that a leaf must have for each coefficient.
constexpr size_t kRowsPerTerm = 3;

}  // namespace

std::vector<std::vector<int32_t>> LeafModels::features_of_leaves(const NodeStore& nodes) const {
  std::vector<std::vector<int32_t>> found(nodes.size());
  std::vector<size_t> parent(nodes.size(), 0);
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (nodes.right[node] >= 0) {
      parent[node + 1] = parent[static_cast<size_t>(nodes.right[node])] = node;
      continue;
    }
    std::vector<int32_t>& own = found[node];
    for (size_t above = node; above != 0 && own.size() < kMaxTerms;) {
      above = parent[above];
      for (int64_t e = nodes.entry_offset[above]; e < nodes.entry_offset[above + 1]; ++e) {
        const int32_t feature = nodes.entry_index[e];
        const bool is_number = feature < data_.first_level_term() && data_.levels[feature] == 0;
        if (is_number && own.size() < kMaxTerms &&
            std::find(own.begin(), own.end(), feature) == own.end())
          own.push_back(feature);
      }
    }
  }
  return found;
}

LeafModel LeafModels::fit(std::span<const uint32_t> rows, std::span<const int32_t> features,
                          std::span<const Gradient> gradients, double constant, double rate) const {
  LeafModel model{constant, {}};
  const size_t n = rows.size(), most = std::min(features.size(), n / kRowsPerTerm);
  double hessian = 0.0;
  for (const uint32_t row : rows) hessian += gradients[row].hessian;
  if (most == 0 || !(hessian > 0.0)) return model;

  // Columns: features about their means, and the steps of rows against their gradients, all times
  // the roots of hessians.
  const size_t stride = padded(most + 1);
  std::vector<double> values(n * stride, 0.0), roots(n), means;
  std::vector<float> column(n);
  for (size_t i = 0; i < n; ++i) roots[i] = std::sqrt(gradients[rows[i]].hessian);
  for (const int32_t feature : features.first(most)) {
    table_.gather(static_cast<size_t>(feature), rows, column.data());
    const float median = data_.medians[feature];
    LeafTerm term{feature, 0.0f, 0.0f, 0.0f};
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
      if (column[i] != column[i]) column[i] = median;
      term.low = i == 0 ? column[i] : std::min(term.low, column[i]);
      term.high = i == 0 ? column[i] : std::max(term.high, column[i]);
      sum += gradients[rows[i]].hessian * column[i];
    }
    if (!(term.low < term.high)) continue;
    const double mean = sum / hessian;
    double* own = values.data() + model.terms.size();
    for (size_t i = 0; i < n; ++i) own[i * stride] = roots[i] * (column[i] - mean);
    model.terms.push_back(term);
    means.push_back(mean);
  }
  const size_t k = model.terms.size();
  for (size_t i = 0; i < n; ++i)
    if (roots[i] > 0.0) values[i * stride + k] = -gradients[rows[i]].gradient / roots[i];

  std::vector<double> products(stride * stride), steps(k);
  gram({values.data(), n, stride}, products.data());
  for (size_t j = 0; j < k; ++j) {
    steps[j] = products[j * stride + k];
    products[j * stride + j] *= 1.0 + l2_ / hessian;
  }
  const Matrix system{products.data(), k, stride};
  if (k == 0 || !factorise_positive(system)) {
    model.terms.clear();
    return model;
  }
  solve_factorised(system, steps.data());
  double largest = 0.0;
  for (size_t j = 0; j < k; ++j) {
    model.terms[j].weight = static_cast<float>(rate * steps[j]);
    model.value -= double{model.terms[j].weight} * means[j];
    largest += model.terms[j].largest();
  }
  if (!(largest + std::fabs(model.value) <= kMaxStep)) return {constant, {}};
  return model;
}

void LeafModels::add(const LeafModel& model, std::span<const uint32_t> rows, double* raw) const {
  poll_cancellation(rows.size() * (1 + model.terms.size()) * 4);
  std::vector<double> values(rows.size(), model.value);
  std::vector<float> column(rows.size());
  for (const LeafTerm& term : model.terms) {
    table_.gather(static_cast<size_t>(term.feature), rows, column.data());
    const float median = data_.medians[term.feature];
    for (size_t i = 0; i < rows.size(); ++i) values[i] += term.value(column[i], median);
  }
  for (size_t i = 0; i < rows.size(); ++i) raw[rows[i]] += values[i];
}

void store_models(const std::vector<LeafModel>& models, NodeStore& nodes) {
  if (std::all_of(models.begin(), models.end(),
                  [](const LeafModel& model) { return model.terms.empty(); }))
    return;
  NodeStore old;
  std::swap(old.entry_offset, nodes.entry_offset);
  std::swap(old.entry_index, nodes.entry_index);
  std::swap(old.entry_weight, nodes.entry_weight);
  nodes.entry_offset.assign(1, 0);
  auto add = [&](const LeafTerm& term) {
    nodes.add_entry(term.feature, term.weight);
    nodes.entry_low.push_back(term.low);
    nodes.entry_high.push_back(term.high);
  };
  for (size_t node = 0; node < nodes.size(); ++node) {
    for (int64_t e = old.entry_offset[node]; e < old.entry_offset[node + 1]; ++e)
      add({old.entry_index[e], old.entry_weight[e], 0.0f, 0.0f});
    for (const LeafTerm& term : models[node].terms) add(term);
    nodes.close();
  }
}

}  // namespace bevel
