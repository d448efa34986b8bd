// Forests of fixed tables and seed 0, pinned as digests of all their arrays, and what they predict.
// The digests are the same for every processor, compiler, instruction set and number of threads:
// `bevel_tests golden`, built on another machine, says whether it grows the same forests. A digest
// that changes means that users' models change with their next fit: that needs a reason and a line
// in the changelog.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "bevel/boosting/booster.h"
#include "bevel/forest/forest_trainer.h"
#include "bevel/predict/reference_predictor.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

constexpr size_t kRows = 400, kTrees = 3;

uint64_t digest(const FlatForest& forest) {
  uint64_t hash = tests::fingerprint(std::vector<uint8_t>{});
  for_each_array(forest, [&](const ForestField&, const auto& array) {
    hash = tests::fingerprint(array, hash);
  });
  return hash;
}

using PatchAxes = std::vector<std::array<int32_t, 4>>;
using Penalties = std::vector<double>;

struct Case {
  const char* name;
  uint64_t digest;
  int32_t n_classes;  // 0: regression
  std::function<void(Options&)> change;
};

std::function<void(Options&)> with(const std::string& name, const tests::Settings& settings = {}) {
  return [=](Options& options) {
    options.families[0] = tests::family(name, 2, name == "signs" ? 9 : 3, settings);
  };
}

std::function<void(Options&)> by(CriterionKind criterion) {
  return [=](Options& options) { options.criterion = criterion; };
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"axis", 11421835676538091825ULL, 3, with("axis")},
      {"signs", 5947236205363267766ULL, 2, with("signs")},
      {"combination", 4677985742846888519ULL, 3, with("combination")},
      {"gaussian", 11537709947567248306ULL, 3, with("gaussian")},
      {"rotation of a tree", 14350753798595847222ULL, 3, with("rotation")},
      {"rotation of a node", 15693404093793020049ULL, 0, with("rotation", {{"per_node", true}})},
      {"multirotation", 16563643798608199345ULL, 3, with("multirotation", {{"n_rotations", 3}})},
      {"principal, of a tree", 5607847375890820869ULL, 3, with("principal")},
      {"principal, of a node", 17303393669851199637ULL, 2, with("principal", {{"per_node", true}})},
      {"patches", 6357183123866097830ULL, 3, with("patches", {{"axes", PatchAxes{{5, 1, 1, 3}}}})},
      {"ridge", 11761149218038254300ULL, 3, with("ridge", {{"alphas", Penalties{0.1, 1.0, 10.0}}})},
      {"ridge, regression", 11205307960678329611ULL, 0,
       with("ridge", {{"alphas", Penalties{0.1, 1.0, 10.0}}})},
      {"lda", 2929652814223463390ULL, 3, with("lda")},
      {"logistic", 4795638819036505369ULL, 2,
       with("logistic", {{"alpha", 1.0}, {"n_steps", 5}, {"record", true}})},
      {"pls", 12884770129478611415ULL, 3, with("pls", {{"n_components", 2}})},
      {"cca", 7280878248459459167ULL, 3, with("cca")},
      {"entropy, two classes", 5853366696125638666ULL, 2, by(CriterionKind::entropy)},
      {"entropy, five classes", 12506523313540900703ULL, 5, by(CriterionKind::entropy)},
      {"squared error", 12803672393223860766ULL, 0, by(CriterionKind::squared_error)},
      {"poisson", 10349920546550344749ULL, 0, by(CriterionKind::poisson)},
      {"absolute error", 14751331733096253847ULL, 0, by(CriterionKind::absolute_error)},
      {"histograms", 13198402295713470249ULL, 3,
       [](Options& o) { o.split_search = SplitSearch::histogram; }},
      {"random thresholds", 15986835356845111982ULL, 3,
       [](Options& o) { o.threshold = ThresholdRule::random; }},
      {"best first", 927412038631114784ULL, 3,
       [](Options& o) { o.growth = Growth::best_first, o.max_leaf_nodes = 20; }},
      {"monotone", 10335209832327086260ULL, 0,
       [](Options& o) { o.constraints.monotone = {1, -1, 0, 0, 0, 0}; }},
  };
  return all;
}

Options options_of(const Case& wanted, const tests::Problem& problem, const char* simd) {
  Options options = tests::default_options(problem);
  options.simd = simd;
  wanted.change(options);
  return options;
}

// Calls grow(simd, n_threads) for all of both, and checks the digest of what it returns.
template <class Grow>
void check_digest(const std::string& name, uint64_t wanted, Grow grow) {
  for (const char* simd : tests::instruction_sets())
    for (const int n_threads : {1, 3}) {
      const FlatForest forest = grow(simd, n_threads);
      CHECK(forest.right.size() > 3 * kTrees);
      const uint64_t got = digest(forest);
      CHECK_EQ(name + " " + simd + ": " + std::to_string(got),
               name + " " + simd + ": " + std::to_string(wanted));
    }
}

FlatForest train_on(const TrainingSet& training, const Options& options, int n_threads) {
  std::vector<uint64_t> trees(kTrees);
  std::iota(trees.begin(), trees.end(), uint64_t{0});
  return train(training, options, trees, n_threads, [](size_t) { return true; });
}

// The table of a problem with its rows in the order of their targets, which become times.
tests::Problem by_time(const tests::Problem& problem) {
  std::vector<size_t> order(problem.table.n_rows);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return problem.targets[a] < problem.targets[b]; });
  tests::Problem sorted = problem;
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t f = 0; f < problem.table.n_features; ++f)
      sorted.table.at(i, f) = problem.table.at(order[i], f);
  return sorted;
}

using SetOptions = void (*)(BoostingOptions&);

FlatForest boosted(const std::string& loss, SetOptions set, const char* simd, int n_threads) {
  const int32_t n_outputs = loss == "multinomial" ? 3 : 1;
  const int32_t n_classes = n_outputs == 3 ? 3 : loss == "log_loss" ? 2 : 0;
  const tests::Problem problem = tests::make_problem(kRows, n_classes);
  std::vector<double> targets = problem.targets;
  if (n_classes) targets.assign(problem.labels.begin(), problem.labels.end());
  const DatasetView data = problem.table.view();
  Options options = tests::default_options(problem);
  options.simd = simd;
  BoostingOptions boosting;
  boosting.loss = loss;
  boosting.n_outputs = n_outputs;
  boosting.max_iter = kTrees;
  boosting.subsample = loss == "gamma" ? 0.5 : 1.0;
  set(boosting);
  BoostingTarget target{targets.data()};
  std::vector<uint32_t> groups(kRows);
  std::vector<uint8_t> event(kRows);
  if (loss == "lambdarank" || loss == "pairwise") {
    for (size_t i = 0; i < kRows; ++i) groups[i] = static_cast<uint32_t>(i / 20);
    for (double& value : targets) value = std::floor(2.0 * std::fabs(value));
    target.groups = groups.data();
  } else if (loss == "cox" || loss == "log_logistic" || loss == "weibull") {
    for (size_t i = 0; i < kRows; ++i) event[i] = i % 3 != 0;
    for (double& value : targets) value = 0.1 + std::fabs(value);
    target.event = event.data();
  }
  return boost({data, target}, boosting, options, n_threads, [](size_t, double) { return true; })
      .forest;
}

}  // namespace

TEST_CASE("golden: forests of every family and criterion have the bits they had") {
  for (const Case& wanted : cases()) {
    const tests::Problem problem = tests::make_problem(kRows, wanted.n_classes);
    check_digest(wanted.name, wanted.digest, [&](const char* simd, int n_threads) {
      return tests::grow(problem, options_of(wanted, problem, simd), kTrees, n_threads);
    });
  }
}

TEST_CASE("golden: predictions have the bits they had") {
  const Case& wanted = cases()[0];
  const tests::Problem problem = tests::make_problem(kRows, 3);
  const FlatForest forest =
      tests::grow(problem, options_of(wanted, problem, "baseline"), kTrees, 1);
  std::vector<double> shares(kRows * 3);
  predict_proba(tests::arrays_of(forest, problem), {problem.table.values.data(), kRows, 1, kRows},
                1, false, shares.data());
  CHECK_EQ(tests::fingerprint(shares), 10745884073261408639ULL);
}

TEST_CASE("golden: survival forests have the bits they had") {
  const tests::Problem problem = by_time(tests::make_problem(kRows, 0));
  const DatasetView data = problem.table.view();
  std::vector<uint32_t> ranks(kRows), numbers(kRows);
  std::vector<uint8_t> events(kRows);
  uint32_t n_times = 0;
  for (uint32_t i = 0; i < kRows; ++i) {
    events[i] = i % 3 != 0;
    ranks[i] = n_times += events[i];
    numbers[i] = i;
  }
  TrainingSet training{data};
  training.times = ranks.data();
  training.events = events.data();
  training.bag_row = numbers.data();
  training.n_times = static_cast<int32_t>(n_times);
  for (const auto& [name, criterion, wanted] :
       {std::tuple{"log-rank", CriterionKind::log_rank, 3299274618526453885ULL},
        {"log-rank score", CriterionKind::log_rank_score, 16418887272808246271ULL}}) {
    check_digest(name, wanted, [&, c = criterion](const char* simd, int n_threads) {
      Options options = tests::default_options(problem);
      options.criterion = c;
      options.simd = simd;
      options.families.push_back(tests::family("cox", 1, 3, {{"alpha", 1.0}, {"n_steps", 3}}));
      return train_on(training, options, n_threads);
    });
  }
}

TEST_CASE("golden: forests of several outputs have the bits they had") {
  const tests::Problem first = tests::make_problem(kRows, 0),
                       second = tests::make_problem(kRows, 3);
  const DatasetView data = first.table.view();
  std::vector<double> targets;
  std::vector<int32_t> labels;
  for (size_t i = 0; i < kRows; ++i) {
    targets.insert(targets.end(), {first.targets[i], 1.0 - first.table.at(i, 3)});
    labels.insert(labels.end(), {second.labels[i], 3 + (first.table.at(i, 0) > 0.5f)});
  }
  const std::vector<int32_t> numbers{0, 0}, classes{3, 2};
  TrainingSet regression{data}, classification{data};
  regression.targets = targets.data();
  regression.output_classes = numbers;
  classification.labels = labels.data();
  classification.n_classes = 5;
  classification.output_classes = classes;
  for (const auto& [name, training, wanted] :
       {std::tuple{"two numbers", &regression, 13378715819330703324ULL},
        {"two classes", &classification, 8694650408089197154ULL}}) {
    check_digest(name, wanted, [&, t = training](const char* simd, int n_threads) {
      Options options = tests::default_options(t->n_classes ? second : first);
      options.simd = simd;
      return train_on(*t, options, n_threads);
    });
  }
}

TEST_CASE("golden: boosted trees of every loss have the bits they had") {
  for (const auto& [name, loss, wanted] :
       {std::tuple{"squared error", "squared_error", 2700514737992214945ULL},
        {"log loss", "log_loss", 10993183308928305954ULL},
        {"multinomial", "multinomial", 11138616912891229872ULL},
        {"absolute error", "absolute_error", 18092758410993857388ULL},
        {"huber", "huber", 7091339957972874152ULL},
        {"quantile", "quantile", 15829135653206106462ULL},
        {"poisson", "poisson", 11282526840275204147ULL},
        {"gamma, half the rows", "gamma", 13827123787971432331ULL},
        {"lambdarank", "lambdarank", 6815196585029388953ULL},
        {"pairwise", "pairwise", 18258597761401536997ULL},
        {"Cox", "cox", 9620616495842519849ULL},
        {"log-logistic", "log_logistic", 11323450531380503803ULL},
        {"Weibull", "weibull", 12194171949745797225ULL}})
    check_digest(std::string("boosting, ") + name, wanted,
                 [loss = loss](const char* simd, int n_threads) {
                   return boosted(loss, [](BoostingOptions&) {}, simd, n_threads);
                 });
}

TEST_CASE("golden: boosted trees of every kind have the bits they had") {
  const SetOptions symmetric = [](BoostingOptions& options) {
    options.symmetric = true;
    options.max_leaf_nodes = 0;
    options.max_depth = 4;
  };
  const SetOptions shared = [](BoostingOptions& options) { options.shares_trees = true; };
  const SetOptions linear = [](BoostingOptions& options) { options.linear_leaves = true; };
  for (const auto& [name, loss, set, wanted] :
       {std::tuple{"symmetric", "squared_error", symmetric, 17018820739646890778ULL},
        {"shared by classes", "multinomial", shared, 11331261228292853651ULL},
        {"linear leaves", "squared_error", linear, 6263396240771254223ULL}})
    check_digest(std::string("boosting, ") + name, wanted,
                 [loss = loss, set = set](const char* simd, int n_threads) {
                   return boosted(loss, set, simd, n_threads);
                 });
}
