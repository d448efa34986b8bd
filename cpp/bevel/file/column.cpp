#include "bevel/file/column.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include "bevel/file/fault.h"

namespace bevel {
namespace {

// No array is longer; sizes in bits and bytes stay far from overflow.
constexpr int64_t kLongest = int64_t{1} << 48;

int64_t plus(int64_t a, uint64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + b); }

// Takes parts and numbers of one link of the chain out of the source, with their sizes checked.
class Link {
 public:
  Link(const ColumnSource& source, std::string_view name) : source_(source), name_(name) {}

  Bytes part(const char* name, size_t n_bytes) const {
    const auto found = source_.parts.find(name_ + "." + name);
    if (found == source_.parts.end()) fault("Part " + name_ + "." + name + " is missing.");
    if (found->second.size() != n_bytes)
      fault("Part " + name_ + "." + name + " must have " + std::to_string(n_bytes) +
            " bytes; got " + std::to_string(found->second.size()) + ".");
    return found->second;
  }
  size_t part_bytes(const char* name) const {
    const auto found = source_.parts.find(name_ + "." + name);
    return found == source_.parts.end() ? 0 : found->second.size();
  }
  int64_t number(const char* name) const {
    const auto found = source_.meta.find(name_ + "." + name);
    if (found == source_.meta.end()) fault("Number " + name_ + "." + name + " is missing.");
    return found->second;
  }
  PackedBits packed(size_t n) const {
    const int64_t width = number("width");
    if (width < 1 || width > static_cast<int64_t>(PackedBits::kGreatestWidth))
      fault(name_ + ".width must be from 1 to 57; got " + std::to_string(width) + ".");
    const auto bits = static_cast<unsigned>(width);
    return {part("values", PackedBits::n_bytes(n, bits)), bits};
  }
  CountedBitmap bitmap(size_t n) const {
    const CountedBitmap map(part("bitmap", 8 * CountedBitmap::n_words(n)),
                            part("counts", 8 * CountedBitmap::n_counts(n)));
    if (map.total() < 0 || map.total() > static_cast<int64_t>(n))
      fault(name_ + ".counts must end with at most " + std::to_string(n) + "; got " +
            std::to_string(map.total()) + ".");
    return map;
  }

 private:
  const ColumnSource& source_;
  std::string name_;
};

// The values one after another, in the type of the array.
template <class T>
class RawColumn final : public Column {
 public:
  RawColumn(size_t n, Bytes values) : Column(n), values_(values) {}

 private:
  int64_t word(size_t i) const override { return static_cast<int64_t>(load<T>(values_, i)); }

  Bytes values_;
};

// One value throughout.
class ConstantColumn final : public Column {
 public:
  ConstantColumn(size_t n, const Link& link) : Column(n), word_(link.number("word")) {}

  uint64_t sum(size_t first, size_t last) const override {
    return static_cast<uint64_t>(word_) * (last - first);
  }

 private:
  int64_t word(size_t) const override { return word_; }

  int64_t word_;
};

// base plus a number of few bits.
class PackedColumn final : public Column {
 public:
  PackedColumn(size_t n, const Link& link)
      : Column(n), base_(link.number("base")), bits_(link.packed(n)) {}

  uint64_t sum(size_t first, size_t last) const override {
    uint64_t sum = static_cast<uint64_t>(base_) * (last - first);
    for (size_t i = first; i < last; ++i) sum += bits_[i];
    return sum;
  }

 private:
  int64_t word(size_t i) const override { return plus(base_, bits_[i]); }

  int64_t base_;
  PackedBits bits_;
};

// Positions in a table of the distinct values.
class CodesColumn final : public Column {
 public:
  CodesColumn(std::unique_ptr<Column> table, std::unique_ptr<Column> codes)
      : Column(codes->size()), table_(std::move(table)), codes_(std::move(codes)) {}

 private:
  int64_t word(size_t i) const override { return table_->at(static_cast<size_t>(codes_->at(i))); }

  std::unique_ptr<Column> table_, codes_;
};

// Differences, with every 64th value stored.
class StepsColumn final : public Column {
 public:
  static constexpr size_t kStride = 64;
  static_assert(kBlock % kStride == 0);

  static size_t n_starts(size_t n) { return (n + kStride - 1) / kStride; }
  static size_t n_steps(size_t n) { return n ? n - 1 : 0; }

  StepsColumn(size_t n, Bytes starts, std::unique_ptr<Column> steps)
      : Column(n), starts_(starts), steps_(std::move(steps)) {}

  void read(size_t first, std::span<int64_t> out) const override {
    for (size_t k = 0; k < out.size(); ++k) {
      const size_t i = first + k;
      if (i == 0) {
        out[k] = start(0);
        continue;
      }
      const int64_t before = k ? out[k - 1] : word(i - 1);
      out[k] = plus(before, static_cast<uint64_t>(steps_->at(i - 1)));
      if (i % kStride == 0 && out[k] != start(i / kStride))
        fault("steps.starts must agree with the steps.");
    }
  }

 private:
  int64_t start(size_t block) const { return load<int64_t>(starts_, block); }
  int64_t word(size_t i) const override {
    return plus(start(i / kStride), steps_->sum(i / kStride * kStride, i));
  }

  Bytes starts_;
  std::unique_ptr<Column> steps_;
};

// One value nearly everywhere, and a column of the others.
class FilledColumn final : public Column {
 public:
  FilledColumn(size_t n, int64_t word, CountedBitmap is_other, std::unique_ptr<Column> others)
      : Column(n), word_(word), is_other_(is_other), others_(std::move(others)) {}

  void verify() const override {
    if (!is_other_.is_sound(size())) fault("filled.counts must count the ones of the bitmap.");
  }

 private:
  int64_t word(size_t i) const override {
    return is_other_[i] ? others_->at(static_cast<size_t>(is_other_.rank(i))) : word_;
  }

  int64_t word_;
  CountedBitmap is_other_;
  std::unique_ptr<Column> others_;
};

template <class T>
std::unique_ptr<Column> open_raw(size_t n, const Link& link, const char* part) {
  return std::make_unique<RawColumn<T>>(n, link.part(part, n * sizeof(T)));
}

std::unique_ptr<Column> open_raw(const std::string& dtype, size_t n, const Link& link,
                                 const char* part) {
  if (dtype == "|i1") return open_raw<int8_t>(n, link, part);
  if (dtype == "<i2") return open_raw<int16_t>(n, link, part);
  if (dtype == "<i4") return open_raw<int32_t>(n, link, part);
  if (dtype == "<i8") return open_raw<int64_t>(n, link, part);
  if (dtype == "|u1") return open_raw<uint8_t>(n, link, part);
  if (dtype == "<u2") return open_raw<uint16_t>(n, link, part);
  if (dtype == "<u4" || dtype == "<f4") return open_raw<uint32_t>(n, link, part);
  if (dtype == "<u8" || dtype == "<f8") return open_raw<uint64_t>(n, link, part);
  fault("A column must hold integers or floats; got type " + dtype + ".");
}

size_t item_size(const std::string& dtype) {
  return dtype.size() == 3 && dtype[2] >= '1' && dtype[2] <= '8'
             ? static_cast<size_t>(dtype[2] - '0')
             : 1;
}

std::unique_ptr<Column> open_link(const ColumnSource& source, std::string_view chain, size_t n);

// Opens the rest of a chain if its first encoding is allowed. Fewer encodings are allowed from link
// to link, so that chains are short.
std::unique_ptr<Column> open_next(const ColumnSource& source, std::string_view chain, size_t n,
                                  std::initializer_list<std::string_view> allowed) {
  const std::string_view name = chain.substr(0, chain.find('.'));
  if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
    fault("A column cannot be encoded as " + source.encoding + ".");
  return open_link(source, chain, n);
}

std::unique_ptr<Column> open_link(const ColumnSource& source, std::string_view chain, size_t n) {
  const size_t dot = chain.find('.');
  const std::string_view name = chain.substr(0, dot);
  const std::string_view rest =
      dot == std::string_view::npos ? std::string_view() : chain.substr(dot + 1);
  const Link link(source, name);
  if (name == "filled") {
    const CountedBitmap map = link.bitmap(n);
    auto others = open_next(source, rest, static_cast<size_t>(map.total()),
                            {"raw", "constant", "codes", "packed"});
    return std::make_unique<FilledColumn>(n, link.number("word"), map, std::move(others));
  }
  if (name == "steps")
    return std::make_unique<StepsColumn>(
        n, link.part("starts", 8 * StepsColumn::n_starts(n)),
        open_next(source, rest, StepsColumn::n_steps(n), {"constant", "packed"}));
  if (name == "codes") {
    const size_t n_table = link.part_bytes("table") / item_size(source.dtype);
    return std::make_unique<CodesColumn>(open_raw(source.dtype, n_table, link, "table"),
                                         open_next(source, rest, n, {"packed"}));
  }
  if (!rest.empty()) fault("A column cannot be encoded as " + source.encoding + ".");
  if (name == "raw") return open_raw(source.dtype, n, link, "values");
  if (name == "constant") return std::make_unique<ConstantColumn>(n, link);
  return std::make_unique<PackedColumn>(n, link);
}

}  // namespace

float Column::real(size_t i) const {
  const int64_t value = at(i);
  if (value < 0 || value > std::numeric_limits<uint32_t>::max())
    fault("A float must have 32 bits; got more.");
  return std::bit_cast<float>(static_cast<uint32_t>(value));
}

uint64_t Column::sum(size_t first, size_t last) const {
  uint64_t sum = 0;
  for (size_t i = first; i < last; ++i) sum += static_cast<uint64_t>(at(i));
  return sum;
}

void Column::read(size_t first, std::span<int64_t> out) const {
  for (size_t k = 0; k < out.size(); ++k) out[k] = at(first + k);
}

void Column::refuse(size_t i) const {
  fault("An index into a column must be less than " + std::to_string(size_) + "; got " +
        std::to_string(static_cast<int64_t>(i)) + ".");
}

std::unique_ptr<Column> open_column(const ColumnSource& source) {
  if (source.length < 0 || source.length > kLongest)
    fault("A column must have from 0 to 2^48 values; got " + std::to_string(source.length) + ".");
  return open_next(source, source.encoding, static_cast<size_t>(source.length),
                   {"raw", "constant", "codes", "packed", "steps", "filled"});
}

}  // namespace bevel
