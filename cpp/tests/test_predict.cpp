#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "bevel/data/scaler.h"
#include "bevel/predict/packed_predictor.h"
#include "bevel/predict/reference_predictor.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

RowMatrix rows_of(const tests::Table& table) {
  return {table.values.data(), table.n_rows, 1, table.n_rows};
}

StridedTable<float> strided(const tests::Table& table) {
  return {table.values.data(), table.n_rows, table.n_features, 1,
          static_cast<int64_t>(table.n_rows)};
}

std::vector<double> reference_proba(const ForestArrays& arrays, const tests::Table& table,
                                    bool hard, int n_threads) {
  std::vector<double> out(table.n_rows * static_cast<size_t>(arrays.n_classes));
  predict_proba(arrays, rows_of(table), n_threads, hard, out.data());
  return out;
}

// Sets the first family of the default options.
Options with_family(const tests::Problem& problem, const std::string& name) {
  Options options = tests::default_options(problem);
  options.families[0] = tests::family(name, 3, name == "signs" ? 9 : 3);
  return options;
}

}  // namespace

TEST_CASE("the packed predictor agrees with the reference, for all families of nodes") {
  const tests::Problem problem = tests::make_problem(700, 3), fresh = tests::make_problem(900, 3);
  const Scaler scaler = Scaler::identity(6);
  // Nodes of one value, of sums, of weighted sums, of long sums, and of a tree's axes.
  for (const char* name : {"axis", "signs", "combination", "gaussian", "rotation"}) {
    const FlatForest forest = tests::grow(problem, with_family(problem, name), 40, 2);
    const ForestArrays arrays = tests::arrays_of(forest, problem);
    for (const bool hard : {false, true}) {
      const std::vector<double> wanted = reference_proba(arrays, fresh.table, hard, 1);
      CHECK(reference_proba(arrays, fresh.table, hard, 3) == wanted);
      for (const char* simd : tests::instruction_sets()) {
        const PackedForest packed(arrays, simd);
        for (const int n_threads : {1, 3}) {
          std::vector<double> got(wanted.size());
          predict_proba(packed, {strided(fresh.table), scaler, kNoLimit},
                        hard ? Voting::hard : Voting::soft, n_threads, got.data());
          CHECK(got == wanted);
        }
      }
    }
  }
}

// Blocks of rows without missing values pass the first levels of a tree side by side.
TEST_CASE("rows whose values lie on thresholds go where the reference sends them") {
  const tests::Problem problem = tests::make_problem(700, 3);
  Options options = with_family(problem, "axis");
  options.families.resize(1);  // no splits by levels, which end the first levels
  const FlatForest forest = tests::grow(problem, options, 60, 2);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  tests::Table rows(512, 6);
  size_t row = 0;
  for (size_t node = 0; node < forest.right.size() && row < rows.n_rows; ++node) {
    if (forest.right[node] < 0) continue;
    for (size_t f = 0; f < 5; ++f) rows.at(row, f) = problem.table.medians[f];
    rows.at(row, 5) = static_cast<float>(row % 5);
    const int32_t feature = forest.entry_index[static_cast<size_t>(forest.entry_offset[node])];
    rows.at(row++, static_cast<size_t>(feature)) = forest.threshold[node];
  }
  REQUIRE(row == rows.n_rows);
  const std::vector<double> wanted = reference_proba(arrays, rows, false, 1);
  const Scaler scaler = Scaler::identity(6);
  for (const char* simd : tests::instruction_sets()) {
    std::vector<double> got(wanted.size());
    predict_proba(PackedForest(arrays, simd), {strided(rows), scaler, kNoLimit}, Voting::soft, 2,
                  got.data());
    CHECK(got == wanted);
  }
}

TEST_CASE("the packed predictor agrees with the reference in regression") {
  const tests::Problem problem = tests::make_problem(700, 0);
  const FlatForest forest = tests::grow(problem, tests::default_options(problem), 40, 2);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  std::vector<double> wanted(700);
  predict_value(arrays, rows_of(problem.table), 1, wanted.data());
  const Scaler scaler = Scaler::identity(6);
  for (const char* simd : tests::instruction_sets())
    for (const int n_threads : {1, 3}) {
      std::vector<double> got(700);
      predict_value(PackedForest(arrays, simd), {strided(problem.table), scaler, kNoLimit},
                    n_threads, got.data());
      CHECK(got == wanted);
    }
}

TEST_CASE("the class that is predicted early is the one of highest probability") {
  const tests::Problem problem = tests::make_problem(500, 4);
  const FlatForest forest = tests::grow(problem, tests::default_options(problem), 30, 1);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  const std::vector<double> proba = reference_proba(arrays, problem.table, false, 1);
  std::vector<int32_t> got(500), wanted(500);
  for (size_t i = 0; i < 500; ++i) {
    const auto row = proba.begin() + static_cast<ptrdiff_t>(4 * i);
    wanted[i] = static_cast<int32_t>(std::max_element(row, row + 4) - row);
  }
  const Scaler scaler = Scaler::identity(6);
  predict_class(PackedForest(arrays), {strided(problem.table), scaler, kNoLimit}, Voting::soft, 2,
                got.data());
  CHECK(got == wanted);
}

TEST_CASE("probabilities add up to one") {
  const tests::Problem problem = tests::make_problem(300, 3);
  const FlatForest forest = tests::grow(problem, tests::default_options(problem), 9, 1);
  const std::vector<double> proba =
      reference_proba(tests::arrays_of(forest, problem), problem.table, false, 1);
  for (size_t i = 0; i < proba.size(); i += 3)
    CHECK(std::abs(proba[i] + proba[i + 1] + proba[i + 2] - 1.0) < 1e-6);
}

TEST_CASE("training rows of a tree without a bag end in leaves that were made of them") {
  const tests::Problem problem = tests::make_problem(300, 0);
  Options options = tests::default_options(problem);
  options.bag_size = 0;
  const FlatForest forest = tests::grow(problem, options, 1, 1);
  std::vector<int32_t> leaf(300);
  apply(tests::arrays_of(forest, problem), rows_of(problem.table), 1, leaf.data());
  std::vector<float> weight(forest.right.size());
  for (const int32_t node : leaf) weight[static_cast<size_t>(node)] += 1.0f;
  for (size_t node = 0; node < weight.size(); ++node)
    if (forest.right[node] < 0) CHECK_EQ(weight[node], forest.weight[node]);
}

TEST_CASE("a single row has the same prediction as in a batch") {
  const tests::Problem problem = tests::make_problem(400, 3);
  const FlatForest forest = tests::grow(problem, with_family(problem, "rotation"), 20, 1);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  const PackedForest packed(arrays);
  const Scaler scaler = Scaler::identity(6);
  const std::vector<double> batch = reference_proba(arrays, problem.table, false, 1);
  for (const size_t i : {0, 17, 399}) {
    const StridedTable<float> row{problem.table.values.data() + i, 1, 6, 1, 400};
    std::vector<double> got(3);
    predict_proba(packed, {row, scaler, kNoLimit}, Voting::soft, 1, got.data());
    CHECK(std::equal(got.begin(), got.end(), batch.begin() + static_cast<ptrdiff_t>(3 * i)));
  }
}

TEST_CASE("a number beyond the limit is refused by its place") {
  tests::Problem problem = tests::make_problem(100, 2);
  const FlatForest forest = tests::grow(problem, tests::default_options(problem), 2, 1);
  const PackedForest packed(tests::arrays_of(forest, problem));
  problem.table.at(40, 3) = 1e20f;
  const Scaler scaler = Scaler::identity(6);
  std::vector<double> out(200);
  CHECK_THROWS_AS(
      predict_proba(packed, {strided(problem.table), scaler, 1e10}, Voting::soft, 1, out.data()),
      NumberBeyondLimit);
}

TEST_CASE("sums out of bag are the same for 1 and 3 threads, and count the trees without the row") {
  const tests::Problem problem = tests::make_problem(300, 3);
  const Options options = tests::default_options(problem);
  const FlatForest forest = tests::grow(problem, options, 25, 2);
  const ForestArrays arrays = tests::arrays_of(forest, problem);
  std::vector<double> one(900), three(900);
  std::vector<int32_t> counts(300), again(300);
  out_of_bag(arrays, rows_of(problem.table), nullptr, options, 0, {0, 25}, 1, false, one.data(),
             counts.data());
  out_of_bag(arrays, rows_of(problem.table), nullptr, options, 0, {0, 25}, 3, false, three.data(),
             again.data());
  CHECK(one == three);
  CHECK(counts == again);
  for (size_t i = 0; i < 300; ++i)
    CHECK(std::abs(one[3 * i] + one[3 * i + 1] + one[3 * i + 2] - counts[i]) < 1e-6);
}
