// Values of enumerations by the names that callers use for them.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace bevel {

// names: of all values, in their order.
template <class Enum, size_t N>
Enum parse_name(const std::array<const char*, N>& names, const std::string& text) {
  for (size_t i = 0; i < N; ++i)
    if (text == names[i]) return static_cast<Enum>(i);
  throw std::invalid_argument("[Options] unknown value '" + text + "'");
}

}  // namespace bevel
