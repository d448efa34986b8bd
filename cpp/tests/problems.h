// Small tables and forests that several tests share. They depend on no library, so that pinned bits
// are those of the core.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/options.h"
#include "bevel/predict/forest_arrays.h"
#include "bevel/projection/family.h"

namespace bevel::tests {

// A column-major table with all that a DatasetView points to.
struct Table {
  Table(size_t n_rows, size_t n_features)
      : n_rows(n_rows),
        n_features(n_features),
        values(n_rows * n_features),
        levels(n_features),
        medians(n_features),
        has_nan(n_features) {}

  float& at(size_t row, size_t feature) { return values[feature * n_rows + row]; }
  float at(size_t row, size_t feature) const { return values[feature * n_rows + row]; }
  // Medians and what is missing; to be called after values were written.
  void summarise();
  DatasetView view() const {
    return {values.data(), n_rows,         static_cast<int32_t>(n_features),
            levels.data(), medians.data(), has_nan.data()};
  }

  size_t n_rows, n_features;
  std::vector<float> values;
  std::vector<int32_t> levels;
  std::vector<float> medians;
  std::vector<uint8_t> has_nan;
};

// Normal numbers, independent.
Table random_table(size_t n_rows, size_t n_features, uint64_t seed);

struct Problem {
  Table table;
  int32_t n_classes;  // 0: regression
  std::vector<int32_t> labels;
  std::vector<double> targets;
};

// Six columns: four numeric, of which column 2 has missing values and column 1 few distinct ones, a
// numeric one of noise, and one with five levels. The target depends on a sum and on a level.
Problem make_problem(size_t n_rows, int32_t n_classes);

// A family of directions; settings are by name, of exactly the types that the family reads.
using Settings = std::map<std::string, std::any>;
std::shared_ptr<const Family> family(const std::string& name, int32_t n_draws, int64_t n_nonzeros,
                                     const Settings& settings = {});

// n_trees trees of seed 0, by default bootstrapped and on sparse signs and levels.
Options default_options(const Problem& problem);
FlatForest grow(const Problem& problem, const Options& options, size_t n_trees, int n_threads);

ForestArrays arrays_of(const FlatForest& forest, const Problem& problem);

// FNV-1a over the bytes of an array.
template <class T>
uint64_t fingerprint(const std::vector<T>& values, uint64_t start = 0xcbf29ce484222325ULL) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  uint64_t hash = start;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}
uint64_t fingerprint(const FlatForest& forest);

// The instruction sets that this machine can run.
std::vector<const char*> instruction_sets();

}  // namespace bevel::tests
