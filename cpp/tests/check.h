// A test framework of one page, with the names of doctest: where that can be had as a package, its
// header takes this one's place. docs/design/core_tests.md says why it is not used today.
//
//   TEST_CASE("a sentence that is true") { CHECK(condition); CHECK_EQ(got, wanted); }
//
// A check that fails is reported and the test goes on; REQUIRE ends it.
#pragma once

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace bevel::tests {

struct Test {
  const char* file;
  const char* name;
  void (*run)();
};

inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

struct Registered {
  Registered(const char* file, const char* name, void (*run)()) {
    all_tests().push_back({file, name, run});
  }
};

inline int n_failures = 0;  // of the running test; checks belong on its own thread

struct Stop {};  // thrown by REQUIRE

inline bool report(bool passed, const char* file, int line, std::string_view what) {
  if (passed) return true;
  ++n_failures;
  std::cerr << file << ":" << line << ": not so: " << what << "\n";
  return false;
}

template <class A, class B>
void report_equal(const A& got, const B& wanted, const char* file, int line, const char* what) {
  if (report(got == wanted, file, line, what)) return;
  if constexpr (requires { std::cerr << got << wanted; })
    std::cerr << "  got " << got << ", wanted " << wanted << "\n";
}

// The message of the exception that call() throws, or an empty string when it throws none.
template <class Exception, class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    if constexpr (requires { error.what(); }) return error.what();
    return "thrown";
  }
  return {};
}

}  // namespace bevel::tests

#define BEVEL_JOIN_(a, b) a##b
#define BEVEL_JOIN(a, b) BEVEL_JOIN_(a, b)
#define BEVEL_TEST(name, function)                                                            \
  static void function();                                                                     \
  static const bevel::tests::Registered BEVEL_JOIN(function, _in)(__FILE__, name, &function); \
  static void function()
#define TEST_CASE(name) BEVEL_TEST(name, BEVEL_JOIN(test_in_line_, __LINE__))

#define CHECK(...) bevel::tests::report(bool(__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)
#define CHECK_EQ(got, wanted) \
  bevel::tests::report_equal(got, wanted, __FILE__, __LINE__, #got " == " #wanted)
#define REQUIRE(...)                                  \
  if (!CHECK(__VA_ARGS__)) throw bevel::tests::Stop { \
    }
#define CHECK_THROWS_AS(expression, type)                                                    \
  bevel::tests::report(                                                                      \
      !bevel::tests::thrown<type>([&] { static_cast<void>(expression); }).empty(), __FILE__, \
      __LINE__, #expression " throws " #type)
