// Makes a forest of any bytes. What the checker accepts, the reference predictor, the packed one
// and the one of mapped files must answer alike, bit for bit.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bevel/file/check_forest.h"
#include "bevel/file/mapped_forest.h"
#include "bevel/predict/packed_predictor.h"
#include "bevel/predict/reference_predictor.h"
#include "fuzzed_forest.h"

namespace {

constexpr size_t kRows = 5;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<float> rows_of(const bevel::fuzz::Forest& forest, FuzzedDataProvider& data) {
  std::vector<float> rows(kRows * static_cast<size_t>(forest.n_features));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = bevel::fuzz::coordinate(data, forest.levels[i % forest.levels.size()]);
  return rows;
}

bool same(const std::vector<double>& one, const std::vector<double>& other) {
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0;
}

void compare(const bevel::fuzz::Forest& forest, const std::vector<float>& rows, bool hard) {
  const bevel::ForestArrays arrays = forest.arrays();
  const auto p = static_cast<size_t>(forest.n_features);
  const bevel::RowMatrix matrix{rows.data(), kRows, p, 1};
  const bevel::PackedForest packed(arrays);
  const auto scaler = bevel::Scaler::identity(p);
  const bevel::StridedTable<float> table{rows.data(), kRows, p, static_cast<int64_t>(p), 1};
  const bevel::RowSource source{table, scaler, std::numeric_limits<double>::infinity()};
  const bevel::fuzz::RawColumns columns(forest);
  const bevel::MappedForest mapped = columns.forest(forest);
  const size_t width = arrays.width();
  std::vector<double> expected(kRows * width), fast(kRows * width), from_file(kRows * width);
  if (forest.n_classes) {
    bevel::predict_proba(arrays, matrix, 1, hard, expected.data());
    bevel::predict_proba(packed, source, hard ? bevel::Voting::hard : bevel::Voting::soft, 1,
                         fast.data());
    mapped.predict_proba(matrix, 1, hard, from_file.data());
  } else {
    bevel::predict_value(arrays, matrix, 1, expected.data());
    bevel::predict_value(packed, source, 1, fast.data());
    mapped.predict_value(matrix, 1, from_file.data());
  }
  require(same(expected, fast));
  require(same(expected, from_file));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  const bevel::fuzz::Forest forest = bevel::fuzz::make_forest(data);
  try {
    bevel::check_forest(forest.arrays());
  } catch (const std::invalid_argument&) {
    return 0;
  }
  const bool hard = data.ConsumeBool();
  compare(forest, rows_of(forest, data), hard);
  return 0;
}
