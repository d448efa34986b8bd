// Arithmetic as IEEE 754 has it, whatever other libraries have made of the process: some switch
// denormals off when they are loaded, and a forest must not depend on what else is loaded.
#pragma once

#include <cfenv>

namespace bevel {

class PlainArithmetic {
 public:
  PlainArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainArithmetic() { std::fesetenv(&before_); }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace bevel
