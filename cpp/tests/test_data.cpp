#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bevel/data/codes.h"
#include "bevel/data/dataset_view.h"
#include "bevel/data/medians.h"
#include "bevel/data/rotate.h"
#include "bevel/data/scaler.h"
#include "bevel/data/store.h"
#include "bevel/random/stream.h"
#include "check.h"

using namespace bevel;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> numbers(size_t n, uint64_t seed) {
  Stream stream(root_key(seed, 0), Purpose::candidates);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(stream.normal());
  return values;
}

float naive_median(std::vector<float> values) {
  std::erase_if(values, [](float v) { return v != v; });
  if (values.empty()) return 0.0f;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2) return values[middle];
  return static_cast<float>((static_cast<double>(values[middle - 1]) + values[middle]) / 2.0);
}

float median_of(const std::vector<float>& values) {
  const std::vector<int32_t> levels{0};
  return summarise_columns(values.data(), values.size(), levels, 1).median[0];
}

}  // namespace

TEST_CASE("medians are those of the sorted values, of odd and even numbers of them") {
  for (const size_t n : {1, 2, 3, 10, 101, 1000, 5000}) {
    const std::vector<float> values = numbers(n, n);
    CHECK_EQ(median_of(values), naive_median(values));
  }
}

TEST_CASE("medians leave out what is missing, and are 0 where nothing is left") {
  CHECK_EQ(median_of({kNan, 3.0f, 1.0f, kNan, 2.0f}), 2.0f);
  CHECK_EQ(median_of({kNan, kNan}), 0.0f);
}

TEST_CASE("summary of columns are the same for any number of threads, and nominal ones have none") {
  const size_t n = 3000;
  std::vector<float> values = numbers(4 * n, 5);
  values[n + 7] = kNan;
  const std::vector<int32_t> levels{0, 0, 3, 0};
  const ColumnSummary one = summarise_columns(values.data(), n, levels, 1);
  const ColumnSummary three = summarise_columns(values.data(), n, levels, 3);
  CHECK(one.median == three.median);
  CHECK(one.has_nan == std::vector<uint8_t>{0, 1, 0, 0});
  CHECK(three.has_nan == one.has_nan);
  CHECK_EQ(one.median[2], 0.0f);
}

TEST_CASE("a table is stored column by column from any strides") {
  const size_t n = 150, p = 70;
  std::vector<double> rows(n * p);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i);
  std::vector<float> target(n * p);
  for (const bool by_rows : {true, false}) {
    const StridedTable<double> table{rows.data(), n, p, by_rows ? int64_t{p} : 1,
                                     by_rows ? 1 : int64_t{n}};
    ColumnSummary summary(p);
    CHECK(!store_columns(table, 1e30, 2, target.data(), summary));
    bool equal = true;
    for (size_t i = 0; i < n; ++i)
      for (size_t f = 0; f < p; ++f)
        equal =
            equal && target[f * n + i] == static_cast<float>(rows[by_rows ? i * p + f : f * n + i]);
    CHECK(equal);
    CHECK_EQ(summary.median[3], naive_median({target.begin() + 3 * n, target.begin() + 4 * n}));
  }
}

TEST_CASE("a table with a number beyond the limit is refused by its place") {
  std::vector<float> rows(20 * 3, 1.0f);
  rows[7 * 3 + 2] = std::numeric_limits<float>::infinity();
  rows[8 * 3] = kNan;
  std::vector<float> target(rows.size());
  ColumnSummary summary(3);
  const auto place =
      store_columns(StridedTable<float>{rows.data(), 20, 3, 3, 1}, 1e30, 1, target.data(), summary);
  REQUIRE(place.has_value());
  CHECK_EQ(place->row, size_t{7});
  CHECK_EQ(place->column, size_t{2});
}

TEST_CASE("a linear scaler maps its bounds to 0 and 1, cuts when asked and keeps NaN") {
  const std::vector<double> shift{10.0}, span{4.0};
  const Scaler open = Scaler::linear(shift, span, false), cut = Scaler::linear(shift, span, true);
  CHECK_EQ(open.apply(0, 10.0), 0.0f);
  CHECK_EQ(open.apply(0, 14.0), 1.0f);
  CHECK_EQ(open.apply(0, 22.0), 3.0f);
  CHECK_EQ(cut.apply(0, 22.0), 1.0f);
  CHECK_EQ(cut.apply(0, -5.0), 0.0f);
  CHECK(std::isnan(open.apply(0, std::nan(""))));
  CHECK(std::isnan(cut.apply(0, std::nan(""))));
}

TEST_CASE("a quantile scaler is linear inside and ascends without end outside") {
  const std::vector<double> low{-1.0}, high{1.0};
  const Scaler scaler = Scaler::quantile(low, high);
  CHECK_EQ(scaler.apply(0, -1.0), 0.0f);
  CHECK_EQ(scaler.apply(0, 0.0), 0.5f);
  CHECK_EQ(scaler.apply(0, 1.0), 1.0f);
  CHECK(scaler.apply(0, 2.0) > 1.0f);
  CHECK(scaler.apply(0, 1e6) > scaler.apply(0, 2.0));
  CHECK(scaler.apply(0, -1e6) < scaler.apply(0, -2.0));
  CHECK(scaler.apply(0, -2.0) < 0.0f);
}

TEST_CASE("a rank scaler gives training values their ranks and others what lies between") {
  const std::vector<int64_t> n_present{4}, offset{0, 4};
  const bool complete[] = {true};
  const std::vector<double> knots{1.0, 2.0, 4.0, 8.0}, ranks{1.0, 2.0, 3.0, 4.0};
  const Scaler scaler = Scaler::rank(false, n_present, complete, offset, knots, ranks);
  for (size_t i = 0; i < knots.size(); ++i)
    CHECK_EQ(scaler.apply(0, knots[i]), static_cast<float>(ranks[i]));
  CHECK_EQ(scaler.apply(0, 3.0), 2.5f);
  CHECK(scaler.apply(0, -100.0) <= 1.0f);
  CHECK(scaler.apply(0, 100.0) >= 4.0f);
}

TEST_CASE("a scaler cuts numbers that are too large to be added up") {
  const Scaler scaler = Scaler::identity(1);
  const std::vector<double> shift{0.0}, span{1e-300};
  CHECK_EQ(Scaler::linear(shift, span, false).apply(0, 1.0), static_cast<float>(kMaxStored));
  CHECK_EQ(scaler.apply(0, 12.5), 12.5f);
}

TEST_CASE("rows, columns and tables are scaled to the same bits by any number of threads") {
  const size_t n = 700, p = 9;
  std::vector<double> rows(n * p), low(p), high(p);
  Stream stream(root_key(3, 0), Purpose::candidates);
  for (double& value : rows) value = 3.0 * stream.normal();
  for (size_t f = 0; f < p; ++f) {
    low[f] = -1.0 - stream.uniform();
    high[f] = 1.0 + stream.uniform();
  }
  const Scaler scaler = Scaler::quantile(low, high);
  std::vector<float> wanted(n * p);
  for (size_t i = 0; i < n * p; ++i) wanted[i] = scaler.apply(i % p, rows[i]);
  const StridedTable<double> table{rows.data(), n, p, int64_t{p}, 1};
  for (const int n_threads : {1, 3}) {
    std::vector<float> got(n * p);
    scaler.transform(table, 0, n_threads, {got.data(), int64_t{p}, 1});
    CHECK(got == wanted);
  }
  std::vector<float> row(p);
  scaler.apply_row(rows.data() + 5 * p, 1, row.data());
  CHECK(std::equal(row.begin(), row.end(), wanted.begin() + 5 * p));
}

TEST_CASE("a rotated table is the product of rows and rotation, alone and in a batch") {
  const size_t n = 300, p = 7;
  const std::vector<float> columns = numbers(n * p, 8);
  std::vector<double> rotation(p * p);
  Stream stream(root_key(9, 0), Purpose::rotation);
  for (double& entry : rotation) entry = stream.normal();
  std::vector<float> got(n * p), again(n * p), alone(p), row(p);
  rotate_rows(columns.data(), n, p, rotation.data(), 1, got.data());
  rotate_rows(columns.data(), n, p, rotation.data(), 3, again.data());
  CHECK(got == again);
  for (size_t axis = 0; axis < p; ++axis) {
    double sum = 0.0;
    for (size_t f = 0; f < p; ++f) sum += columns[f * n + 11] * rotation[axis * p + f];
    CHECK_EQ(got[axis * n + 11], static_cast<float>(sum));
  }
  for (size_t f = 0; f < p; ++f) row[f] = columns[f * n + 11];
  rotate_rows(row.data(), 1, p, rotation.data(), 1, alone.data());
  for (size_t axis = 0; axis < p; ++axis) CHECK_EQ(alone[axis], got[axis * n + 11]);
}

TEST_CASE("a code gives two numbers between which the value lies") {
  const size_t n = 1000;
  std::vector<float> values = numbers(2 * n, 21);
  std::fill(values.begin() + n, values.end(), 5.0f);  // a constant column
  values[3] = kNan;
  const std::vector<int32_t> levels{0, 0};
  const ColumnSummary summary = summarise_columns(values.data(), n, levels, 1);
  const DatasetView data(values.data(), n, 2, levels.data(), summary.median.data(),
                         summary.has_nan.data());
  const ColumnCodes codes(data, 2);
  for (int32_t f = 0; f < 2; ++f) {
    const CodeScale& scale = codes.scale(f);
    double low = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < n; ++i)
      if (const float v = data.column(f)[i]; v == v) low = std::min<double>(low, v);
    bool inside = true;
    for (size_t i = 0; i < n; ++i) {
      const float v = data.column(f)[i],
                  value = v == v ? v : summary.median[static_cast<size_t>(f)];
      const double code = codes.column(f)[i], step = scale.step;
      inside = inside && value >= low + (code - CodeScale::kSlack) * step &&
               value <= low + (code + 1.0 + CodeScale::kSlack) * step &&
               std::fabs(value) <= scale.size;
    }
    CHECK(inside);
  }
}
