// The bag of a tree: how often each row was drawn. It can be drawn again from the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "bevel/options.h"

namespace bevel {

// Multiplicity of every row; all ones when options.bag_size is 0. If few rows have a weight, a
// bag may hold none of them: then it has all rows of positive weight once. Null weights are all 1.
// With options.bag_groups groups are drawn, and a row is drawn as often as its group.
std::vector<int32_t> draw_bag(const Options& options, size_t n_rows, uint64_t tree,
                              const double* weights = nullptr);

// The part of the bag of an honest tree that its splits are learnt on, or the one that gives its
// leaves their values; without options.leaf_share both are the whole bag. Draws of a row, and with
// groups the rows of a group, are in the same part, and both parts have rows of positive weight. A
// bag of one row is both parts.
enum class BagPart : uint8_t { splits, leaves };
std::vector<int32_t> draw_bag_part(const Options& options, size_t n_rows, uint64_t tree,
                                   const double* weights, BagPart part);

// Upper bound of the draws of rows in a bag.
int64_t most_draws(const Options& options, size_t n_rows);

}  // namespace bevel
