// IEEE 754 arithmetic even if other libraries have changed the floating-point environment: some
// flush denormals to zero when they are loaded, and a forest must not depend on that.
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
