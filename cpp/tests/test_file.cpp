#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bevel/file/check_forest.h"
#include "bevel/file/column.h"
#include "bevel/file/fault.h"
#include "bevel/file/mapped_forest.h"
#include "bevel/file/packed_bits.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/random/stream.h"
#include "check.h"
#include "problems.h"

using namespace bevel;

namespace {

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Parts of a column as a file has them, which live as long as this.
struct Encoded {
  ColumnSource source;
  std::map<std::string, std::vector<uint8_t>> parts;

  std::unique_ptr<Column> open() {
    source.parts.clear();
    for (const auto& [name, bytes] : parts) source.parts[name] = bytes;
    return open_column(source);
  }
};

Encoded packed_column(const std::vector<uint64_t>& numbers, unsigned width, int64_t base) {
  Encoded encoded;
  encoded.source.encoding = "packed";
  encoded.source.dtype = "<i8";
  encoded.source.length = static_cast<int64_t>(numbers.size());
  encoded.source.meta = {{"packed.base", base}, {"packed.width", width}};
  encoded.parts["packed.values"] = pack_bits(numbers, width);
  return encoded;
}

template <class T>
Encoded raw_column(const std::vector<T>& values, const char* dtype) {
  Encoded encoded;
  encoded.source.encoding = "raw";
  encoded.source.dtype = dtype;
  encoded.source.length = static_cast<int64_t>(values.size());
  encoded.parts["raw.values"] = bytes_of(values);
  return encoded;
}

// Bits and their running counts, as CountedBitmap reads them.
struct Bitmap {
  std::vector<uint64_t> words, counts;

  explicit Bitmap(const std::vector<bool>& bits) : words(CountedBitmap::n_words(bits.size())) {
    uint64_t n = 0;
    for (size_t i = 0; i < bits.size(); ++i) {
      if (i % CountedBitmap::kBlockBits == 0) counts.push_back(n);
      if (bits[i]) words[i / 64] |= uint64_t{1} << (i % 64);
      n += bits[i];
    }
    counts.push_back(n);
  }
};

std::vector<uint64_t> small_numbers(size_t n, unsigned width) {
  Stream stream(root_key(width, n), Purpose::bag);
  std::vector<uint64_t> numbers(n);
  for (uint64_t& number : numbers) number = stream.next() >> (64 - width);
  return numbers;
}

// Gives a leaf of several classes the first of them twice.
void repeat_class(FlatForest& forest) {
  for (size_t node = 0; node < forest.right.size(); ++node) {
    const auto first = static_cast<size_t>(forest.entry_offset[node]);
    if (forest.right[node] >= 0 || forest.entry_offset[node + 1] < forest.entry_offset[node] + 2)
      continue;
    forest.entry_index[first + 1] = forest.entry_index[first];
    return;
  }
}

// A small forest with a fault put in, and the message with which it is refused.
std::string error_message(const std::function<void(FlatForest&)>& damage) {
  const tests::Problem problem = tests::make_problem(200, 3);
  Options options = tests::default_options(problem);
  options.min_samples_leaf = 20;  // so that leaves have several classes
  FlatForest forest = tests::grow(problem, options, 2, 1);
  damage(forest);
  return tests::thrown<std::invalid_argument>(
      [&] { check_forest(tests::arrays_of(forest, problem)); });
}

}  // namespace

TEST_CASE("numbers of few bits come back as they were packed, of every width") {
  for (unsigned width = 1; width <= PackedBits::kGreatestWidth; width += 7) {
    const std::vector<uint64_t> numbers = small_numbers(100, width);
    const std::vector<uint8_t> bytes = pack_bits(numbers, width);
    CHECK_EQ(bytes.size(), PackedBits::n_bytes(100, width));
    const PackedBits bits(bytes, width);
    for (size_t i = 0; i < numbers.size(); ++i) CHECK_EQ(bits[i], numbers[i]);
  }
}

TEST_CASE("a counted bitmap ranks as a loop counts, and detects wrong counts") {
  std::vector<bool> bits(1300);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = i % 3 == 0 || i % 7 == 2;
  Bitmap bitmap(bits);
  const std::vector<uint8_t> words = bytes_of(bitmap.words), counts = bytes_of(bitmap.counts);
  const CountedBitmap map(words, counts);
  int64_t n = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    CHECK_EQ(map.rank(i), n);
    CHECK_EQ(map[i], bits[i]);
    n += bits[i];
  }
  CHECK_EQ(map.total(), n);
  CHECK(map.is_sound(bits.size()));
  ++bitmap.counts[1];
  const std::vector<uint8_t> wrong = bytes_of(bitmap.counts);
  CHECK(!CountedBitmap(words, wrong).is_sound(bits.size()));
}

TEST_CASE("packed, raw and constant columns give their values and sums") {
  const std::vector<uint64_t> numbers = small_numbers(50, 9);
  Encoded packed = packed_column(numbers, 9, -100);
  const auto column = packed.open();
  uint64_t sum = 0;
  for (size_t i = 0; i < 50; ++i) {
    CHECK_EQ(column->at(i), static_cast<int64_t>(numbers[i]) - 100);
    sum += numbers[i] - 100;
  }
  CHECK_EQ(column->sum(0, 50), sum);
  Encoded raw = raw_column(std::vector<int16_t>{-3, 7, 300}, "<i2");
  CHECK_EQ(raw.open()->at(0), -3);
  CHECK_EQ(raw.open()->at(2), 300);
  Encoded constant;
  constant.source = {"constant", "<i4", 1000000, {{"constant.word", 42}}, {}};
  CHECK_EQ(constant.open()->at(999999), 42);
}

TEST_CASE("floats come back by their bits") {
  Encoded raw = raw_column(std::vector<float>{1.5f, -0.25f}, "<f4");
  CHECK_EQ(raw.open()->real(0), 1.5f);
  CHECK_EQ(raw.open()->real(1), -0.25f);
}

TEST_CASE("a column of steps gives its values one by one and in blocks, or a fault") {
  std::vector<uint64_t> steps = small_numbers(299, 5);
  std::vector<int64_t> values{17}, starts;
  for (const uint64_t step : steps) values.push_back(values.back() + static_cast<int64_t>(step));
  for (size_t i = 0; i < values.size(); i += 64) starts.push_back(values[i]);
  Encoded encoded = packed_column(steps, 5, 0);
  encoded.source.encoding = "steps.packed";
  encoded.source.length = 300;
  encoded.parts["steps.starts"] = bytes_of(starts);
  std::vector<int64_t> block(300);
  encoded.open()->read(0, block);
  CHECK(block == values);
  for (const size_t i : {0, 63, 64, 65, 299}) CHECK_EQ(encoded.open()->at(i), values[i]);
  ++starts[2];
  encoded.parts["steps.starts"] = bytes_of(starts);
  CHECK_THROWS_AS(encoded.open()->read(0, block), FileFault);
}

TEST_CASE("a filled column gives the common value and the others") {
  std::vector<bool> is_other(600);
  for (const size_t i : {3, 64, 511, 512, 599}) is_other[i] = true;
  const Bitmap bitmap(is_other);
  Encoded encoded = packed_column({1, 2, 3, 4, 5}, 3, 0);
  encoded.source.encoding = "filled.packed";
  encoded.source.length = 600;
  encoded.source.meta["filled.word"] = -1;
  encoded.parts["filled.bitmap"] = bytes_of(bitmap.words);
  encoded.parts["filled.counts"] = bytes_of(bitmap.counts);
  const auto column = encoded.open();
  CHECK_EQ(column->at(0), -1);
  CHECK_EQ(column->at(3), 1);
  CHECK_EQ(column->at(512), 4);
  CHECK_EQ(column->at(599), 5);
  column->verify();
}

TEST_CASE("columns refuse what is missing, too short, unknown or out of range") {
  Encoded good = packed_column(small_numbers(20, 4), 4, 0);
  CHECK_THROWS_AS(good.open()->at(20), FileFault);
  Encoded bad = good;
  bad.parts["packed.values"].pop_back();
  CHECK_THROWS_AS(bad.open(), FileFault);
  bad = good;
  bad.parts.clear();
  CHECK_THROWS_AS(bad.open(), FileFault);
  bad = good;
  bad.source.meta.erase("packed.base");
  CHECK_THROWS_AS(bad.open(), FileFault);
  for (const int64_t width : {0, 58, -1}) {
    bad = good;
    bad.source.meta["packed.width"] = width;
    CHECK_THROWS_AS(bad.open(), FileFault);
  }
  for (const char* encoding : {"", "zip", "packed.packed", "steps.steps.packed", "filled"}) {
    bad = good;
    bad.source.encoding = encoding;
    CHECK_THROWS_AS(bad.open(), FileFault);
  }
  for (const int64_t length : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    bad = good;
    bad.source.length = length;
    CHECK_THROWS_AS(bad.open(), FileFault);
  }
}

TEST_CASE("a forest that the trainer has grown passes the check") {
  CHECK_EQ(error_message([](FlatForest&) {}), std::string());
}

TEST_CASE("broken forests are refused, with the node at fault") {
  using Damage = std::function<void(FlatForest&)>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Damage> damages{
      [](FlatForest& f) { f.tree_offset.pop_back(); },
      [](FlatForest& f) { f.right.pop_back(); },
      [](FlatForest& f) { f.right[0] = 0; },  // a loop
      [](FlatForest& f) { f.right[0] = static_cast<int32_t>(f.right.size()); },
      [](FlatForest& f) { f.right[0] = -2; },
      [nan](FlatForest& f) { f.threshold[0] = nan; },
      [](FlatForest& f) { f.flags[0] = 255; },
      [](FlatForest& f) { f.entry_index[0] = 1000; },
      [](FlatForest& f) { f.entry_index[0] = -1; },
      [nan](FlatForest& f) { f.entry_weight.assign(f.entry_weight.size(), nan); },
      [](FlatForest& f) { f.entry_offset[1] = -5; },
      [](FlatForest& f) { f.entry_index.back() = 3; },      // no such class
      [](FlatForest& f) { f.entry_weight.back() = 1.5f; },  // no share
      repeat_class,
      [](FlatForest& f) { f.leaf_value.push_back(0.0); },
      [](FlatForest& f) { f.bits_offset.back() += 1; },
  };
  for (const Damage& damage : damages) CHECK(!error_message(damage).empty());
  CHECK(error_message([](FlatForest& f) { f.right[0] = 0; }).starts_with("Node 0 of tree 0: "));
}

TEST_CASE("a forest read from columns predicts as the reference predictor does") {
  const tests::Problem problem = tests::make_problem(300, 3);
  const FlatForest f = tests::grow(problem, tests::default_options(problem), 5, 1);
  const ForestArrays arrays = tests::arrays_of(f, problem);
  // Leaves to the left of each split, 0 for a leaf: nodes of a subtree are twice as many less one.
  std::vector<int32_t> left_leaves(f.right.size());
  for (size_t t = 0; t < arrays.n_trees(); ++t)
    for (auto node = static_cast<size_t>(f.tree_offset[t]);
         node < static_cast<size_t>(f.tree_offset[t + 1]); ++node)
      if (f.right[node] >= 0) {
        const auto local = static_cast<int32_t>(node) - static_cast<int32_t>(f.tree_offset[t]);
        left_leaves[node] = (f.right[node] - local) / 2;
      }
  std::map<std::string, Encoded> encoded;
  for_each_array(f, [&]<class T>(const ForestField& field, const std::vector<T>& array) {
    encoded[field.name] = raw_column(array, dtype_of<T>().c_str());
  });
  encoded["left_leaves"] = raw_column(left_leaves, "<i4");
  std::vector<std::unique_ptr<Column>> open;
  ForestColumns columns;
  for_each_column(columns, [&](const ForestField& field, const Column*& column) {
    open.push_back(encoded.at(field.name).open());
    column = open.back().get();
  });
  const MappedForest mapped(columns, 6, 3, problem.table.levels, problem.table.medians);
  const RowMatrix rows{problem.table.values.data(), 300, 1, 300};
  std::vector<double> got(900), wanted(900);
  for (const bool hard : {false, true}) {
    predict_proba(arrays, rows, 1, hard, wanted.data());
    mapped.predict_proba(rows, 2, hard, got.data());
    CHECK(got == wanted);
  }
}
