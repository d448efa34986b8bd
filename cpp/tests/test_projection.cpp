#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "bevel/projection/candidates.h"
#include "bevel/projection/cell_set.h"
#include "bevel/projection/haar.h"
#include "bevel/projection/principal_components.h"
#include "bevel/projection/sample_without_replacement.h"
#include "bevel/projection/sampler.h"
#include "bevel/random/stream.h"
#include "check.h"
#include "problems.h"

using namespace bevel;
using bevel::tests::Table;

namespace {

// Sum of products of two columns of m entries.
double product(const std::vector<double>& columns, size_t m, size_t a, size_t b) {
  return std::inner_product(columns.begin() + static_cast<ptrdiff_t>(a * m),
                            columns.begin() + static_cast<ptrdiff_t>((a + 1) * m),
                            columns.begin() + static_cast<ptrdiff_t>(b * m), 0.0);
}

// By elimination with pivots; m x m, column-major.
double determinant(std::vector<double> a, size_t m) {
  double result = 1.0;
  for (size_t k = 0; k < m; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < m; ++i)
      if (std::fabs(a[k * m + i]) > std::fabs(a[k * m + pivot])) pivot = i;
    if (pivot != k) result = -result;
    for (size_t j = k; j < m; ++j) std::swap(a[j * m + k], a[j * m + pivot]);
    result *= a[k * m + k];
    for (size_t i = k + 1; i < m; ++i) {
      const double factor = a[k * m + i] / a[k * m + k];
      for (size_t j = k; j < m; ++j) a[j * m + i] -= factor * a[j * m + k];
    }
  }
  return result;
}

Candidates draw(std::shared_ptr<const Family> family, const Table& table, uint64_t tree = 0) {
  Options options;
  options.families = {std::move(family)};
  const DatasetView data = table.view();
  Stream stream(root_key(0, tree), Purpose::candidates);
  Candidates candidates;
  for (const auto& sampler : make_samplers(options, data)) {
    SamplerScratch scratch;
    sampler->prepare(scratch);
    sampler->sample({nullptr, {}, nullptr, nullptr}, stream, scratch, candidates);
  }
  return candidates;
}

}  // namespace

TEST_CASE("a Haar rotation is orthogonal and has determinant 1") {
  for (const int32_t m : {1, 2, 5, 40}) {
    Stream stream(root_key(1, static_cast<uint64_t>(m)), Purpose::rotation);
    const std::vector<double> q = haar_columns(m, m, false, stream);
    const auto size = static_cast<size_t>(m);
    double worst = 0.0;
    for (size_t a = 0; a < size; ++a)
      for (size_t b = 0; b < size; ++b)
        worst = std::max(worst, std::fabs(product(q, size, a, b) - (a == b ? 1.0 : 0.0)));
    CHECK(worst < 1e-13);
    CHECK(std::fabs(determinant(q, size) - 1.0) < 1e-12);
  }
}

// Null: both determinants as likely; 60 draws are all of one sign once in 2^59.
TEST_CASE("a Haar rotation that may flip has both determinants") {
  int n_flipped = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    Stream stream(root_key(2, i), Purpose::rotation);
    n_flipped += determinant(haar_columns(3, 3, true, stream), 3) < 0.0;
  }
  CHECK(n_flipped > 0);
  CHECK(n_flipped < 60);
}

TEST_CASE("the first columns of a Haar rotation are orthonormal too") {
  Stream stream(root_key(3, 0), Purpose::rotation);
  const std::vector<double> q = haar_columns(30, 4, false, stream);
  CHECK_EQ(q.size(), size_t{120});
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = 0; b < 4; ++b)
      CHECK(std::fabs(product(q, 30, a, b) - (a == b ? 1.0 : 0.0)) < 1e-13);
}

TEST_CASE("a Haar rotation has the bits it had") {
  Stream stream(root_key(0, 0), Purpose::rotation);
  const std::vector<double> q = haar_columns(6, 6, false, stream);
  CHECK_EQ(tests::fingerprint(q), 17590148664940193393ULL);
}

TEST_CASE("a rotation above the limit is one of a random subset of the features") {
  Stream stream(root_key(4, 0), Purpose::rotation);
  Candidates axes;
  const auto rest = append_rotation({0, 1, 2, 3, 4, 5, 6, 7}, {3}, stream, axes);
  CHECK_EQ(axes.size(), size_t{3});
  std::set<int32_t> features(axes.index.begin(), axes.index.end());
  CHECK_EQ(features.size(), size_t{3});
  CHECK_EQ(rest.size(), size_t{5});
  features.insert(rest.begin(), rest.end());
  CHECK_EQ(features.size(), size_t{8});
}

TEST_CASE("the direct method gives an orthogonal matrix of determinant one") {
  for (int32_t m : {1, 2, 3, 6}) {
    Stream stream(root_key(6, 0), Purpose::rotation);
    const std::vector<double> q = direct_columns(m, m, false, stream);
    const auto n = static_cast<size_t>(m);
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b < n; ++b)
        CHECK(std::fabs(product(q, n, a, b) - (a == b ? 1.0 : 0.0)) < 1e-12);
  }
}

TEST_CASE("a sample without replacement draws each number once and starts anew after a reset") {
  SampleWithoutReplacement undrawn;
  undrawn.resize(10);
  Stream stream(root_key(5, 0), Purpose::candidates);
  std::vector<int32_t> first, second;
  while (!undrawn.empty()) first.push_back(undrawn.draw(stream));
  CHECK_EQ(std::set<int32_t>(first.begin(), first.end()).size(), size_t{10});
  undrawn.reset();
  Stream again(root_key(5, 0), Purpose::candidates);
  for (int i = 0; i < 10; ++i) second.push_back(undrawn.draw(again));
  CHECK(first == second);
}

TEST_CASE("a cell set holds what was put into it until it is emptied") {
  CellSet cells;
  for (int round = 0; round < 3; ++round) {
    cells.begin(100);
    for (uint64_t cell = 0; cell < 100; ++cell) CHECK(cells.insert(cell * cell + 1));
    CHECK(!cells.insert(1));
    CHECK(cells.contains(82));
    CHECK(!cells.contains(83));
  }
}

TEST_CASE("axes are distinct features with weight 1") {
  const Candidates axes = draw(tests::family("axis", 5, 1), Table(1, 8));
  CHECK_EQ(axes.size(), size_t{5});
  CHECK_EQ(std::set<int32_t>(axes.index.begin(), axes.index.end()).size(), size_t{5});
  CHECK(std::all_of(axes.weight.begin(), axes.weight.end(), [](float w) { return w == 1.0f; }));
}

TEST_CASE("sparse signs throw as many entries of +1 and -1 as asked, none twice") {
  const Table table(1, 50);
  const Candidates drawn = draw(tests::family("signs", 20, 60), table);
  CHECK_EQ(drawn.index.size(), size_t{60});
  for (size_t c = 0; c < drawn.size(); ++c) {
    const std::set<int32_t> features(drawn.indices(c), drawn.indices(c) + drawn.n_nonzeros(c));
    CHECK_EQ(features.size(), static_cast<size_t>(drawn.n_nonzeros(c)));
  }
  CHECK(std::all_of(drawn.weight.begin(), drawn.weight.end(),
                    [](float w) { return w == 1.0f || w == -1.0f; }));
}

TEST_CASE("combinations have distinct features and weights between -1 and 1") {
  const Candidates drawn = draw(tests::family("combination", 30, 3), Table(1, 6));
  CHECK_EQ(drawn.size(), size_t{30});
  for (size_t c = 0; c < drawn.size(); ++c) {
    const std::set<int32_t> features(drawn.indices(c), drawn.indices(c) + 3);
    CHECK_EQ(features.size(), size_t{3});
  }
  CHECK(std::all_of(drawn.weight.begin(), drawn.weight.end(),
                    [](float w) { return w > -1.0f && w < 1.0f; }));
}

TEST_CASE("samplers draw the directions of seed 0 that they drew") {
  const Candidates signs = draw(tests::family("signs", 4, 6), Table(1, 4));
  CHECK(signs.index == std::vector<int32_t>{2, 3, 2, 0, 1, 2});
  CHECK(signs.weight == std::vector<float>{1, 1, 1, 1, -1, 1});
  const Candidates combination = draw(tests::family("combination", 2, 2), Table(1, 4));
  CHECK(combination.index == std::vector<int32_t>{0, 2, 3, 0});
  CHECK(combination.weight == std::vector<float>{0.7234076857566833f, -0.12912105023860931f,
                                                 0.06241657957434654f, -0.5558924078941345f});
}

TEST_CASE("principal components are orthonormal, fall in variance and diagonalise the covariance") {
  const Table table = tests::random_table(200, 3, 6);
  const DatasetView data = table.view();
  const std::vector<const float*> columns{data.column(0), data.column(1), data.column(2)};
  std::vector<uint32_t> rows(200);
  std::iota(rows.begin(), rows.end(), 0u);
  const std::vector<double> weights(200, 1.0);
  const PrincipalComponents pc =
      principal_components({0, 1, 2}, {columns.data(), rows, weights}, table.medians.data());
  REQUIRE(pc.size() == 3);
  std::vector<double> scores(3 * 200);
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < 200; ++i)
      for (size_t f = 0; f < 3; ++f)
        scores[k * 200 + i] += pc.axes[k * 3 + f] * static_cast<double>(columns[f][i]);
  for (size_t k = 0; k < 3; ++k) {
    const double mean =
        std::accumulate(scores.begin() + static_cast<ptrdiff_t>(200 * k),
                        scores.begin() + static_cast<ptrdiff_t>(200 * (k + 1)), 0.0) /
        200.0;
    for (size_t i = 0; i < 200; ++i) scores[k * 200 + i] -= mean;
  }
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 3; ++b) {
      CHECK(std::fabs(product(pc.axes, 3, a, b) - (a == b ? 1.0 : 0.0)) < 1e-12);
      const double variance = a == b ? pc.deviation[a] * pc.deviation[a] : 0.0;
      CHECK(std::fabs(product(scores, 200, a, b) / 200.0 - variance) < 1e-9);
    }
  CHECK(pc.deviation[0] >= pc.deviation[1]);
  CHECK(pc.deviation[1] >= pc.deviation[2]);
}
