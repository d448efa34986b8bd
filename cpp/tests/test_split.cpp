#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "bevel/random/stream.h"
#include "bevel/split/criterion.h"
#include "bevel/split/cut.h"
#include "bevel/split/finder.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/search/network.h"
#include "bevel/split/search/search_context.h"
#include "bevel/split/search/sorted_scan.h"
#include "bevel/support/huge_pages.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

std::vector<float> some_values(size_t n, uint64_t seed) {
  Stream stream(root_key(seed, n), Purpose::candidates);
  std::vector<float> values(n);
  // Ties now and then.
  for (float& v : values) v = static_cast<float>(std::floor(64.0 * stream.normal()) / 16.0);
  return values;
}

// Weight 1 to 3 and label 0 or 1.
std::vector<uint64_t> some_stats(size_t n, uint64_t seed) {
  Stream stream(root_key(seed, n), Purpose::bag);
  std::vector<uint64_t> stats(n);
  for (uint64_t& p : stats) {
    const uint64_t weight = 1 + stream.below(3);
    p = weight << 32 | (stream.below(2) ? weight : 0);
  }
  return stats;
}

// Runs a check with the kernels of every instruction set that the machine has.
template <class Check>
void with_all_kernels(Check check) {
  for (const char* name : tests::instruction_sets()) check(kernels(name));
}

// All cuts between different values, by sums made anew for each: the best score of squared error.
double naive_best(const std::vector<float>& values, const std::vector<uint64_t>& stats) {
  PackedCriterion criterion(2.0, false);
  criterion.begin_node(stats.data(), stats.size());
  double best = kNoScore;
  for (const float threshold : values) {
    PackedCriterion::Accumulator left(criterion);
    left.begin();
    size_t n_left = 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] <= threshold) {
        left.add(stats[i]);
        ++n_left;
      }
    if (n_left < values.size()) best = std::max(best, left.score());
  }
  return best;
}

}  // namespace

TEST_CASE("a sorting network sorts as std::sort does, for every length") {
  for (size_t n = 1; n <= kMaxNetworkRows; n += n < 64 ? 1 : 16) {
    std::vector<float> values = some_values(n, 1);
    values.resize(network_length(n), std::numeric_limits<float>::infinity());
    std::vector<float> wanted = values;
    std::sort(wanted.begin(), wanted.end());
    for (const Comparator c : sorting_network(n))
      if (values[c.high] < values[c.low]) std::swap(values[c.low], values[c.high]);
    CHECK(values == wanted);
  }
}

TEST_CASE("lanes are sorted as std::sort does, by every instruction set") {
  with_all_kernels([](const Kernels& k) {
    for (const size_t n : {2, 5, 33, 128}) {
      HugeVector<double> lanes(n * kLanes);
      std::vector<std::vector<double>> wanted(kLanes);
      Stream stream(root_key(2, n), Purpose::candidates);
      for (size_t i = 0; i < lanes.size(); ++i) {
        lanes[i] = stream.normal();
        wanted[i % kLanes].push_back(lanes[i]);
      }
      const std::vector<Comparator>& network = sorting_network(n);
      k.sort_lanes(lanes.data(), network.data(), network.size());
      for (size_t l = 0; l < kLanes; ++l) {
        std::sort(wanted[l].begin(), wanted[l].end());
        bool equal = true;
        for (size_t i = 0; i < n; ++i) equal = equal && lanes[i * kLanes + l] == wanted[l][i];
        CHECK(equal);
      }
    }
  });
}

TEST_CASE("the sorter orders values as std::stable_sort does, at every size of its radix") {
  Sorter sorter;
  for (const size_t n : {1, 5, 127, 128, 4095, 4096, 6000}) {
    const std::vector<float> values = some_values(n, 3);
    std::vector<uint32_t> wanted(n), got;
    std::iota(wanted.begin(), wanted.end(), 0u);
    std::stable_sort(wanted.begin(), wanted.end(), [&](uint32_t a, uint32_t b) {
      return sortable(values[a]) < sortable(values[b]);
    });
    for (const uint64_t key : sorter.sort(values.data(), n))
      got.push_back(static_cast<uint32_t>(key));
    CHECK(got == wanted);
  }
}

TEST_CASE("projected values are the weighted sums in order, by every instruction set") {
  const size_t n = 300;
  const std::vector<float> a = some_values(n, 4), b = some_values(n, 5), c = some_values(n, 6);
  const float* columns[] = {a.data(), b.data(), c.data()};
  const float weights[] = {0.3f, -1.7f, 2.1f};
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < n; i += 1 + i % 3) rows.push_back(i);
  with_all_kernels([&](const Kernels& k) {
    for (const int n_nonzeros : {1, 2, 3}) {
      std::vector<float> got(rows.size()), wanted(rows.size());
      k.project({columns, weights, nullptr, n_nonzeros}, rows.data(), rows.size(), got.data());
      for (size_t i = 0; i < rows.size(); ++i) {
        float sum = weights[0] * columns[0][rows[i]];
        for (int j = 1; j < n_nonzeros; ++j) sum += weights[j] * columns[j][rows[i]];
        wanted[i] = sum + 0.0f;
      }
      CHECK(got == wanted);
    }
  });
}

TEST_CASE("range, bins and neighbours agree with naive loops, by every instruction set") {
  const std::vector<float> values = some_values(777, 7);
  const auto ends = std::minmax_element(values.begin(), values.end());
  with_all_kernels([&](const Kernels& k) {
    const ValueRange range = k.range(values.data(), values.size());
    CHECK_EQ(range.low, *ends.first);
    CHECK_EQ(range.high, *ends.second);
    Binning binning;
    REQUIRE(Binning::make(range, 32, binning));
    std::vector<uint16_t> bins(values.size());
    k.bins(values.data(), values.size(), binning.low, binning.scale, 31, bins.data());
    ValueRange wanted{-1e30f, 1e30f};
    bool equal = true;
    for (size_t i = 0; i < values.size(); ++i) {
      equal = equal && bins[i] == binning(values[i]);
      if (binning(values[i]) <= 12) wanted.low = std::max(wanted.low, values[i]);
      if (binning(values[i]) > 12) wanted.high = std::min(wanted.high, values[i]);
    }
    CHECK(equal);
    const ValueRange got =
        k.neighbours(values.data(), values.size(), binning.low, binning.scale, 12);
    CHECK_EQ(got.low, wanted.low);
    CHECK_EQ(got.high, wanted.high);
  });
}

TEST_CASE("histograms of pairs agree with a naive loop, by every instruction set") {
  const std::vector<float> values = some_values(1003, 8);
  const std::vector<uint64_t> packed = some_stats(1003, 9);
  std::vector<WidePair> wide;
  for (const uint64_t p : packed) wide.push_back(widen(p));
  with_all_kernels([&](const Kernels& k) {
    Binning binning;
    REQUIRE(Binning::make(k.range(values.data(), values.size()), 64, binning));
    std::vector<uint64_t> got(128), wanted(64);
    std::vector<WidePair> got_wide(128);
    for (size_t i = 0; i < values.size(); ++i)
      wanted[static_cast<size_t>(binning(values[i]))] += packed[i];
    Prefetch nothing;
    k.histogram_packed(values.data(), packed.data(), values.size(), binning.low, binning.scale, 64,
                       nothing, got.data());
    k.histogram_wide(values.data(), wide.data(), values.size(), binning.low, binning.scale, 64,
                     nothing, got_wide.data());
    for (size_t b = 0; b < 64; ++b) {
      CHECK_EQ(got[b], wanted[b]);
      CHECK_EQ(got_wide[b].weight, widen(wanted[b]).weight);
      CHECK_EQ(got_wide[b].sum, widen(wanted[b]).sum);
    }
  });
}

TEST_CASE("partitions are stable and sides compare with the threshold, by every instruction set") {
  const std::vector<float> values = some_values(500, 10);
  with_all_kernels([&](const Kernels& k) {
    std::vector<uint8_t> left(values.size());
    k.sides(values.data(), values.size(), 0.25f, false, left.data());
    std::vector<float> wanted, right, got = values, rest(values.size() + 16);
    for (size_t i = 0; i < values.size(); ++i) {
      CHECK_EQ(left[i] == 1, values[i] <= 0.25f);
      (left[i] ? wanted : right).push_back(values[i]);
    }
    wanted.insert(wanted.end(), right.begin(), right.end());
    k.partition_floats(got.data(), got.size(), left.data(), rest.data());
    CHECK(got == wanted);
  });
}

TEST_CASE("missing values go to the chosen side") {
  const std::vector<float> values{1.0f, std::numeric_limits<float>::quiet_NaN(), -1.0f};
  with_all_kernels([&](const Kernels& k) {
    for (const bool missing_left : {false, true}) {
      std::vector<uint8_t> left(3);
      k.sides(values.data(), 3, 0.0f, missing_left, left.data());
      CHECK_EQ(left[1] == 1, missing_left);
      CHECK(left[0] == 0 && left[2] == 1);
    }
  });
}

TEST_CASE("the score of a pair is half the Gini impurity removed, times the weight") {
  const std::vector<uint64_t> stats = some_stats(40, 11);
  PackedCriterion criterion(2.0, false);
  criterion.begin_node(stats.data(), stats.size());
  PackedCriterion::Accumulator left(criterion);
  left.begin();
  auto gini = [](double w, double a) { return w > 0.0 ? 2.0 * a * (w - a) / w : 0.0; };
  double w = 0.0, a = 0.0;
  const double total = criterion.totals().weight, sum = criterion.totals().sum;
  for (size_t i = 0; i + 1 < stats.size(); ++i) {
    left.add(stats[i]);
    w += static_cast<double>(widen(stats[i]).weight);
    a += static_cast<double>(widen(stats[i]).sum);
    const double removed = gini(total, sum) - gini(w, a) - gini(total - w, sum - a);
    CHECK(std::fabs(2.0 * left.score() / total - removed) < 1e-9);
  }
}

TEST_CASE("scores of classes are those of counts made anew") {
  const EntropyTable table(100.0);
  CountCriterion gini(3, 1.0, nullptr);
  CountEntropyCriterion entropy(3, 1.0, &table);
  Stream stream(root_key(12, 0), Purpose::bag);
  std::vector<CountCriterion::RowStats> stats(30);
  for (auto& p : stats)
    p = {static_cast<uint16_t>(stream.below(3)), static_cast<uint16_t>(1 + stream.below(2))};
  gini.begin_node(stats.data(), stats.size());
  entropy.begin_node(stats.data(), stats.size());
  CountCriterion::Accumulator gini_left(gini);
  CountEntropyCriterion::Accumulator entropy_left(entropy);
  gini_left.begin();
  entropy_left.begin();
  for (size_t cut = 1; cut < stats.size(); ++cut) {
    gini_left.add(gini.stats()[cut - 1]);
    entropy_left.add(entropy.stats()[cut - 1]);
    double counts[2][3] = {}, weight[2] = {}, squares[2] = {}, terms[2] = {};
    for (size_t i = 0; i < stats.size(); ++i) {
      counts[i >= cut][stats[i].label] += stats[i].weight;
      weight[i >= cut] += stats[i].weight;
    }
    for (int side = 0; side < 2; ++side) {
      for (const double c : counts[side]) {
        squares[side] += c * c;
        terms[side] += c > 0.0 ? c * std::log2(c) : 0.0;
      }
      terms[side] -= weight[side] * std::log2(weight[side]);
    }
    CHECK(std::fabs(gini_left.score() - squares[0] / weight[0] - squares[1] / weight[1]) < 1e-9);
    CHECK(std::fabs(entropy_left.score() - terms[0] - terms[1]) < 1e-9);
  }
}

TEST_CASE("a threshold lies between its neighbours and never on the right one") {
  Cut cut;
  cut.low = 1.0f;
  cut.high = 2.0f;
  CHECK_EQ(cut.threshold(), 1.5f);
  cut.high = std::nextafter(1.0f, 2.0f);
  CHECK_EQ(cut.threshold(), 1.0f);
}

TEST_CASE("of cuts with equal scores the first candidate wins") {
  Cut a, b;
  a.score = b.score = 1.0;
  a.candidate = 2;
  b.candidate = 1;
  CHECK(beats(b, a));
  CHECK(!beats(a, b));
  CHECK(beats(a, Cut()));
}

TEST_CASE("every route of the search finds the best cut that a naive loop finds") {
  for (const size_t n : {2, 3, 20, 200, 513, 3000}) {  // two rows, networks, histograms
    tests::Table table(n, 2);
    const std::vector<float> first = some_values(n, 13), second = some_values(n, 14);
    std::copy(first.begin(), first.end(), table.values.begin());
    std::copy(second.begin(), second.end(), table.values.begin() + static_cast<ptrdiff_t>(n));
    const DatasetView data = table.view();
    const std::vector<uint64_t> stats = some_stats(n, 15);
    PackedCriterion criterion(2.0, false);
    criterion.begin_node(stats.data(), n);
    const double wanted = std::max(naive_best(first, stats), naive_best(second, stats));
    std::vector<uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0u);
    const float* columns[] = {data.column(0), data.column(1)};
    Candidates candidates;
    candidates.add_axis(0);
    candidates.add_axis(1);
    with_all_kernels([&](const Kernels& k) {
      for (const SplitSearch route : {SplitSearch::automatic, SplitSearch::exact}) {
        Options options;
        options.split_search = route;
        const ProjectionBound bound(data);
        Finder<PackedCriterion> finder(options, data, bound, k);
        BestSplit found;
        finder.search({columns, rows.data(), n, 0}, criterion, {}, candidates, 0, 2, found);
        CHECK_EQ(found.cut.score, wanted);
      }
    });
  }
}

TEST_CASE("every route of the search finds the best entropy that a naive loop finds") {
  for (const size_t n : {2, 3, 20, 200, 513, 3000}) {
    tests::Table table(n, 1);
    const std::vector<float> values = some_values(n, 13);
    std::copy(values.begin(), values.end(), table.values.begin());
    const DatasetView data = table.view();
    const std::vector<uint64_t> stats = some_stats(n, 15);
    double weight = 0.0;
    for (const uint64_t p : stats) weight += static_cast<double>(widen(p).weight);
    const EntropyTable terms(weight);
    PackedEntropyCriterion criterion(1.0, false, EntropyScore(&terms));
    criterion.begin_node(stats.data(), n);
    double wanted = kNoScore;
    for (const float threshold : values) {
      PackedEntropyCriterion::Accumulator left(criterion);
      left.begin();
      for (size_t i = 0; i < n; ++i)
        if (values[i] <= threshold) left.add(stats[i]);
      wanted = std::max(wanted, left.score());
    }
    std::vector<uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0u);
    const float* columns[] = {data.column(0)};
    Candidates candidates;
    candidates.add_axis(0);
    with_all_kernels([&](const Kernels& k) {
      for (const SplitSearch route : {SplitSearch::automatic, SplitSearch::exact}) {
        Options options;
        options.split_search = route;
        const ProjectionBound bound(data);
        Finder<PackedEntropyCriterion> finder(options, data, bound, k);
        BestSplit found;
        finder.search({columns, rows.data(), n, 0}, criterion, {}, candidates, 0, 1, found);
        CHECK_EQ(found.cut.score, wanted);
      }
    });
  }
}

TEST_CASE("no cut gains more entropy for its squared difference than pure sides do") {
  const EntropyTable terms(400.0);
  for (const int64_t ones : {1, 40, 200, 371, 399}) {
    EntropyScore score(&terms);
    score.begin_node({400, ones}, 400);
    for (int64_t w = 1; w < 400; ++w)
      for (int64_t a = std::max<int64_t>(0, ones - 400 + w); a <= std::min(w, ones); ++a) {
        const double square = pair_score(static_cast<double>(w), static_cast<double>(a),
                                         {400.0, static_cast<double>(ones)});
        CHECK(score.least_square(score({w, a})) <= square);
      }
  }
}

TEST_CASE("a set of levels contains what was put into it") {
  LevelSet set;
  set.reset(70);
  set.insert(0);
  set.insert(31);
  set.insert(69);
  CHECK(set.contains(0) && set.contains(31) && set.contains(69));
  CHECK(!set.contains(1) && !set.contains(32) && !set.contains(68));
  CHECK_EQ(set.words().size(), size_t{3});
}
