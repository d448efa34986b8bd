// Sums of the statistics of rows by the codes of a group of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bevel/boosting/row_statistics.h"
#include "bevel/boosting/tree_columns.h"

namespace bevel {

// Operations for a row of a group of sparse columns, about.
constexpr size_t kWorkOfSparseRow = 16;

// A small node keeps no histograms: adding up its rows again costs less than subtracting stored
// entries, each of which costs as much as some additions.
constexpr double kAdditionsPerEntry = 4.0;

// Clears the part of a histogram that belongs to a group, and fills it. prefetch: the codes do not
// fit in the caches.
void add_up(const TreeColumns& columns, const ColumnGroup& group, std::span<const uint32_t> rows,
            const PackedSum* stats, bool prefetch, PackedSum* part);

}  // namespace bevel
