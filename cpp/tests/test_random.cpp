// Golden values: a change here is another forest for every user's seed.
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "bevel/random/stream.h"
#include "check.h"

using namespace bevel;

TEST_CASE("keys of roots and children have the bits they had") {
  CHECK_EQ(root_key(0, 0), 0x9e0160293a33aaf7ULL);
  CHECK_EQ(root_key(7, 3), 0x2ec7787d9169b72fULL);
  CHECK_EQ(child_key(root_key(7, 3), false), 0xecc45f5dcf081a14ULL);
  CHECK_EQ(child_key(root_key(7, 3), true), 0x400c0fa3a6457a77ULL);
}

TEST_CASE("a stream has the bits it had") {
  Stream stream(root_key(7, 3), Purpose::candidates);
  for (const uint64_t wanted :
       {0x1684eb16ae1e885fULL, 0x6f296377e41d1b5bULL, 0x86ba73e450d7500eULL})
    CHECK_EQ(stream.next(), wanted);
}

TEST_CASE("whole, uniform and normal numbers have the bits they had") {
  Stream whole(root_key(0, 0), Purpose::bag);
  for (const uint64_t wanted : {2, 1, 5, 2, 4, 0, 4, 9}) CHECK_EQ(whole.below(10), wanted);
  Stream uniform(root_key(0, 0), Purpose::thresholds);
  for (const double wanted : {0.15231547240342613, 0.47310950083309056, 0.3373021321811074})
    CHECK_EQ(uniform.uniform(), wanted);
  Stream normal(root_key(0, 0), Purpose::rotation);
  for (const double wanted :
       {0x1.74453c90c6258p-2, -0x1.1a33ff2ffa4e9p-2, -0x1.b1f6419ac5f38p-8, 0x1.b0300077d6cc8p-2})
    CHECK_EQ(normal.normal(), wanted);
}

TEST_CASE("streams of different seeds, trees, nodes and purposes begin differently") {
  std::set<uint64_t> firsts;
  for (const uint64_t seed : {0, 1})
    for (const uint64_t tree : {0, 1})
      for (const bool right : {false, true})
        for (const Purpose purpose : {Purpose::bag, Purpose::candidates, Purpose::leaf})
          firsts.insert(Stream(child_key(root_key(seed, tree), right), purpose).next());
  CHECK_EQ(firsts.size(), size_t{24});
}

TEST_CASE("the high half of a product is that of long multiplication") {
  CHECK_EQ(multiply_high(~0ULL, ~0ULL), ~0ULL - 1);
  CHECK_EQ(multiply_high(1ULL << 63, 6), 3ULL);
  CHECK_EQ(multiply_high(0xffffffffULL, 0xffffffffULL), 0ULL);
}

// Null: uniform on ten numbers. 100000 draws; a count is off by six standard deviations (570) about
// once in 10^8 runs of another seed.
TEST_CASE("whole numbers below ten are equally frequent") {
  Stream stream(root_key(42, 0), Purpose::bag);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100000; ++i) ++counts[stream.below(10)];
  for (const int count : counts) CHECK(std::abs(count - 10000) < 570);
}

// Null: mean 0 and variance 1. 100000 draws; bounds are six standard errors.
TEST_CASE("normal numbers have mean 0 and variance 1") {
  Stream stream(root_key(43, 0), Purpose::rotation);
  double sum = 0.0, squares = 0.0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = stream.normal();
    sum += z;
    squares += z * z;
  }
  CHECK(std::fabs(sum / kDraws) < 6.0 / std::sqrt(kDraws));
  CHECK(std::fabs(squares / kDraws - 1.0) < 6.0 * std::sqrt(2.0 / kDraws));
}
