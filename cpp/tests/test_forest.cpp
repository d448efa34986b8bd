#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "bevel/forest/bag.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/forest/forest_trainer.h"
#include "bevel/support/thread_pool.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

Options bag_of(int64_t size, bool replace) {
  Options options;
  options.bag_size = size;
  options.replace = replace;
  return options;
}

}  // namespace

TEST_CASE("bags of seed 0 have the rows they had") {
  CHECK(draw_bag(bag_of(12, true), 12, 0) ==
        std::vector<int32_t>{2, 0, 3, 0, 1, 2, 2, 0, 1, 0, 0, 1});
  CHECK(draw_bag(bag_of(12, true), 12, 1) ==
        std::vector<int32_t>{1, 2, 0, 1, 1, 1, 1, 1, 1, 2, 1, 0});
  CHECK(draw_bag(bag_of(5, false), 12, 0) ==
        std::vector<int32_t>{1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("a bag has as many draws as asked, without replacement no row twice") {
  for (const uint64_t tree : {0, 1, 2}) {
    const std::vector<int32_t> with = draw_bag(bag_of(80, true), 100, tree);
    const std::vector<int32_t> without = draw_bag(bag_of(80, false), 100, tree);
    CHECK_EQ(std::accumulate(with.begin(), with.end(), 0), 80);
    CHECK_EQ(std::accumulate(without.begin(), without.end(), 0), 80);
    for (const int32_t times : without) CHECK(times <= 1);
  }
  CHECK(draw_bag(bag_of(0, true), 4, 0) == std::vector<int32_t>{1, 1, 1, 1});
}

TEST_CASE(
    "a bag of groups has a row as often as its group was drawn, and no row that is held out") {
  for (const int64_t size : {0, 2, 5}) {
    Options groups = bag_of(size, true);
    groups.bag_groups = {2, 0, 0, 1, 3, 2, 4, 0};
    groups.n_bag_groups = 4;
    const std::vector<int32_t> drawn = draw_bag(bag_of(size, true), 4, 7);
    const std::vector<int32_t> bag = draw_bag(groups, 8, 7);
    CHECK(bag == std::vector<int32_t>{drawn[2], drawn[0], drawn[0], drawn[1], drawn[3], drawn[2], 0,
                                      drawn[0]});
    CHECK(most_draws(groups, 8) >= std::accumulate(bag.begin(), bag.end(), int64_t{0}));
    const std::vector<double> weights{0, 0, 0, 0, 1, 0, 1, 0};
    const std::vector<int32_t> weighed = draw_bag(groups, 8, 7, weights.data());
    CHECK(weighed[4] > 0);
    CHECK_EQ(weighed[6], 0);
  }
}

// Null: each of ten rows is among three with probability 0.3. 20000 trees; bounds are six standard
// deviations (65 each).
TEST_CASE("rows are equally likely to be drawn without replacement") {
  std::vector<int32_t> counts(10);
  for (uint64_t tree = 0; tree < 20000; ++tree) {
    const std::vector<int32_t> bag = draw_bag(bag_of(3, false), 10, tree);
    for (size_t row = 0; row < 10; ++row) counts[row] += bag[row];
  }
  for (const int32_t count : counts) CHECK(std::abs(count - 6000) < 390);
}

TEST_CASE("forests of seed 0 have the bits they had") {
  for (const auto& [n_classes, wanted] : {std::pair{2, 3407184890498164713ULL},
                                          {3, 16861025124460979663ULL},
                                          {0, 3016927159344578888ULL}}) {
    const tests::Problem problem = tests::make_problem(200, n_classes);
    CHECK_EQ(tests::fingerprint(tests::grow(problem, tests::default_options(problem), 3, 1)),
             wanted);
  }
}

TEST_CASE("a forest is the same for 1 and 3 threads and for every instruction set") {
  for (const int32_t n_classes : {2, 4, 0}) {
    const tests::Problem problem = tests::make_problem(600, n_classes);
    Options options = tests::default_options(problem);
    options.simd = "baseline";
    const uint64_t wanted = tests::fingerprint(tests::grow(problem, options, 4, 1));
    for (const char* simd : tests::instruction_sets())
      for (const int n_threads : {1, 3}) {
        options.simd = simd;
        CHECK_EQ(tests::fingerprint(tests::grow(problem, options, 4, n_threads)), wanted);
      }
  }
}

TEST_CASE("the faster search gives the forest of the exact one") {
  for (const int32_t n_classes : {2, 3, 0}) {
    const tests::Problem problem = tests::make_problem(1500, n_classes);
    Options options = tests::default_options(problem);
    const uint64_t fast = tests::fingerprint(tests::grow(problem, options, 2, 1));
    options.split_search = SplitSearch::exact;
    CHECK_EQ(tests::fingerprint(tests::grow(problem, options, 2, 1)), fast);
  }
}

TEST_CASE("every family grows a forest, the same for 1 and 3 threads") {
  const tests::Problem problem = tests::make_problem(250, 3);
  const tests::Settings many{{"n_rotations", 3}}, penalised{{"alpha", 1.0}, {"n_steps", 5}};
  const tests::Settings penalties{{"alphas", std::vector<double>{0.1, 1.0, 10.0}}};
  const std::pair<const char*, tests::Settings> families[] = {{"axis", {}},
                                                              {"combination", {}},
                                                              {"gaussian", {}},
                                                              {"rotation", {}},
                                                              {"multirotation", many},
                                                              {"principal", {}},
                                                              {"ridge", penalties},
                                                              {"lda", {}},
                                                              {"logistic", penalised},
                                                              {"pls", {{"n_components", 2}}},
                                                              {"cca", {}}};
  for (const auto& [name, settings] : families) {
    Options options = tests::default_options(problem);
    options.families[0] = tests::family(name, 2, 3, settings);
    const FlatForest one = tests::grow(problem, options, 3, 1);
    CHECK(one.right.size() > 3);
    CHECK_EQ(tests::fingerprint(tests::grow(problem, options, 3, 3)), tests::fingerprint(one));
  }
}

TEST_CASE("a tree is the same grown alone and with others") {
  const tests::Problem problem = tests::make_problem(200, 2);
  const Options options = tests::default_options(problem);
  const FlatForest three = tests::grow(problem, options, 3, 1);
  const DatasetView data = problem.table.view();
  TrainingSet training{data};
  training.n_classes = 2;
  training.labels = problem.labels.data();
  const uint64_t number = 1;
  const FlatForest alone = train(training, options, {&number, 1}, 1, [](size_t) { return true; });
  const auto first = three.threshold.begin() + three.tree_offset[1];
  const auto last = three.threshold.begin() + three.tree_offset[2];
  CHECK(std::vector<float>(first, last) == alone.threshold);
}

TEST_CASE("rows of weight 0 take no part") {
  tests::Problem problem = tests::make_problem(120, 2);
  Options options = tests::default_options(problem);
  options.bag_size = 0;
  std::vector<double> weights(120, 1.0);
  for (size_t i = 60; i < 120; ++i) weights[i] = 0.0;
  const DatasetView data = problem.table.view();
  TrainingSet training{data};
  training.n_classes = 2;
  training.labels = problem.labels.data();
  training.weights = weights.data();
  const uint64_t number = 0;
  const FlatForest before = train(training, options, {&number, 1}, 1, [](size_t) { return true; });
  for (size_t i = 60; i < 120; ++i) problem.labels[i] = 1 - problem.labels[i];
  const FlatForest after = train(training, options, {&number, 1}, 1, [](size_t) { return true; });
  CHECK_EQ(before.weight[0], 60.0f);
  CHECK_EQ(tests::fingerprint(before), tests::fingerprint(after));
}

TEST_CASE("training that is asked to stop throws Cancelled") {
  const tests::Problem problem = tests::make_problem(2000, 3);
  const DatasetView data = problem.table.view();
  TrainingSet training{data};
  training.n_classes = 3;
  training.labels = problem.labels.data();
  std::vector<uint64_t> trees(100000);
  std::iota(trees.begin(), trees.end(), uint64_t{0});
  const auto stop = [](size_t) { return false; };
  CHECK_THROWS_AS(train(training, tests::default_options(problem), trees, 2, stop), Cancelled);
}
