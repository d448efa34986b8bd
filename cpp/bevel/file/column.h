// A reader of one encoded array in a file: any value without reading the others, every input
// checked. Values are 64-bit words: integers, or floats by their bit pattern. An encoding
// is a chain such as "filled.codes.packed", in which each one reads from the next;
// docs/reference/file_format and src/bevel/files/columns.py describe them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "bevel/file/packed_bits.h"

namespace bevel {

// An encoded array as the file describes it.
struct ColumnSource {
  std::string encoding;
  std::string dtype;  // of the decoded array, such as "<i4"
  int64_t length = 0;
  std::map<std::string, int64_t> meta;
  std::map<std::string, Bytes> parts;
};

class Column {
 public:
  virtual ~Column() = default;

  size_t size() const { return size_; }
  int64_t at(size_t i) const {
    if (i >= size_) refuse(i);
    return word(i);
  }
  float real(size_t i) const;
  // Sum of the values of [first, last), which is in range; it wraps.
  virtual uint64_t sum(size_t first, size_t last) const;

  // Values from `first` on, a multiple of kBlock; throws if they contradict checkpoints.
  static constexpr size_t kBlock = 4096;
  virtual void read(size_t first, std::span<int64_t> out) const;
  // Finds contradictions that at() and read() do not encounter.
  virtual void verify() const {}

 protected:
  explicit Column(size_t size) : size_(size) {}
  // The value at an index that is in range.
  virtual int64_t word(size_t i) const = 0;

 private:
  [[noreturn]] void refuse(size_t i) const;

  size_t size_;
};

// Checks the sizes of all parts and nothing else, so that opening costs the same for any length.
// The memory of the parts must outlive the column.
std::unique_ptr<Column> open_column(const ColumnSource& source);

}  // namespace bevel
