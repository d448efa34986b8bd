// Opens a column described by any bytes, and reads it: a FileFault or values, never invalid reads.
// Where a whole column is sound, single values, blocks and sums must agree.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "bevel/file/column.h"
#include "bevel/file/fault.h"

namespace {

constexpr std::array kLinks = {"raw", "constant", "packed", "codes", "steps", "filled"};
constexpr std::array kTypes = {"|i1", "<i2", "<i4", "<i8", "|u1",
                               "<u2", "<u4", "<u8", "<f4", "<f8"};
constexpr std::array kNumbers = {"constant.word", "packed.base", "packed.width", "filled.word"};
constexpr std::array kParts = {"raw.values",   "packed.values", "codes.table",
                               "steps.starts", "filled.bitmap", "filled.counts"};
constexpr size_t kMaxRead = 1 << 16;

std::string chain(FuzzedDataProvider& data) {
  std::string text = data.PickValueInArray(kLinks);
  for (size_t more = data.ConsumeIntegralInRange<size_t>(0, 2); more; --more)
    text += std::string(".") + data.PickValueInArray(kLinks);
  return text;
}

int64_t number(FuzzedDataProvider& data) {
  return data.ConsumeBool() ? data.ConsumeIntegralInRange<int64_t>(-1, 64)
                            : data.ConsumeIntegral<int64_t>();
}

void require(bool holds) {
  if (!holds) std::abort();
}

// Blocks as a decoder reads them; throws if the column is not sound.
std::vector<int64_t> read_all(const bevel::Column& column) {
  column.verify();
  std::vector<int64_t> values(column.size());
  for (size_t first = 0; first < values.size(); first += bevel::Column::kBlock) {
    const size_t n = std::min(bevel::Column::kBlock, values.size() - first);
    column.read(first, std::span(values).subspan(first, n));
  }
  return values;
}

void compare(const bevel::Column& column, const std::vector<int64_t>& values) {
  uint64_t sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    require(column.at(i) == values[i]);
    sum += static_cast<uint64_t>(values[i]);
  }
  require(column.sum(0, values.size()) == sum);
}

void read(const bevel::Column& column, FuzzedDataProvider& places) {
  for (int i = 0; i < 4; ++i) {
    try {
      column.at(places.ConsumeIntegralInRange<size_t>(0, column.size()));
    } catch (const bevel::FileFault&) {
    }
  }
  if (column.size() <= kMaxRead) compare(column, read_all(column));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  bevel::ColumnSource source;
  source.encoding = chain(data);
  source.dtype = data.PickValueInArray(kTypes);
  source.length = data.ConsumeProbability<float>() < 0.9f
                      ? data.ConsumeIntegralInRange<int64_t>(0, 1200)
                      : data.ConsumeIntegral<int64_t>();
  for (const char* name : kNumbers)
    if (source.encoding.find(std::string(name).substr(0, 4)) != std::string::npos)
      source.meta[name] = number(data);
  std::vector<std::vector<uint8_t>> kept;
  kept.reserve(kParts.size());
  for (const char* name : kParts) {
    if (source.encoding.find(std::string(name).substr(0, 4)) == std::string::npos) continue;
    const size_t n = data.ConsumeIntegralInRange<size_t>(0, 1 << 12);
    auto part = data.ConsumeBytes<uint8_t>(n);
    part.resize(n);  // zeros where the bytes have run out
    part.shrink_to_fit();
    kept.push_back(std::move(part));
    source.parts[name] = kept.back();
  }
  try {
    const auto column = bevel::open_column(source);
    read(*column, data);
  } catch (const bevel::FileFault&) {
  }
  return 0;
}
