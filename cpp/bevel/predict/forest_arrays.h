// A read-only view of a flat forest's arrays, whoever owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bevel {

struct ForestArrays {
  int32_t n_features = 0;
  int32_t n_classes = 0;  // 0: regression
  std::span<const int32_t> levels;
  std::span<const float> medians;

  std::span<const int64_t> tree_offset;
  std::span<const int32_t> right;
  std::span<const float> threshold;
  std::span<const uint8_t> flags;
  std::span<const int64_t> entry_offset;
  std::span<const int32_t> entry_index;
  std::span<const float> entry_weight;
  std::span<const double> leaf_value;
  std::span<const int32_t> bits_index;
  std::span<const int64_t> bits_offset;
  std::span<const uint32_t> bits;
  std::span<const int64_t> rotation_offset;
  std::span<const int64_t> rotation_entry_offset;
  std::span<const int32_t> rotation_index;
  std::span<const float> rotation_weight;

  size_t n_trees() const { return tree_offset.size() - 1; }
};

}  // namespace bevel
