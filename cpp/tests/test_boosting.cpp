#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bevel/boosting/direction_bins.h"
#include "bevel/boosting/gradient_sampling.h"
#include "bevel/boosting/splitting/cut_search.h"
#include "bevel/boosting/splitting/row_partition.h"
#include "bevel/boosting/team.h"
#include "bevel/random/stream.h"
#include "bevel/support/thread_pool.h"
#include "check.h"

using namespace bevel;

namespace {

// Work that needs a team.
template <class Work>
void with_team(Work work, int n_threads = 1) {
  ThreadPool* running = nullptr;
  ThreadPool pool(
      n_threads, 1,
      [&](int worker, size_t) {
        Team team(*running, worker);
        work(team);
      },
      static_cast<size_t>(n_threads));
  running = &pool;
  pool.run();
}

double expected_number(const std::vector<double>& sizes, double certain) {
  double sum = 0.0;
  for (const double size : sizes) sum += std::min(1.0, size / certain);
  return sum;
}

std::vector<double> some_sizes(size_t n, uint64_t seed, double spread) {
  Stream stream(root_key(seed, n), Purpose::bag);
  std::vector<double> sizes(n);
  for (double& size : sizes) size = std::exp(-spread * std::fabs(stream.normal()));
  sizes[n / 2] = 1.0;
  return sizes;
}

}  // namespace

TEST_CASE("as many rows are drawn on average as are wanted") {
  for (const double spread : {0.0, 0.5, 4.0, 15.0})
    for (const double share : {0.01, 0.3, 0.9}) {
      const std::vector<double> sizes = some_sizes(3000, 1, spread);
      const double found = expected_number(sizes, certain_size(sizes, share * 3000.0));
      CHECK(found <= share * 3000.0 * (1.0 + 1e-6));
      CHECK(found >= share * 3000.0 * 0.99);
    }
}

TEST_CASE("rows without gradient are drawn only where all are without") {
  std::vector<double> sizes(100, 0.0);
  sizes[3] = 1.0;
  sizes[4] = 0.25;
  const double certain = certain_size(sizes, 50.0);
  CHECK(certain <= 0.25);
  CHECK(certain > 0.0);
}

TEST_CASE("rows that are drawn stand for the others") {
  const size_t n = 400;
  std::vector<Gradient> gradients(n);
  std::vector<uint32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  Stream stream(root_key(3, 0), Purpose::bag);
  for (Gradient& each : gradients) each = {stream.normal(), 1.0};
  double whole = 0.0, sum_of_sums = 0.0, number = 0.0;
  for (const Gradient& each : gradients) whole += each.gradient;
  constexpr int kDraws = 2000;
  std::vector<int> times(n, 0);
  with_team([&](Team& team) {
    for (int d = 0; d < kDraws; ++d) {
      GradientSampling sampling;
      std::vector<uint32_t> drawn, others;
      std::vector<double> factors(n, 0.0);
      sampling.begin(n);
      sampling.add(gradients, rows, team);
      sampling.draw(rows, 0.25, mix(static_cast<uint64_t>(d)), drawn, others, factors);
      CHECK_EQ(drawn.size() + others.size(), n);
      number += static_cast<double>(drawn.size());
      for (const uint32_t row : drawn) {
        ++times[row];
        sum_of_sums += factors[row] * gradients[row].gradient;
        CHECK(factors[row] >= 1.0);
      }
    }
  });
  // Sums have a standard deviation of about 30, numbers of about 9: false in one of 10^6 runs.
  CHECK(std::fabs(sum_of_sums / kDraws - whole) < 5.0 * 30.0 / std::sqrt(kDraws));
  CHECK(std::fabs(number / kDraws - 100.0) < 5.0 * 9.0 / std::sqrt(kDraws) + 1.0);
  // The largest gradient is drawn more often than the smallest.
  const auto smaller = [](const Gradient& a, const Gradient& b) {
    return std::fabs(a.gradient) < std::fabs(b.gradient);
  };
  const auto [low, high] = std::minmax_element(gradients.begin(), gradients.end(), smaller);
  CHECK(times[static_cast<size_t>(high - gradients.begin())] >
        2 * times[static_cast<size_t>(low - gradients.begin())]);
}

TEST_CASE("one row at least is drawn") {
  const std::vector<Gradient> gradients{{0.1, 1.0}, {2.0, 1.0}, {0.0, 1.0}};
  const std::vector<uint32_t> rows{0, 1, 2};
  with_team([&](Team& team) {
    for (uint64_t key = 0; key < 50; ++key) {
      GradientSampling sampling;
      std::vector<uint32_t> drawn, others;
      std::vector<double> factors(3, 0.0);
      sampling.begin(3);
      sampling.add(gradients, rows, team);
      sampling.draw(rows, 1e-6, mix(key), drawn, others, factors);
      CHECK_EQ(drawn.size(), 1u);
      CHECK_EQ(others.size(), 2u);
    }
  });
}

TEST_CASE("codes of many values are those of single ones") {
  Stream stream(root_key(5, 0), Purpose::bag);
  for (const int max_bins : {2, 17, 255}) {
    std::vector<float> values(3000);
    for (float& value : values) value = static_cast<float>(stream.normal());
    values[7] = values[8] = 40.0f;
    const DirectionBins bins({values.data(), 1000}, max_bins);
    std::vector<int32_t> cells(values.size());
    std::vector<uint8_t> codes(values.size() * 3, 255);
    bins.code_values(values.data(), values.size(), cells.data(), 3, codes.data());
    for (size_t i = 0; i < values.size(); ++i) CHECK_EQ(codes[3 * i], bins.code(values[i]));
    for (int bin = 0; bin + 1 < bins.n_bins(); ++bin) {
      const float edge = bins.threshold(bin);
      CHECK(bins.code(edge) <= bin);
      CHECK(bins.code(std::nextafter(edge, 1e30f)) > bin);
    }
  }
}

TEST_CASE("a cut that reaches a score is never passed over, and most that do not are") {
  Stream stream(root_key(5, 0), Purpose::bag);
  size_t n_below = 0, n_passed_over = 0;
  for (int round = 0; round < 4000; ++round) {
    const int n_bits = 2 + static_cast<int>(stream.below(28));
    const auto part = [&] { return static_cast<int64_t>(stream.below(uint64_t{1} << n_bits)); };
    const size_t n = 1 + stream.below(40);
    // Sums stay below 2^30, as those of a tree do.
    std::vector<PackedSum> prefixes(n);
    PackedSum sum = 0;
    for (PackedSum& prefix : prefixes) prefix = sum += pack((part() - part()) / 64, part() / 64);
    const PackedSum node = sum + pack((part() - part()) / 64, part() / 64);
    CutRules rules;
    rules.min_hessian = 1.0 + static_cast<double>(stream.below(3));
    rules.penalty =
        stream.below(2) ? 0.0 : std::ldexp(1.0, static_cast<int>(stream.below(60)) - 10);
    double best = -1.0;
    for (const PackedSum left : prefixes) {
      const PackedSum right = node - left;
      if (hessian_of(left) < rules.min_hessian || hessian_of(right) < rules.min_hessian) continue;
      const auto score = [&](PackedSum side) {
        const double gradient = gradient_of(side);
        return gradient * gradient / (hessian_of(side) + rules.penalty);
      };
      best = std::max(best, score(left) + score(right));
    }
    if (best >= 0.0) CHECK(may_reach(prefixes.data(), n, node, rules, best));
    if (best <= 0.0 || rules.penalty > 0x1.0p39) continue;
    ++n_below;
    n_passed_over += !may_reach(prefixes.data(), n, node, rules, best * 1.0001);
  }
  CHECK(n_below > 1000);
  CHECK(n_passed_over == n_below);
}

TEST_CASE("rows are parted as a stable partition parts them") {
  Stream stream(root_key(7, 0), Purpose::bag);
  for (const int n_threads : {1, 3})
    for (const size_t n : {size_t{1}, size_t{2}, size_t{1000}, size_t{16385}, size_t{100000}})
      for (const uint64_t share : {0, 1, 50, 99, 100}) {
        std::vector<uint8_t> codes(n * kGroupColumns), goes_left(kCodes, 0);
        std::fill_n(goes_left.begin(), 7, uint8_t{1});
        std::vector<uint32_t> rows(n);
        std::vector<PackedSum> stats(n);
        for (size_t i = 0; i < n; ++i) {
          codes[i * kGroupColumns] = stream.below(100) < share ? 6 : 7;
          rows[i] = static_cast<uint32_t>(n - 1 - i);
          stats[i] = static_cast<PackedSum>(rows[i]) * 3;
        }
        std::vector<uint32_t> expected = rows;
        const auto is_left = [&](uint32_t row) { return codes[row * kGroupColumns] == 6; };
        const auto middle = std::stable_partition(expected.begin(), expected.end(), is_left);
        size_t n_left = 0;
        with_team(
            [&](Team& team) {
              RowPartition partition(team);
              const RowTest test{codes.data(), goes_left.data(), n > 1000};
              n_left = partition.run(test, rows, stats);
            },
            n_threads);
        CHECK_EQ(n_left, static_cast<size_t>(middle - expected.begin()));
        CHECK(rows == expected);
        for (size_t i = 0; i < n; ++i) CHECK_EQ(stats[i], static_cast<PackedSum>(rows[i]) * 3);
      }
}
