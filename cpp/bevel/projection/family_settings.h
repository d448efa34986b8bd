// Settings of families of directions, by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bevel/projection/candidates.h"
#include "bevel/support/enum_names.h"

namespace bevel {

struct DatasetView;
struct NodeRows;

// A source of directions for a node, such as a user-defined function.
class DirectionSource {
 public:
  virtual ~DirectionSource() = default;
  // Appends directions over the numeric features, counted from 0.
  virtual void propose(const NodeRows& node, const DatasetView& data, uint64_t seed,
                       Candidates& out) const = 0;
};

// Where a setting is read to, which says of which type it is.
using SettingTarget =
    std::variant<bool*, int32_t*, double*, std::string*, std::vector<int32_t>*,
                 std::vector<double>*, std::vector<std::array<int32_t, 4>>*,
                 std::shared_ptr<const Candidates>*, std::shared_ptr<const DirectionSource>*>;

// The settings that a caller gives; a family reads its own when it is made.
class FamilySettings {
 public:
  virtual ~FamilySettings() = default;
  // Sets the target if a setting of this name is given.
  virtual void read(const char* name, SettingTarget target) = 0;

  // For enumerations; names are those of all values, in their order.
  template <class Enum, size_t N>
  void read_name(const char* name, const std::array<const char*, N>& names, Enum& value) {
    std::string text = names[static_cast<size_t>(value)];
    read(name, &text);
    value = parse_name<Enum>(names, text);
  }
};

}  // namespace bevel
