// Tables of a node's entropy: a cut is scored by one lookup for each class that moved and one
// for the weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bevel/split/entropy_table.h"
#include "bevel/split/kernels/kernels.h"

namespace bevel {

class EntropyTerms {
 public:
  // counts: weights of the classes, whole numbers. Cuts that leave less than min_weight on a side
  // have the score minus infinity.
  void fill(const EntropyTable& table, std::span<const double> counts, double min_weight) {
    size_t total = 0, length = 0;
    for (const double c : counts) {
      total += static_cast<size_t>(c);
      length += static_cast<size_t>(c) + 1;
    }
    first_.resize(counts.size());
    if (term_.size() < length) term_.resize(2 * length);
    if (weight_term_.size() < total + 1) weight_term_.resize(2 * total + 1);
    size_t at = 0;
    for (size_t k = 0; k < counts.size(); ++k) {
      first_[k] = static_cast<uint32_t>(at);
      at += fill_both_sides(table, static_cast<size_t>(counts[k]), &term_[at]);
    }
    fill_both_sides(table, total, weight_term_.data());
    forbid(total, min_weight);
  }

  LaneTerms view() const {
    return {term_.data(), first_.data(), static_cast<int>(first_.size()), weight_term_.data()};
  }

 private:
  // F(l) + F(c - l) for l = 0 .. c.
  static size_t fill_both_sides(const EntropyTable& table, size_t c, double* out) {
    if (c < table.size()) {
      const double* f = table.values();
      for (size_t l = 0; l <= c; ++l) out[l] = f[l] + f[c - l];
    } else {
      for (size_t l = 0; l <= c; ++l) out[l] = table.whole(l) + table.whole(c - l);
    }
    return c + 1;
  }

  void forbid(size_t total, double min_weight) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    weight_term_[0] = weight_term_[total] = kInfinity;
    for (size_t w = 1; w < total && static_cast<double>(w) < min_weight; ++w)
      weight_term_[w] = weight_term_[total - w] = kInfinity;
  }

  std::vector<double> term_, weight_term_;
  std::vector<uint32_t> first_;
};

}  // namespace bevel
