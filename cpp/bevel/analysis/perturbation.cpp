#include "bevel/analysis/perturbation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "bevel/predict/row_source.h"
#include "bevel/random/stream.h"

namespace bevel {

namespace {

void shuffle(std::span<uint32_t> order, Stream& stream) {
  for (size_t left = order.size(); left > 1; --left)  // Fisher and Yates
    std::swap(order[left - 1], order[stream.below(left)]);
}

}  // namespace

void draw_permutation(uint64_t seed, uint64_t tree, uint64_t group_key, uint64_t repeat,
                      std::span<const int32_t> strata, std::span<uint32_t> order) {
  const NodeKey group = mix(root_key(seed, tree) + group_key * 0xa0761d6478bd642fULL);
  Stream stream(mix(group + repeat * 0xe7037ed1a0b428dbULL), Purpose::permutation);
  std::iota(order.begin(), order.end(), 0u);
  if (strata.empty()) return shuffle(order, stream);
  std::vector<uint32_t> takers(order.begin(), order.end());
  std::stable_sort(takers.begin(), takers.end(),
                   [&](uint32_t a, uint32_t b) { return strata[a] < strata[b]; });
  std::vector<uint32_t> givers(takers);
  for (size_t first = 0, last; first < takers.size(); first = last) {
    last = first + 1;
    while (last < takers.size() && strata[takers[last]] == strata[takers[first]]) ++last;
    shuffle(std::span(givers).subspan(first, last - first), stream);
  }
  for (size_t i = 0; i < takers.size(); ++i) order[takers[i]] = givers[i];
}

bool is_plain(const Perturbation& perturbation, const PackedForest& forest) {
  const size_t n = perturbation.n_rows * perturbation.group.size();
  auto is_safe = [&](float x) { return std::fabs(x) <= forest.largest_safe; };
  return std::all_of(perturbation.rows, perturbation.rows + n, is_safe) &&
         std::all_of(perturbation.replacement, perturbation.replacement + n, is_safe);
}

PerturbedBlock::PerturbedBlock(const Perturbation& perturbation, const PackedForest& forest,
                               bool is_plain)
    : perturbation_(perturbation),
      forest_(forest),
      layout_(forest.layout),
      is_plain_(is_plain),
      stride_(static_cast<size_t>(forest.layout.width())),
      group_(stride_, -1) {
  for (int32_t f = 0; f < layout_.n_features; ++f) {
    group_[f] = perturbation.group[static_cast<size_t>(forest.feature_at(f))];
    if (layout_.has_negatives) group_[layout_.negative(f)] = group_[f];
  }
}

size_t PerturbedBlock::good_size(const Perturbation& perturbation, const RowLayout& layout) {
  constexpr size_t kBytes = 1 << 20;
  const size_t bytes =
      static_cast<size_t>(layout.width()) * sizeof(float) * (perturbation.n_repeats + 1);
  return std::clamp<size_t>(kBytes / bytes, 16, 128);
}

void PerturbedBlock::read_own(std::span<const uint32_t> rows) {
  const auto p = static_cast<size_t>(layout_.n_columns);
  own_.resize(std::max(own_.size(), rows.size() * stride_));
  replaced_.resize(std::max(replaced_.size(), rows.size() * perturbation_.n_repeats * stride_));
  for (size_t i = 0; i < rows.size(); ++i) {
    const float* source = perturbation_.rows + rows[i] * p;
    std::copy(source, source + p, own(i));
    write_rest(forest_, own(i));
  }
}

}  // namespace bevel
