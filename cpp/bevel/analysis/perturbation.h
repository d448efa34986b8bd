// Rows of which one group of features is replaced: by the values of another row, drawn by a
// permutation, or by other values of the row itself. Groups have no feature in common, so that one
// replaced row serves all of them: a walk reads the features of its group there, the others in
// the row itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/predict/packed_forest.h"

namespace bevel {

struct Perturbation {
  const float* rows;         // n_rows x n_features, row by row
  const float* replacement;  // as many, column by column
  size_t n_rows;
  std::span<const int32_t> group;  // group of each feature; -1: never replaced
  std::span<const uint64_t> key;   // key of each group, for its random streams
  size_t n_repeats;
  bool permutes;  // whether rows take their replacement from one another
  uint64_t seed;
  // n_groups x n_rows: rows take it from rows of the same stratum; empty: from any.
  std::span<const int32_t> strata;

  size_t n_groups() const { return key.size(); }
  size_t n_variants() const { return n_groups() * n_repeats; }
  // Strata of all rows for a group; empty if there are none.
  std::span<const int32_t> strata_of(size_t of_group) const {
    return strata.empty() ? strata : strata.subspan(of_group * n_rows, n_rows);
  }
  // Combined index of a group and a repeat.
  size_t variant(size_t of_group, size_t repeat) const { return of_group * n_repeats + repeat; }
};

// Uniform random permutation of 0, ..., order.size() - 1 for a tree, a group and a
// repeat. With `strata`, one for each number, only numbers of the same stratum are permuted.
void draw_permutation(uint64_t seed, uint64_t tree, uint64_t group_key, uint64_t repeat,
                      std::span<const int32_t> strata, std::span<uint32_t> order);

// Whether no value is missing, or so large that a sum at a split may overflow.
bool is_plain(const Perturbation& perturbation, const PackedForest& forest);

// A row with one group replaced, as nodes read it.
struct MixedRow {
  const float* own;
  const float* replaced;
  const int32_t* group;  // of each place
  int32_t perturbed;

  float operator[](size_t place) const {
    return (group[place] == perturbed ? replaced : own)[place];
  }
};

// Some rows, laid out for a forest, with a replaced row for each repeat.
class PerturbedBlock {
 public:
  PerturbedBlock(const Perturbation& perturbation, const PackedForest& forest, bool is_plain);

  // Rows that share the second-level cache with a tree.
  static size_t good_size(const Perturbation& perturbation, const RowLayout& layout);

  // Reads rows; row i takes the group of `variant` from row source(variant, i).
  template <class Source>
  void read(std::span<const uint32_t> rows, Source source) {
    read_own(rows);
    for (size_t f = 0; f < perturbation_.group.size(); ++f) {
      const int32_t g = perturbation_.group[f];
      if (g < 0) continue;
      const float* column = perturbation_.replacement + f * perturbation_.n_rows;
      for (size_t r = 0; r < perturbation_.n_repeats; ++r) {
        const size_t variant = perturbation_.variant(static_cast<size_t>(g), r);
        for (size_t i = 0; i < rows.size(); ++i) write(i, r, f, column[source(variant, i)]);
      }
    }
  }

  float* own(size_t i) { return own_.data() + i * stride_; }
  const float* replaced(size_t i, size_t repeat) const {
    return replaced_.data() + (i * perturbation_.n_repeats + repeat) * stride_;
  }
  MixedRow mixed(size_t i, int32_t group, size_t repeat) {
    return {own(i), replaced(i, repeat), group_.data(), group};
  }
  int32_t group(size_t place) const { return group_[place]; }
  bool is_plain() const { return is_plain_; }
  const Perturbation& perturbation() const { return perturbation_; }

 private:
  void read_own(std::span<const uint32_t> rows);
  void write(size_t i, size_t repeat, size_t feature, float value) {
    float* row = replaced_.data() + (i * perturbation_.n_repeats + repeat) * stride_;
    row[feature] = value;
    if (layout_.has_negatives) row[layout_.negative(static_cast<int32_t>(feature))] = -value;
    forest_.write_levels_of(static_cast<int32_t>(feature), row);
  }

  const Perturbation& perturbation_;
  const PackedForest& forest_;
  const RowLayout& layout_;
  const bool is_plain_;  // is_plain() of all rows
  const size_t stride_;
  std::vector<int32_t> group_;  // of each place of a row
  std::vector<float> own_, replaced_;
};

}  // namespace bevel
