#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bevel/analysis/error_increase.h"
#include "bevel/analysis/leaf_sharing.h"
#include "bevel/analysis/neighbours.h"
#include "bevel/analysis/perturbation.h"
#include "bevel/analysis/shapley/attribution.h"
#include "bevel/analysis/shapley/shapley.h"
#include "bevel/predict/packed_forest.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

bool always_continue(size_t) { return true; }

// Row by row, as analysis reads it.
std::vector<float> by_rows(const tests::Table& table) {
  std::vector<float> rows(table.values.size());
  for (size_t i = 0; i < table.n_rows; ++i)
    for (size_t f = 0; f < table.n_features; ++f) rows[i * table.n_features + f] = table.at(i, f);
  return rows;
}

}  // namespace

TEST_CASE("a permutation holds every row once and depends on all it is drawn for") {
  std::vector<uint32_t> order(50), same(50), other(50);
  draw_permutation(1, 2, 3, 0, {}, order);
  draw_permutation(1, 2, 3, 0, {}, same);
  draw_permutation(1, 2, 3, 1, {}, other);
  CHECK(order == same);
  CHECK(order != other);
  std::sort(order.begin(), order.end());
  for (uint32_t i = 0; i < 50; ++i) CHECK_EQ(order[i], i);
}

TEST_CASE("an attribution is cleared where it was touched") {
  Attribution attribution(5, 2);
  attribution.touch(3)[1] += 2.0;
  attribution.touch(1)[0] -= 1.0;
  attribution.touch(3)[1] += 2.0;
  CHECK(attribution.features() == std::vector<int32_t>{3, 1});
  CHECK_EQ(attribution.of(3)[1], 4.0);
  attribution.clear();
  CHECK_EQ(attribution.of(3)[1], 0.0);
  CHECK(attribution.features().empty());
}

TEST_CASE("proximities are the shares of trees in which rows share a leaf") {
  // Three rows, two trees of three nodes each.
  const std::vector<int32_t> leaves{1, 1, 1, 2, 2, 2};
  const std::vector<int64_t> tree_offset{0, 3, 6};
  const LeafSharing sharing({leaves.data(), 3, 2}, tree_offset);
  const SparseRows found = sharing.nearest({leaves.data(), 3, 2}, 0, 2, 1);
  CHECK(found.offset == std::vector<int64_t>{0, 2, 5, 7});
  CHECK(found.column == std::vector<int32_t>{0, 1, 0, 1, 2, 1, 2});
  CHECK(found.value == std::vector<double>{1.0, 0.5, 0.5, 1.0, 0.5, 0.5, 1.0});
}

TEST_CASE("weights of neighbours reproduce the prediction of a regression forest") {
  const tests::Problem problem = tests::make_problem(150, 0);
  Options options = tests::default_options(problem);
  options.bag_size = 0;
  options.min_samples_leaf = 5;
  const FlatForest forest = tests::grow(problem, options, 6, 1);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  const RowMatrix rows{problem.table.values.data(), 150, 1, 150};
  std::vector<int32_t> leaf(150 * 6);
  apply(arrays, rows, 1, leaf.data());
  std::vector<std::vector<int32_t>> members(forest.right.size());
  for (size_t i = 0; i < 150; ++i)
    for (size_t t = 0; t < 6; ++t)
      members[static_cast<size_t>(forest.tree_offset[t] + leaf[i * 6 + t])].push_back(
          static_cast<int32_t>(i));
  std::vector<int64_t> offset{0};
  std::vector<int32_t> row;
  for (const auto& list : members) {
    row.insert(row.end(), list.begin(), list.end());
    offset.push_back(static_cast<int64_t>(row.size()));
  }
  const LeafRows leaf_rows{offset, row, {}, 150};
  const SparseRows weights = neighbour_weights(arrays, rows, leaf_rows, nullptr, 2);
  std::vector<double> wanted(150);
  predict_value(arrays, rows, 1, wanted.data());
  for (size_t i = 0; i < 150; ++i) {
    double sum = 0.0, total = 0.0;
    for (int64_t e = weights.offset[i]; e < weights.offset[i + 1]; ++e) {
      const auto entry = static_cast<size_t>(e);
      sum += weights.value[entry] * problem.targets[static_cast<size_t>(weights.column[entry])];
      total += weights.value[entry];
    }
    CHECK(std::fabs(total - 1.0) < 1e-12);
    CHECK(std::fabs(sum - wanted[i]) < 1e-9);
  }
}

TEST_CASE("Shapley values add up to the prediction less that of the background") {
  const tests::Problem problem = tests::make_problem(120, 0);
  const FlatForest forest = tests::grow(problem, tests::default_options(problem), 4, 1);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  const std::vector<float> values = by_rows(problem.table);
  const RowMatrix rows{values.data(), 5, 6, 1}, background{values.data() + 6 * 20, 30, 6, 1};
  std::vector<double> shapley(30), variances(30), again(30), prediction(5), base(30);
  std::vector<int64_t> n_sampled(5);
  double base_value = 0.0;
  shapley_values(arrays, rows, {background}, {}, 1, always_continue,
                 {shapley.data(), variances.data(), n_sampled.data(), &base_value});
  shapley_values(arrays, rows, {background}, {}, 3, always_continue,
                 {again.data(), variances.data(), n_sampled.data(), &base_value});
  CHECK(shapley == again);
  predict_value(arrays, rows, 1, prediction.data());
  predict_value(arrays, background, 1, base.data());
  const double mean = std::accumulate(base.begin(), base.end(), 0.0) / 30.0;
  CHECK(std::fabs(base_value - mean) < 1e-9);
  for (size_t i = 0; i < 5; ++i) {
    const auto first = shapley.begin() + static_cast<ptrdiff_t>(6 * i);
    CHECK(std::fabs(std::accumulate(first, first + 6, 0.0) - (prediction[i] - mean)) < 1e-9);
  }
}

TEST_CASE("errors rise most for the features that matter, alike for 1 and 3 threads") {
  const tests::Problem problem = tests::make_problem(400, 0);
  const FlatForest forest = tests::grow(problem, tests::default_options(problem), 30, 2);
  const PackedForest packed(tests::arrays_of(forest, problem));
  const std::vector<float> values = by_rows(problem.table);
  const std::vector<int32_t> group{0, 1, 2, 3, 4, 5};
  const std::vector<uint64_t> key{0, 1, 2, 3, 4, 5};
  const Perturbation perturbation{
      values.data(), problem.table.values.data(), 400, group, key, 3, true, 0, {}};
  EvaluatedRows evaluated;
  evaluated.targets = problem.targets.data();
  const ForestErrors one =
      forest_errors(packed, perturbation, evaluated, false, 1, always_continue);
  const ForestErrors three =
      forest_errors(packed, perturbation, evaluated, false, 3, always_continue);
  CHECK(one.increase == three.increase);
  for (const size_t feature : {0, 1, 5})
    CHECK(one.increase[feature * 3] > one.increase[4 * 3]);  // feature 4 is noise
}
