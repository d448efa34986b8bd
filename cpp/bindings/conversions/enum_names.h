// Enumerations as the strings that Python uses for them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <string>

#include "bevel/support/enum_names.h"

// Names stand beside their enumerators in the core, in the same order.
template <class Enum, size_t N>
struct EnumNames {
  std::array<const char*, N> names;

  Enum parse(const std::string& text) const { return bevel::parse_name<Enum>(names, text); }
  std::string name(Enum value) const { return names[static_cast<size_t>(value)]; }
};

template <class Enum, size_t N>
constexpr EnumNames<Enum, N> names_of(const std::array<const char*, N>& names) {
  return {names};
}

template <class Class, class Owner, class Enum, size_t N>
void def_enum(Class& c, const char* name, Enum Owner::* member, const EnumNames<Enum, N>& names) {
  c.def_prop_rw(
      name, [member, &names](const Owner& o) { return names.name(o.*member); },
      [member, &names](Owner& o, const std::string& text) { o.*member = names.parse(text); });
}
