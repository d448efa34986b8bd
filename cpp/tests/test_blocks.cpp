#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bevel/blocks/bin_edges.h"
#include "bevel/blocks/block_histograms.h"
#include "bevel/blocks/block_request.h"
#include "bevel/blocks/block_rows.h"
#include "bevel/blocks/top_grower.h"
#include "bevel/blocks/tree_rotation.h"
#include "bevel/blocks/value_bins.h"
#include "bevel/forest/forest_trainer.h"
#include "check.h"
#include "problems.h"

using namespace bevel;
using namespace bevel::tests;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Some rows of a problem as a problem of their own.
Problem some_rows(const Problem& problem, const std::vector<uint32_t>& rows) {
  Problem part{Table(rows.size(), problem.table.n_features), problem.n_classes, {}, {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t f = 0; f < problem.table.n_features; ++f)
      part.table.at(i, f) = problem.table.at(rows[i], f);
    if (problem.n_classes) part.labels.push_back(problem.labels[rows[i]]);
    if (!problem.n_classes) part.targets.push_back(problem.targets[rows[i]]);
  }
  part.table.levels = problem.table.levels;
  part.table.medians = problem.table.medians;
  part.table.has_nan = problem.table.has_nan;
  return part;
}

std::vector<uint32_t> range(size_t first, size_t last) {
  std::vector<uint32_t> rows(last - first);
  std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(first));
  return rows;
}

NodeStore nodes_of(const FlatForest& forest) {
  NodeStore nodes;
  nodes.right = forest.right;
  nodes.threshold = forest.threshold;
  nodes.flags = forest.flags;
  nodes.gain = forest.gain;
  nodes.weight = forest.weight;
  nodes.entry_offset = forest.entry_offset;
  nodes.entry_index = forest.entry_index;
  nodes.entry_weight = forest.entry_weight;
  nodes.leaf_value = forest.leaf_value;
  nodes.bits_index = forest.bits_index;
  nodes.bits_offset = forest.bits_offset;
  nodes.bits = forest.bits;
  if (nodes.bits_index.empty()) nodes.bits_index.assign(nodes.right.size(), -1);
  return nodes;
}

TableTotals totals_of(const Problem& problem) {
  TableTotals totals;
  totals.n_rows = problem.table.n_rows;
  totals.n_classes = problem.n_classes;
  if (!problem.n_classes) {
    totals.low = *std::min_element(problem.targets.begin(), problem.targets.end());
    totals.high = *std::max_element(problem.targets.begin(), problem.targets.end());
  }
  return totals;
}

// A forest over blocks that end at these rows: what the callers of the grower do.
class BlockForest {
 public:
  BlockForest(const Problem& problem, const Options& options, const std::vector<size_t>& ends)
      : problem_(problem), options_(options) {
    size_t first = 0;
    for (const size_t end : ends) {
      parts_.push_back(some_rows(problem, range(first, end)));
      first_rows_.push_back(first);
      first = end;
    }
  }

  FlatForest grow(int64_t gather_rows, uint64_t most_numbers, int n_threads) {
    std::vector<uint32_t> sampled;
    for (uint32_t row = 0; row < problem_.table.n_rows; row += 2) sampled.push_back(row);
    const Problem sample = some_rows(problem_, sampled);
    const std::vector<uint64_t> trees{0, 1, 2};
    TopGrower grower(options_, totals_of(problem_), sample.table.view(), trees, gather_rows);
    while (grower.n_trees_done() < trees.size()) {
      for (;;) {
        const std::string bytes = grower.histogram_request(most_numbers, n_threads);
        if (bytes.empty()) break;
        std::vector<int64_t> cells(grower.n_numbers(), 0);
        const BlockRequest request = BlockRequest::from_bytes(bytes);
        each_block([&](const BlockView& block, const Problem&) {
          add_histograms(block, request, n_threads, cells.data());
        });
        ++n_requests;
        grower.take_histograms(cells);
      }
      for (;;) {
        std::vector<SmallNode> nodes;
        const std::string bytes = grower.rows_request(500, nodes);
        if (bytes.empty()) break;
        put_subtrees(grower, BlockRequest::from_bytes(bytes), nodes, n_threads);
      }
    }
    return grower.finish();
  }

  size_t n_requests = 0;

 private:
  template <class Visit>
  void each_block(Visit visit) {
    for (size_t b = 0; b < parts_.size(); ++b) {
      const DatasetView data = parts_[b].table.view();
      BlockView block{data};
      (problem_.n_classes ? block.labels = parts_[b].labels.data() : nullptr);
      (problem_.n_classes ? nullptr : block.targets = parts_[b].targets.data());
      block.first_row = first_rows_[b];
      visit(block, parts_[b]);
    }
  }

  void put_subtrees(TopGrower& grower, const BlockRequest& request,
                    const std::vector<SmallNode>& nodes, int n_threads) {
    std::vector<std::vector<uint32_t>> rows(nodes.size());
    std::vector<std::vector<int32_t>> draws(nodes.size());
    each_block([&](const BlockView& block, const Problem&) {
      const BlockRows found = find_rows(block, request, nodes.size(), n_threads);
      for (size_t node = 0; node < nodes.size(); ++node)
        for (int64_t i = found.offset[node]; i < found.offset[node + 1]; ++i) {
          rows[node].push_back(static_cast<uint32_t>(block.first_row) +
                               found.row[static_cast<size_t>(i)]);
          draws[node].push_back(found.draws[static_cast<size_t>(i)]);
        }
    });
    for (size_t node = 0; node < nodes.size(); ++node) {
      const Problem own = some_rows(problem_, rows[node]);
      const DatasetView data = own.table.view();
      TrainingSet training{data};
      training.n_classes = own.n_classes;
      if (own.n_classes)
        training.labels = own.labels.data();
      else
        training.targets = own.targets.data();
      SubtreeStart start;
      start.tree = nodes[node].tree_number;
      start.key = nodes[node].key;
      start.multiplicity = draws[node].data();
      start.tree_weight = nodes[node].tree_weight;
      start.gain_unit = grower.gain_unit();
      grower.put_subtree(nodes[node].tree, nodes[node].node,
                         nodes_of(grow_subtree(training, options_, start, n_threads)));
    }
  }

  const Problem& problem_;
  const Options& options_;
  std::vector<Problem> parts_;
  std::vector<size_t> first_rows_;
};

}  // namespace

TEST_CASE("edges ascend and lie between different values") {
  std::vector<float> values{3.0f, 1.0f, 1.0f, 2.0f, kNan, 2.0f, 9.0f};
  CHECK(find_edges(values, 127) == std::vector<float>{1.5f, 2.5f, 6.0f});
  std::vector<float> equal(50, 4.0f), none{kNan, kNan}, one{1.0f};
  CHECK(find_edges(equal, 127).empty());
  CHECK(find_edges(none, 127).empty());
  CHECK(find_edges(one, 127).empty());
  const float next = std::nextafter(1.0f, 2.0f);
  std::vector<float> neighbours{1.0f, next};  // their mean is one of them
  const std::vector<float> between = find_edges(neighbours, 127);
  REQUIRE(between.size() == 1);
  CHECK(between[0] >= 1.0f && between[0] < next);
  std::vector<float> many(1000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>((i * 7919) % 1000);
  const std::vector<float> edges = find_edges(many, 9);
  REQUIRE(edges.size() == 9);
  for (size_t e = 0; e < 9; ++e) CHECK_EQ(edges[e], 100.0f * static_cast<float>(e + 1) - 0.5f);
}

TEST_CASE("the bin of a value is the number of edges below it") {
  for (size_t n_edges = 0; n_edges <= kMaxEdges; n_edges += 9) {
    std::vector<float> edges(n_edges);
    for (size_t e = 0; e < n_edges; ++e) edges[e] = static_cast<float>(e);
    ValueBins bins;
    bins.set_edges(edges);
    CHECK_EQ(bins.n_bins(), n_edges + 2);
    std::vector<float> values{kNan, -1e30f, 1e30f, 0.0f, -0.0f, 3.0f, 3.5f};
    std::vector<uint16_t> found(values.size());
    bins.find(values.data(), values.size(), found.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto below =
          std::count_if(edges.begin(), edges.end(), [&](float edge) { return edge < values[i]; });
      const size_t wanted = values[i] == values[i] ? static_cast<size_t>(below) : n_edges + 1;
      CHECK_EQ(static_cast<size_t>(found[i]), wanted);
    }
  }
}

// Five standard deviations of 40 000 rows: a false alarm in a million for each number.
TEST_CASE("draws of a row are Poisson or a share, and depend on its number alone") {
  const NodeKey root = root_key(5, 3);
  const RowDraws poisson(1.0, true), share(0.25, false), all;
  const RowDraws again = RowDraws::from_bounds(true, poisson.bounds());
  std::vector<double> count(4, 0.0);
  double taken = 0.0, n = 40000.0;
  for (uint64_t row = 0; row < 40000; ++row) {
    const int32_t times = poisson(root, row);
    CHECK(times == again(root, row) && times <= RowDraws::kMax);
    count[static_cast<size_t>(std::min(times, 3))] += 1.0;
    const int32_t once = share(root, row);
    CHECK(once == 0 || once == 1);
    taken += once;
    CHECK_EQ(all(root, row), 1);
  }
  const double e = std::exp(-1.0);
  for (const auto& [found, wanted] : {std::pair{count[0], e},
                                      {count[1], e},
                                      {count[2], e / 2.0},
                                      {count[3], 1.0 - 2.5 * e},
                                      {taken, 0.25}})
    CHECK(std::fabs(found / n - wanted) < 5.0 * std::sqrt(wanted * (1.0 - wanted) / n));
}

TEST_CASE("a request is read as it was written, and not if it is cut off") {
  const Problem problem = make_problem(300, 3);
  const Options options = default_options(problem);
  const std::vector<uint64_t> trees{0};
  TopGrower grower(options, totals_of(problem), problem.table.view(), trees, 10);
  const std::string bytes = grower.histogram_request(1 << 20, 1);
  CHECK(BlockRequest::from_bytes(bytes).to_bytes() == bytes);
  for (size_t n = 0; n < bytes.size(); n += 5)
    CHECK_THROWS_AS(BlockRequest::from_bytes({bytes.data(), n}), std::invalid_argument);
  CHECK_THROWS_AS(BlockRequest::from_bytes(bytes + "x"), std::invalid_argument);
}

TEST_CASE("sums of all bins are those of the bag, whatever the blocks are") {
  for (const int32_t n_classes : {0, 2, 3}) {
    const Problem problem = make_problem(400, n_classes);
    const Options options = default_options(problem);
    const std::vector<uint64_t> trees{7};
    TopGrower grower(options, totals_of(problem), problem.table.view(), trees, 10);
    const BlockRequest request = BlockRequest::from_bytes(grower.histogram_request(1 << 20, 1));
    const size_t size = request.grid.cell_size();
    std::vector<int64_t> wanted(size, 0);
    for (size_t row = 0; row < 400; ++row) {
      const int32_t times = request.draws(root_key(options.seed, 7), row);
      if (times == 0) continue;
      ++wanted[0];
      if (n_classes) wanted[1 + static_cast<size_t>(problem.labels[row])] += times;
      if (!n_classes) {
        const RowSums sums = request.grid.of_target(problem.targets[row], 1.0, times);
        wanted[1] += sums.weight;
        wanted[2] += sums.value;
      }
    }
    std::vector<int64_t> cells(grower.n_numbers(), 0);
    for (const auto& [first, last] : {std::pair<size_t, size_t>{0, 1}, {1, 260}, {260, 400}}) {
      const Problem part = some_rows(problem, range(first, last));
      const DatasetView data = part.table.view();
      BlockView block{data};
      if (n_classes) block.labels = part.labels.data();
      if (!n_classes) block.targets = part.targets.data();
      block.first_row = first;
      add_histograms(block, request, 1, cells.data());
    }
    for (size_t k = 0; k < size; ++k)
      CHECK_EQ(cells[request.bins.node_cell[0] * size + k], wanted[k]);
    for (size_t c = 0; c < request.bins.candidates.size(); ++c) {
      const size_t n_bins = request.bins.is_nominal[c] ? 5 : request.bins.n_edges(c) + 2;
      for (size_t k = 0; k < size; ++k) {
        int64_t sum = 0;
        for (size_t b = 0; b < n_bins; ++b) sum += cells[(request.bins.cell[c] + b) * size + k];
        CHECK_EQ(sum, wanted[k]);
      }
    }
  }
}

TEST_CASE("a forest is the same for any blocks, threads and size of a request") {
  for (const int32_t n_classes : {0, 2, 4})
    for (const bool rotates : {false, true}) {
      const Problem problem = make_problem(600, n_classes);
      Options options = default_options(problem);
      if (rotates) options.families.push_back(family("rotation", 3, 3));
      BlockForest one(problem, options, {600});
      const FlatForest forest = one.grow(50, 1 << 20, 1);
      CHECK(one.n_requests > 2);
      CHECK_EQ(forest.rotation_index.empty(), !rotates);
      BlockForest three(problem, options, {1, 400, 600});
      CHECK_EQ(fingerprint(three.grow(50, 1, 2)), fingerprint(forest));
      CHECK(three.n_requests > one.n_requests);
    }
}

TEST_CASE("a tree over blocks has the rotation that the ordinary trainer draws for it") {
  const Problem problem = make_problem(600, 2);
  Options options = default_options(problem);
  options.bag_size = 0;
  options.families = {family("rotation", 5, 5)};
  const FlatForest ordinary = grow(problem, options, 3, 1);
  BlockForest gathered(problem, options, {100, 600});
  CHECK_EQ(fingerprint(gathered.grow(600, 1 << 20, 1)), fingerprint(ordinary));
  TreeRotation rotation;
  rotation.draw(options, problem.table.view(), 0);
  REQUIRE(rotation.axes().size() == 5);
  for (size_t a = 0; a < 5; ++a)
    for (size_t b = 0; b < 5; ++b) {
      double product = 0.0;
      for (int k = 0; k < 5; ++k)
        product += double{rotation.axes().weights(a)[k]} * rotation.axes().weights(b)[k];
      CHECK(std::fabs(product - (a == b)) < 1e-5);
    }
}

TEST_CASE("axes become features, and one of a single feature has two entries") {
  Problem problem = make_problem(100, 2);
  Options options = default_options(problem);
  options.families = {family("rotation", 3, 3)};  // three of five features are rotated
  TreeRotation rotation;
  const DatasetView data = problem.table.view();
  rotation.draw(options, data, 0);
  size_t n_single = 0;
  for (int32_t axis = 0; axis < 5; ++axis) {
    const int32_t index = data.n_features + axis;
    const float one = 1.0f;
    Candidates out;
    rotation.expand(&index, &one, 1, out);
    REQUIRE(out.n_nonzeros(0) >= 2);
    n_single += out.n_nonzeros(0) == 2 && out.weights(0)[1] == 0.0f;
    for (int k = 0; k < out.n_nonzeros(0); ++k) CHECK(out.indices(0)[k] < data.n_features);
    CHECK(!rotation.is_flat(index));
  }
  CHECK_EQ(n_single, size_t{2});
  Candidates plain;
  plain.add_entry(1, 2.0f);
  plain.add_entry(3, -1.0f);
  plain.close();
  const Candidates same = rotation.expand(plain);
  CHECK(same.index == plain.index);
  CHECK(same.weight == plain.weight);
}
