#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bevel/random/stream.h"
#include "bevel/support/arithmetic/dot.h"
#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/float_environment.h"
#include "bevel/support/arithmetic/grid_scale.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/arithmetic/many_values.h"
#include "bevel/support/arithmetic/normal_tail.h"
#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/arithmetic/student_t.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/huge_pages.h"
#include "bevel/support/instruction_set.h"
#include "bevel/support/thread_pool.h"
#include "check.h"

using namespace bevel;

namespace {

bool is_close(double got, double wanted, double relative) {
  return std::fabs(got - wanted) <= relative * std::fabs(wanted);
}

}  // namespace

TEST_CASE("a pool runs every job once, for any number of threads") {
  for (const int n_threads : {1, 3}) {
    std::array<std::atomic<int>, 100> runs{};
    ThreadPool pool(n_threads, runs.size(), [&](int, size_t job) { ++runs[job]; });
    pool.run();
    CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
    CHECK_EQ(pool.jobs_done(), runs.size());
  }
}

TEST_CASE("a pool names its workers from 0 to the number of threads less 1") {
  std::atomic<int> n_out_of_range = 0;
  ThreadPool pool(3, 50, [&](int worker, size_t) { n_out_of_range += worker < 0 || worker >= 3; });
  pool.run();
  CHECK_EQ(n_out_of_range.load(), 0);
}

TEST_CASE("a pool carries the exception of a job to the caller and begins no further jobs") {
  std::atomic<int> n_run = 0;
  ThreadPool pool(1, 1000, [&](int, size_t job) {
    ++n_run;
    if (job == 3) throw std::runtime_error("job 3");
  });
  CHECK_EQ(tests::thrown<std::runtime_error>([&] { pool.run(); }), std::string("job 3"));
  CHECK_EQ(n_run.load(), 4);
}

TEST_CASE("a pool whose progress says no ends its jobs and throws Cancelled") {
  std::atomic<int> n_begun = 0;
  ThreadPool pool(2, 10, [&](int, size_t) {
    ++n_begun;
    for (;;) poll_cancellation();
  });
  CHECK_THROWS_AS(pool.run([&](size_t) { return n_begun == 0; }), Cancelled);
  CHECK(n_begun <= 2);
  CHECK_EQ(pool.jobs_done(), size_t{0});
}

TEST_CASE("a pool ends when the token of the calling thread says so, for any number of threads") {
  for (const int n_threads : {1, 3}) {
    std::atomic<bool> begun = false;
    CancellationToken token([&] { return begun.load(); });
    const CancellationScope scope(token);
    ThreadPool pool(n_threads, 10, [&](int, size_t) {
      begun = true;
      for (;;) poll_cancellation();
    });
    CHECK_THROWS_AS(pool.run(), Cancelled);
  }
}

TEST_CASE("threads are no more than parts of work, nor than a few for each core") {
  CHECK_EQ(useful_threads(8, 3), 3);
  CHECK_EQ(useful_threads(2, 100), 2);
  CHECK_EQ(useful_threads(0, 100), 1);
  CHECK_EQ(useful_threads(5, 0), 1);
  const int most = std::numeric_limits<int>::max();
  const auto n_cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CHECK(useful_threads(most, static_cast<size_t>(most)) <= 4 * n_cores);
}

TEST_CASE("polls without a token do nothing, and scopes are left as they were entered") {
  poll_cancellation();
  CancellationToken outer, inner;
  inner.cancel();
  const CancellationScope scope(outer);
  {
    const CancellationScope within(inner);
    CHECK_THROWS_AS(poll_cancellation(), Cancelled);
  }
  poll_cancellation();
  CHECK(CancellationToken::current() == &outer);
}

TEST_CASE("little work between polls adds up") {
  CancellationToken token;
  token.cancel();
  const CancellationScope scope(token);
  size_t n = 0;
  CHECK_THROWS_AS(
      [&] {
        for (;; ++n) poll_cancellation(1024);
      }(),
      Cancelled);
  CHECK(n > 0 && n < 2048);
}

TEST_CASE("a job waits for all of its parts, for any number of threads") {
  for (const int n_threads : {1, 3}) {
    std::vector<int64_t> sums(4);
    ThreadPool* self = nullptr;
    ThreadPool pool(n_threads, sums.size(), [&](int worker, size_t job) {
      std::array<int64_t, 16> squares{};
      Parts parts(*self);
      for (size_t i = 0; i < squares.size(); ++i)
        parts.offer([&squares, i](int) { squares[i] = static_cast<int64_t>(i * i); });
      parts.wait(worker, true);
      sums[job] = std::accumulate(squares.begin(), squares.end(), int64_t{0});
    });
    self = &pool;
    pool.run();
    CHECK(sums == std::vector<int64_t>(4, 1240));
  }
}

TEST_CASE("the exception of a part reaches the job that waits for it") {
  std::string message;
  ThreadPool* self = nullptr;
  ThreadPool pool(1, 1, [&](int worker, size_t) {
    Parts parts(*self);
    parts.offer([](int) { throw std::runtime_error("a part"); });
    message = tests::thrown<std::runtime_error>([&] { parts.wait(worker, false); });
  });
  self = &pool;
  pool.run();
  CHECK_EQ(message, std::string("a part"));
}

TEST_CASE("parts that nobody has begun are dropped with their owner") {
  std::atomic<int> n_run = 0;
  ThreadPool* self = nullptr;
  ThreadPool pool(1, 1, [&](int, size_t) {
    Parts parts(*self);
    for (int i = 0; i < 8; ++i) parts.offer([&](int) { ++n_run; });
  });
  self = &pool;
  pool.run();
  CHECK_EQ(n_run.load(), 0);
}

TEST_CASE("logarithm and exponential agree with the C library to a few units in the last place") {
  for (const double x : {1e-310, 1e-9, 0.5, 0.9999, 1.0001, 2.0, 3.7, 1e12, 1e300})
    CHECK(is_close(fixed_log(x), std::log(x), 1e-15));
  for (const double x : {-700.0, -12.5, -1e-3, 0.0, 0.3, 1.0, 45.6, 700.0})
    CHECK(is_close(fixed_exp(x), std::exp(x), 1e-15));
  CHECK_EQ(fixed_log(1.0), 0.0);
  CHECK_EQ(fixed_exp(-1e9), 0.0);
  CHECK_EQ(x_log2_x(0.0), 0.0);
  CHECK(is_close(x_log2_x(8.0), 24.0, 1e-15));
}

TEST_CASE("logarithm, exponential and tails have the bits they had") {
  CHECK_EQ(fixed_log(3.0), 0x1.193ea7aad030bp+0);
  CHECK_EQ(fixed_exp(1.0), 0x1.5bf0a8b14576ap+1);
  CHECK_EQ(two_sided_normal_p_value(1.96), 0x1.9990c5885932p-5);
  CHECK_EQ(two_sided_p_value(2.0, 7.5), 0x1.538bccbbe069dp-4);
}

TEST_CASE("p-values agree with tables") {
  CHECK(is_close(two_sided_normal_p_value(1.959963984540054), 0.05, 1e-12));
  CHECK(is_close(two_sided_normal_p_value(-3.2905267314919255), 0.001, 1e-12));
  CHECK_EQ(two_sided_normal_p_value(0.0), 1.0);
  CHECK(is_close(two_sided_p_value(12.706204736174705, 1.0), 0.05, 1e-12));
  CHECK(is_close(two_sided_p_value(2.2281388519862753, 10.0), 0.05, 1e-12));
  CHECK_EQ(two_sided_p_value(std::numeric_limits<double>::infinity(), 4.0), 0.0);
}

TEST_CASE("sortable integers have the order of the floats they stand for") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ascending{-kInfinity, -1e30f, -1.0f, -1e-40f, 0.0f,
                                     1e-40f,     1.0f,   2.5f,  1e30f,   kInfinity};
  for (size_t i = 0; i < ascending.size(); ++i) {
    CHECK_EQ(from_sortable(sortable(ascending[i])), ascending[i]);
    if (i > 0) CHECK(sortable(ascending[i - 1]) < sortable(ascending[i]));
  }
}

TEST_CASE("an inner product is the sum of the products") {
  std::vector<double> a(21), b(21);
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i) - 7.0;
    b[i] = static_cast<double>(i % 5);
    sum += a[i] * b[i];  // whole numbers: exact in any order
  }
  CHECK_EQ(dot(a.data(), b.data(), a.size()), sum);
  CHECK_EQ(dot(a.data(), b.data(), 0), 0.0);
}

TEST_CASE("a grid keeps sums below the bits it is given, and wastes less than two of them") {
  for (const double sum : {1e-200, 0.3, 1.0, 1000.0, 1e300}) {
    const double scaled = sum * grid_scale(sum, 52);
    CHECK(scaled < 0x1p52);
    CHECK(scaled >= 0x1p50);
  }
  CHECK_EQ(grid_scale(0.0, 52), 1.0);
}

TEST_CASE("plain arithmetic rounds to nearest and is given back as it was") {
  std::fesetround(FE_UPWARD);
  {
    const PlainArithmetic arithmetic;
    CHECK_EQ(std::fegetround(), FE_TONEAREST);
  }
  CHECK_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

TEST_CASE("large vectors begin at a huge page, small ones at a cache line") {
  HugeVector<float> large(size_t{1} << 20), small(10);
  CHECK_EQ(reinterpret_cast<uintptr_t>(large.data()) % (size_t{2} << 20), size_t{0});
  CHECK_EQ(reinterpret_cast<uintptr_t>(small.data()) % 64, size_t{0});
}

TEST_CASE("every machine runs the baseline and refuses unknown instruction sets") {
  CHECK(find_instruction_set("baseline") == InstructionSet::baseline);
  CHECK_THROWS_AS(find_instruction_set("mmx"), std::invalid_argument);
}

TEST_CASE("exponentials and logarithms of many numbers have the bits of single ones") {
  Stream stream(root_key(11, 0), Purpose::bag);
  std::vector<double> x{0.0, -0.0, -708.0, -708.1, 709.0, 709.1, 1e300, -1e300, 1e-300, 0.5};
  while (x.size() < 5001) x.push_back(stream.normal() * (x.size() % 5 == 0 ? 300.0 : 3.0));
  std::vector<double> found(x.size());
  exponentials(x.data(), x.size(), found.data());
  for (size_t i = 0; i < x.size(); ++i)
    CHECK_EQ(std::bit_cast<uint64_t>(found[i]), std::bit_cast<uint64_t>(fixed_exp(x[i])));
  for (double& each : x) each = std::fabs(each) + 2.3e-308;
  x[3] = std::sqrt(2.0);
  x[4] = std::nextafter(x[3], 2.0);
  logarithms(x.data(), x.size(), found.data());
  for (size_t i = 0; i < x.size(); ++i)
    CHECK_EQ(std::bit_cast<uint64_t>(found[i]), std::bit_cast<uint64_t>(fixed_log(x[i])));
}
