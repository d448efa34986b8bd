// One-byte codes of sparse columns: the default code of each column, and row by row the codes that
// differ from it. Columns are in groups, so that the sums of a group stay in the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bevel/support/check.h"

namespace bevel {

// The codes of a column that differ from its default code, in any order.
struct ColumnEntry {
  uint32_t row;
  uint8_t code;
};
struct CodedColumn {
  std::vector<ColumnEntry> entries;
  uint8_t default_code = 0;
};

// Codes of some columns that are neighbours.
class SparseCodeGroup {
 public:
  static constexpr size_t kMaxColumns = size_t{1} << 16;

  // The code of a column of the group, counted from its first one, in one number.
  struct Entry {
    uint32_t packed;
    size_t column() const { return packed >> 8; }
    size_t code() const { return packed & 0xff; }
  };

  // fill(k, out): sets the codes of the k-th of `width` columns.
  template <class Fill>
  void build(size_t n_rows, size_t width, Fill fill) {
    std::vector<CodedColumn> columns(width);
    begin_.assign(n_rows + 1, 0);
    defaults_.resize(width);
    size_t n = 0;
    for (size_t k = 0; k < width; ++k) {
      fill(k, columns[k]);
      defaults_[k] = columns[k].default_code;
      for (const ColumnEntry& each : columns[k].entries) ++begin_[each.row];
      n += columns[k].entries.size();
    }
    require(n < (size_t{1} << 32), "[boost] too many values in a group of sparse columns");
    uint32_t first = 0;  // begin_[row] is where the next entry of the row goes
    for (uint32_t& each : begin_) first += std::exchange(each, first);
    entries_.resize(n);
    for (size_t k = 0; k < width; ++k) {
      for (const ColumnEntry& each : columns[k].entries)
        entries_[begin_[each.row]++] = {static_cast<uint32_t>(k << 8 | each.code)};
      columns[k] = {};
    }
    for (size_t row = n_rows; row > 0; --row) begin_[row] = begin_[row - 1];
    begin_[0] = 0;
  }

  // Ascending by column.
  std::span<const Entry> entries(size_t row) const {
    return {entries_.data() + begin_[row], entries_.data() + begin_[row + 1]};
  }
  size_t n_entries() const { return entries_.size(); }
  uint8_t default_code(size_t column) const { return defaults_[column]; }
  uint8_t code(size_t column, size_t row) const {
    for (const Entry each : entries(row)) {
      if (each.column() < column) continue;
      if (each.column() == column) return static_cast<uint8_t>(each.code());
      break;
    }
    return defaults_[column];
  }

 private:
  std::vector<uint32_t> begin_;  // by row, and one more
  std::vector<Entry> entries_;
  std::vector<uint8_t> defaults_;  // by column
};

class SparseCodes {
 public:
  // n_values: about how many codes differ from the defaults.
  void resize(size_t n_rows, size_t n_columns, size_t n_values) {
    // A group has as many columns as give a row a few entries in it.
    constexpr size_t kEntriesOfRow = 4, kMinColumns = 16;
    const size_t wide = n_values == 0 ? n_columns : kEntriesOfRow * n_rows * n_columns / n_values;
    const size_t most = std::clamp(wide, kMinColumns, SparseCodeGroup::kMaxColumns);
    n_columns_ = n_columns;
    const size_t n_wanted = std::max<size_t>(1, (n_columns + most - 1) / most);
    width_ = std::max<size_t>(1, (n_columns + n_wanted - 1) / n_wanted);
    groups_.resize((n_columns + width_ - 1) / width_);
  }

  size_t n_groups() const { return groups_.size(); }
  size_t first(size_t group) const { return group * width_; }
  size_t width(size_t group) const { return std::min(width_, n_columns_ - first(group)); }
  SparseCodeGroup& group(size_t group) { return groups_[group]; }
  const SparseCodeGroup& group(size_t group) const { return groups_[group]; }
  uint8_t code(size_t column, size_t row) const {
    return groups_[column / width_].code(column % width_, row);
  }
  size_t n_entries() const {
    size_t n = 0;
    for (const SparseCodeGroup& each : groups_) n += each.n_entries();
    return n;
  }

 private:
  size_t n_columns_ = 0, width_ = 1;
  std::vector<SparseCodeGroup> groups_;
};

}  // namespace bevel
