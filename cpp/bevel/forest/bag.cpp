#include "bevel/forest/bag.h"

#include <algorithm>
#include <cmath>

#include "bevel/random/stream.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

std::vector<int32_t> draw_units(const Options& options, size_t n, uint64_t tree) {
  if (options.bag_size == 0) return std::vector<int32_t>(n, 1);
  std::vector<int32_t> multiplicity(n, 0);
  Stream stream(root_key(options.seed, tree), Purpose::bag);
  if (options.replace) {
    for (int64_t k = 0; k < options.bag_size; ++k) ++multiplicity[stream.below(n)];
    return multiplicity;
  }
  // Selection sampling (Knuth, 3.4.2, algorithm S): one pass, every subset equally likely.
  auto wanted = static_cast<uint64_t>(options.bag_size);
  for (size_t i = 0; i < n && wanted > 0; ++i) {
    if (stream.below(n - i) < wanted) {
      multiplicity[i] = 1;
      --wanted;
    }
  }
  return multiplicity;
}

std::vector<int32_t> draw_rows(const Options& options, size_t n_rows, uint64_t tree) {
  if (options.bag_groups.empty()) return draw_units(options, n_rows, tree);
  require(options.bag_groups.size() == n_rows && options.n_bag_groups > 0, "[bag] groups of rows");
  const std::vector<int32_t> drawn = draw_units(options, options.n_bag_groups, tree);
  std::vector<int32_t> multiplicity(n_rows, 0);
  for (size_t row = 0; row < n_rows; ++row) {
    const uint32_t group = options.bag_groups[row];
    if (group < options.n_bag_groups) multiplicity[row] = drawn[group];
  }
  return multiplicity;
}

// Draws the rows of a bag that give leaves their values, each unit of them equally likely.
// weights: null if all rows take part, else those of positive weight do.
std::vector<uint8_t> draw_leaf_rows(double share, const std::vector<int32_t>& bag,
                                    const std::vector<uint32_t>& groups, const double* weights,
                                    Stream& stream) {
  const auto unit_of = [&](size_t row) { return groups.empty() ? row : groups[row]; };
  const size_t n_units =
      groups.empty() ? bag.size() : size_t{*std::max_element(groups.begin(), groups.end())} + 1;
  enum : uint8_t { absent, of_splits, of_leaves };
  std::vector<uint8_t> units(n_units, absent);
  for (size_t row = 0; row < bag.size(); ++row)
    if (bag[row] > 0 && (!weights || weights[row] > 0.0)) units[unit_of(row)] = of_splits;
  auto left = static_cast<uint64_t>(std::count(units.begin(), units.end(), of_splits));
  const auto most = static_cast<double>(left) - 1.0;
  auto wanted = static_cast<uint64_t>(
      std::max(0.0, std::min(most, std::max(1.0, std::round(share * static_cast<double>(left))))));
  for (uint8_t& unit : units)
    if (unit == of_splits && stream.below(left--) < wanted) {
      unit = of_leaves;
      --wanted;
    }
  std::vector<uint8_t> is_leaf_row(bag.size());
  for (size_t row = 0; row < bag.size(); ++row) is_leaf_row[row] = units[unit_of(row)] == of_leaves;
  return is_leaf_row;
}

// Whether both parts of a bag have rows of positive weight.
bool both_weigh(const std::vector<int32_t>& bag, const std::vector<uint8_t>& is_leaf_row,
                const double* weights) {
  bool weighs[2] = {false, false};
  for (size_t row = 0; row < bag.size(); ++row)
    if (bag[row] > 0 && (!weights || weights[row] > 0.0)) weighs[is_leaf_row[row]] = true;
  return weighs[0] && weighs[1];
}

}  // namespace

std::vector<int32_t> draw_bag(const Options& options, size_t n_rows, uint64_t tree,
                              const double* weights) {
  std::vector<int32_t> multiplicity = draw_rows(options, n_rows, tree);
  if (!weights) return multiplicity;
  for (size_t row = 0; row < n_rows; ++row)
    if (multiplicity[row] > 0 && weights[row] > 0.0) return multiplicity;
  const auto& groups = options.bag_groups;
  for (size_t row = 0; row < n_rows; ++row)
    multiplicity[row] =
        weights[row] > 0.0 && (groups.empty() || groups[row] < options.n_bag_groups);
  return multiplicity;
}

std::vector<int32_t> draw_bag_part(const Options& options, size_t n_rows, uint64_t tree,
                                   const double* weights, BagPart part) {
  std::vector<int32_t> bag = draw_bag(options, n_rows, tree, weights);
  if (options.leaf_share == 0.0) return bag;
  Stream stream(root_key(options.seed, tree), Purpose::bag_parts);
  // Whole groups, or rows, are drawn. If a part weighs nothing, then those that weigh anything; and
  // rows, if the bag has a single group.
  const std::vector<uint32_t> no_groups;
  for (const auto* groups : {&options.bag_groups, &no_groups})
    for (const double* weighed : {static_cast<const double*>(nullptr), weights}) {
      const std::vector<uint8_t> is_leaf_row =
          draw_leaf_rows(options.leaf_share, bag, *groups, weighed, stream);
      if (!both_weigh(bag, is_leaf_row, weights)) continue;
      for (size_t row = 0; row < n_rows; ++row)
        if ((is_leaf_row[row] != 0) != (part == BagPart::leaves)) bag[row] = 0;
      return bag;
    }
  return bag;
}

int64_t most_draws(const Options& options, size_t n_rows) {
  const auto n = static_cast<int64_t>(n_rows);
  if (options.bag_size == 0) return n;
  if (options.bag_groups.empty()) return options.bag_size;
  std::vector<int64_t> sizes(options.n_bag_groups, 0);
  for (const uint32_t group : options.bag_groups)
    if (group < options.n_bag_groups) ++sizes[group];
  const int64_t most = options.bag_size * *std::max_element(sizes.begin(), sizes.end());
  return std::max(n, options.replace ? most : std::min(n, most));
}

}  // namespace bevel
