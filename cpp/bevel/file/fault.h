// Error of an invalid model file.
#pragma once

#include <stdexcept>
#include <string>

namespace bevel {

class FileFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fault(const std::string& what) {
  throw FileFault(what + " The file is damaged.");
}

}  // namespace bevel
