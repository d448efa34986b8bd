#include <cstdint>
#include <vector>

#include "bevel/tree/column_use.h"
#include "bevel/tree/node_store.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

SplitRecord split_on(int32_t feature, float threshold) {
  SplitRecord split;
  split.index = {feature};
  split.coefficient = {1.0f};
  split.threshold = threshold;
  return split;
}

void add_leaf(NodeStore& nodes, int32_t label) {
  nodes.open(1.0f, false);
  nodes.add_entry(label, 1.0f);
  nodes.close();
}

// A split on a feature with two leaves, of classes 2 * feature and one more.
NodeStore stump(int32_t feature) {
  NodeStore nodes;
  nodes.set_split(nodes.open(2.0f, false), split_on(feature, 0.5f));
  add_leaf(nodes, 2 * feature);
  nodes.right[0] = 2;
  add_leaf(nodes, 2 * feature + 1);
  return nodes;
}

size_t n_leaves(const FlatForest& forest) {
  size_t n = 0;
  for (const int32_t right : forest.right) n += right < 0;
  return n;
}

int max_depth(const FlatForest& forest, int32_t node = 0) {
  if (forest.right[static_cast<size_t>(node)] < 0) return 0;
  return 1 + std::max(max_depth(forest, node + 1),
                      max_depth(forest, forest.right[static_cast<size_t>(node)]));
}

}  // namespace

TEST_CASE("nodes keep the entries they were given") {
  const NodeStore nodes = stump(3);
  CHECK_EQ(nodes.size(), size_t{3});
  CHECK(nodes.right == std::vector<int32_t>{2, -1, -1});
  CHECK(nodes.entry_offset == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(nodes.entry_index == std::vector<int32_t>{3, 6, 7});
}

TEST_CASE("subtrees that were grown elsewhere are put into their places in preorder") {
  std::vector<Graft> grafts;
  grafts.push_back({1, stump(1), {}});
  grafts.push_back({2, stump(2), {}});
  const NodeStore whole = assemble(stump(0), std::move(grafts));
  CHECK(whole.right == std::vector<int32_t>{4, 3, -1, -1, 6, -1, -1});
  CHECK(whole.entry_index == std::vector<int32_t>{0, 1, 2, 3, 2, 4, 5});
}

TEST_CASE("a subtree inside a grown subtree finds its place too") {
  std::vector<Graft> inner, outer;
  inner.push_back({2, stump(2), {}});
  outer.push_back({1, stump(1), std::move(inner)});
  const NodeStore whole = assemble(stump(0), std::move(outer));
  CHECK(whole.right == std::vector<int32_t>{6, 3, -1, 5, -1, -1, -1});
}

TEST_CASE("levels of a split are kept where subtrees are joined") {
  NodeStore by_levels;
  SplitRecord split = split_on(5, 0.0f);
  split.flags = kCategoryNode;
  split.level_bits = {0b10110u};
  by_levels.set_split(by_levels.open(2.0f, false), split);
  add_leaf(by_levels, 0);
  by_levels.right[0] = 2;
  add_leaf(by_levels, 1);
  std::vector<Graft> grafts;
  grafts.push_back({1, by_levels, {}});
  const NodeStore whole = assemble(by_levels, std::move(grafts));
  CHECK(whole.bits_index == std::vector<int32_t>{0, 1, -1, -1, -1});
  CHECK(whole.bits == std::vector<uint32_t>{0b10110u, 0b10110u});
}

TEST_CASE("a tree stops at the depth it may have") {
  const tests::Problem problem = tests::make_problem(300, 3);
  Options options = tests::default_options(problem);
  options.max_depth = 3;
  CHECK_EQ(max_depth(tests::grow(problem, options, 1, 1)), 3);
}

TEST_CASE("a tree has as many leaves as it may have, whatever its order of growth") {
  const tests::Problem problem = tests::make_problem(300, 3);
  Options options = tests::default_options(problem);
  options.max_leaf_nodes = 7;
  for (const Growth growth : {Growth::best_first, Growth::breadth_first}) {
    options.growth = growth;
    CHECK_EQ(n_leaves(tests::grow(problem, options, 1, 1)), size_t{7});
  }
}

TEST_CASE("a node that may not draw again is a leaf where its one candidate has no cut") {
  tests::Problem problem = tests::make_problem(300, 3);
  for (size_t row = 0; row < 300; ++row) problem.table.at(row, 0) = 1.0f;
  Options options = tests::default_options(problem);
  options.families = {tests::family("axis", 1, 0)};
  size_t last = 0;
  for (const int32_t redraws : {0, 1, -1}) {
    options.max_redraws = redraws;
    const size_t n = n_leaves(tests::grow(problem, options, 20, 1));
    CHECK(n > last);
    last = n;
  }
}

TEST_CASE("leaves hold as many rows as they must") {
  const tests::Problem problem = tests::make_problem(300, 0);
  Options options = tests::default_options(problem);
  options.bag_size = 0;  // every row once: weights count rows
  options.min_samples_leaf = 11;
  const FlatForest forest = tests::grow(problem, options, 2, 1);
  for (size_t node = 0; node < forest.right.size(); ++node)
    if (forest.right[node] < 0) CHECK(forest.weight[node] >= 11.0f);
}

TEST_CASE("columns are copied together where subtrees read them often") {
  CHECK(worth_copying(10, 1000, 20));
  CHECK(!worth_copying(2, 1000, 5000));
}
