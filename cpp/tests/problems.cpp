#include "problems.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "bevel/data/medians.h"
#include "bevel/forest/forest_trainer.h"
#include "bevel/random/stream.h"
#include "bevel/support/instruction_set.h"

namespace bevel::tests {
namespace {

void fill_columns(Table& table, Stream& stream) {
  for (size_t i = 0; i < table.n_rows; ++i) {
    for (size_t f = 0; f < table.n_features; ++f)
      table.at(i, f) = static_cast<float>(stream.uniform());
    table.at(i, 1) = std::floor(8.0f * table.at(i, 1));
    table.at(i, 5) = std::floor(5.0f * table.at(i, 5));
  }
  table.levels[5] = 5;
}

double target_of(const Table& table, size_t row) {
  return table.at(row, 0) + table.at(row, 2) * table.at(row, 3) + table.at(row, 1) / 8.0f +
         (table.at(row, 5) == 2.0f ? 1.0 : 0.0);
}

class GivenSettings : public FamilySettings {
 public:
  explicit GivenSettings(const Settings& settings) : settings_(settings) {}

  void read(const char* name, SettingTarget target) override {
    const auto found = settings_.find(name);
    if (found == settings_.end()) return;
    std::visit(
        [&](auto* value) {
          *value = std::any_cast<std::remove_pointer_t<decltype(value)>>(found->second);
        },
        target);
  }

 private:
  const Settings& settings_;
};

}  // namespace

void Table::summarise() {
  ColumnSummary summary = summarise_columns(values.data(), n_rows, levels, 1);
  medians = std::move(summary.median);
  has_nan = std::move(summary.has_nan);
}

Table random_table(size_t n_rows, size_t n_features, uint64_t seed) {
  Table table(n_rows, n_features);
  Stream stream(root_key(seed, 0), Purpose::candidates);
  for (float& value : table.values) value = static_cast<float>(stream.normal());
  table.summarise();
  return table;
}

Problem make_problem(size_t n_rows, int32_t n_classes) {
  Problem problem{Table(n_rows, 6), n_classes, {}, {}};
  Table& table = problem.table;
  Stream stream(root_key(12, 0), Purpose::candidates);
  fill_columns(table, stream);
  for (size_t i = 0; i < n_rows; ++i) {
    const double target = target_of(table, i);
    if (n_classes == 0)
      problem.targets.push_back(target);
    else
      problem.labels.push_back(
          std::min(n_classes - 1, static_cast<int32_t>(target / 3.0 * n_classes)));
  }
  for (size_t i = 0; i < n_rows; i += 17) table.at(i, 2) = std::numeric_limits<float>::quiet_NaN();
  table.summarise();
  return problem;
}

std::shared_ptr<const Family> family(const std::string& name, int32_t n_draws, int64_t n_nonzeros,
                                     const Settings& settings) {
  GivenSettings given(settings);
  return make_family(name, {n_draws, n_nonzeros}, given);
}

Options default_options(const Problem& problem) {
  Options options;
  options.criterion = problem.n_classes ? CriterionKind::gini : CriterionKind::squared_error;
  options.bag_size = static_cast<int64_t>(problem.table.n_rows);
  options.families = {family("signs", 4, 8), family("categorical", 1, 0)};
  return options;
}

FlatForest grow(const Problem& problem, const Options& options, size_t n_trees, int n_threads) {
  const DatasetView data = problem.table.view();
  TrainingSet training{data};
  training.n_classes = problem.n_classes;
  if (problem.n_classes)
    training.labels = problem.labels.data();
  else
    training.targets = problem.targets.data();
  std::vector<uint64_t> trees(n_trees);
  std::iota(trees.begin(), trees.end(), uint64_t{0});
  return train(training, options, trees, n_threads, [](size_t) { return true; });
}

ForestArrays arrays_of(const FlatForest& forest, const Problem& problem) {
  ForestArrays arrays;
  arrays.n_features = static_cast<int32_t>(problem.table.n_features);
  arrays.n_classes = problem.n_classes;
  arrays.levels = problem.table.levels;
  arrays.medians = problem.table.medians;
  assign_arrays(arrays, forest);
  return arrays;
}

uint64_t fingerprint(const FlatForest& f) {
  uint64_t hash = fingerprint(f.tree_offset);
  hash = fingerprint(f.right, hash);
  hash = fingerprint(f.threshold, hash);
  hash = fingerprint(f.flags, hash);
  hash = fingerprint(f.gain, hash);
  hash = fingerprint(f.weight, hash);
  hash = fingerprint(f.entry_offset, hash);
  hash = fingerprint(f.entry_index, hash);
  hash = fingerprint(f.entry_weight, hash);
  hash = fingerprint(f.leaf_value, hash);
  hash = fingerprint(f.bits_index, hash);
  hash = fingerprint(f.bits, hash);
  hash = fingerprint(f.rotation_index, hash);
  return fingerprint(f.rotation_weight, hash);
}

std::vector<const char*> instruction_sets() {
  std::vector<const char*> found;
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    try {
      find_instruction_set(name);
      found.push_back(name);
    } catch (const std::invalid_argument&) {
    }
  }
  return found;
}

}  // namespace bevel::tests
