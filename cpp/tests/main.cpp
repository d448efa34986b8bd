// Runs the tests whose file or name contains one of the words given, all without words.
#include <algorithm>
#include <exception>
#include <string>

#include "check.h"

namespace {

using namespace bevel::tests;

bool is_wanted(const Test& test, const std::vector<std::string>& words) {
  const std::string text = std::string(test.file) + " " + test.name;
  return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return text.find(word) != std::string::npos;
         });
}

bool passes(const Test& test) {
  n_failures = 0;
  try {
    test.run();
  } catch (const Stop&) {
  } catch (const std::exception& error) {
    report(false, test.file, 0, std::string("it throws: ") + error.what());
  } catch (...) {
    report(false, test.file, 0, "it throws");
  }
  if (n_failures) std::cerr << "FAILED " << test.file << ": " << test.name << "\n";
  return n_failures == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  size_t n_run = 0, n_passed = 0;
  for (const Test& test : all_tests()) {
    if (!is_wanted(test, words)) continue;
    ++n_run;
    n_passed += passes(test);
  }
  std::cout << n_passed << " of " << n_run << " tests passed\n";
  return n_run > 0 && n_passed == n_run ? 0 : 1;
}
