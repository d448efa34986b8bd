// Small numbers of a fixed number of bits, and bitmaps with counts, both read in place: in a
// mapped file, at any alignment. Sizes are checked once; the caller checks indices.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace bevel {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

using Bytes = std::span<const uint8_t>;

template <class T>
T load(const uint8_t* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}
template <class T>
T load(Bytes bytes, size_t i) {
  return load<T>(bytes.data() + i * sizeof(T));
}

// Number i occupies bits [i * width, (i + 1) * width), lowest bit first. Eight spare bytes at the
// end let one 8-byte load fetch any number, which limits the width.
class PackedBits {
 public:
  static constexpr unsigned kGreatestWidth = 57;
  static constexpr size_t kSpareBytes = 8;

  PackedBits() = default;
  PackedBits(Bytes bytes, unsigned width)
      : bytes_(bytes), width_(width), mask_((uint64_t{1} << width) - 1) {}

  static size_t n_bytes(size_t n, unsigned width) { return (n * width + 7) / 8 + kSpareBytes; }

  uint64_t operator[](size_t i) const {
    const size_t bit = i * width_;
    return (load<uint64_t>(bytes_.data() + bit / 8) >> (bit % 8)) & mask_;
  }

 private:
  Bytes bytes_;
  unsigned width_ = 0;
  uint64_t mask_ = 0;
};

// Writes numbers for PackedBits; bits beyond the width are lost.
inline std::vector<uint8_t> pack_bits(std::span<const uint64_t> numbers, unsigned width) {
  std::vector<uint8_t> bytes(PackedBits::n_bytes(numbers.size(), width));
  const uint64_t mask = (uint64_t{1} << width) - 1;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t bit = i * width;
    uint8_t* place = bytes.data() + bit / 8;
    const uint64_t word = load<uint64_t>(place) | (numbers[i] & mask) << (bit % 8);
    std::memcpy(place, &word, sizeof word);
  }
  return bytes;
}

// A bitmap in 64-bit words with the number of ones before every block of eight words, and in total.
class CountedBitmap {
 public:
  static constexpr size_t kBlockWords = 8;
  static constexpr size_t kBlockBits = 64 * kBlockWords;

  CountedBitmap() = default;
  CountedBitmap(Bytes words, Bytes counts) : words_(words), counts_(counts) {}

  static size_t n_words(size_t n) { return (n + 63) / 64; }
  static size_t n_counts(size_t n) { return (n + kBlockBits - 1) / kBlockBits + 1; }

  bool operator[](size_t i) const { return (load<uint64_t>(words_, i / 64) >> (i % 64)) & 1u; }
  // Number of ones before bit i, according to the counts of the file.
  int64_t rank(size_t i) const {
    auto n = load<uint64_t>(counts_, i / kBlockBits);
    for (size_t word = i / kBlockBits * kBlockWords; word < i / 64; ++word)
      n += ones(load<uint64_t>(words_, word));
    if (i % 64) n += ones(load<uint64_t>(words_, i / 64) << (64 - i % 64));
    return static_cast<int64_t>(n);
  }
  int64_t total() const { return load<int64_t>(counts_, counts_.size() / sizeof(int64_t) - 1); }
  // Whether all counts are correct and no bit is set beyond the first n.
  bool is_sound(size_t n) const {
    int64_t count = 0;
    for (size_t word = 0; word < n_words(n); ++word) {
      if (word % kBlockWords == 0 && load<int64_t>(counts_, word / kBlockWords) != count)
        return false;
      count += static_cast<int64_t>(ones(load<uint64_t>(words_, word)));
    }
    const bool ends = n % 64 == 0 || load<uint64_t>(words_, n / 64) >> (n % 64) == 0;
    return ends && count == total();
  }

 private:
  static uint64_t ones(uint64_t word) { return static_cast<uint64_t>(std::popcount(word)); }

  Bytes words_, counts_;
};

}  // namespace bevel
