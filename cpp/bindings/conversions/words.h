// Enumerations as the words that Python uses for them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

// Order of the names is that of the enumerators.
template <class Enum, size_t N>
struct Words {
  std::array<const char*, N> names;

  Enum parse(const std::string& word) const {
    for (size_t i = 0; i < N; ++i)
      if (word == names[i]) return static_cast<Enum>(i);
    throw std::invalid_argument("[Options] unknown word '" + word + "'");
  }
  std::string name(Enum value) const { return names[static_cast<size_t>(value)]; }
};

template <class Class, class Owner, class Enum, size_t N>
void def_word(Class& c, const char* name, Enum Owner::* member, const Words<Enum, N>& words) {
  c.def_prop_rw(
      name, [member, &words](const Owner& o) { return words.name(o.*member); },
      [member, &words](Owner& o, const std::string& word) { o.*member = words.parse(word); });
}
