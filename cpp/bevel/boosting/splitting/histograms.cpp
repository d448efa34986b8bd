#include "bevel/boosting/splitting/histograms.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "bevel/boosting/splitting/row_visits.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// A loop of known width is unrolled: twice as fast.
template <size_t kWidth>
void add_rows(const uint8_t* codes, const size_t* offsets, const uint32_t* rows,
              const PackedSum* stats, size_t n, bool prefetch, PackedSum* histogram) {
  const auto address = [=](size_t i) { return codes + size_t{rows[i]} * kGroupColumns; };
  visit_rows(n, prefetch, address, [=](size_t i) {
    const uint8_t* own = address(i);
    const PackedSum stat = stats[i];
    for (size_t k = 0; k < kWidth; ++k) histogram[offsets[k] + own[k]] += stat;
  });
}

using AddRows = decltype(&add_rows<1>);

// By the number of columns, less one.
template <size_t... kWidths>
constexpr std::array<AddRows, sizeof...(kWidths)> all_widths(std::index_sequence<kWidths...>) {
  return {&add_rows<kWidths + 1>...};
}
constexpr auto kAddRows = all_widths(std::make_index_sequence<kGroupColumns>());

// The sum of the default code of a column is that of all rows less those with other codes.
void add_up_sparse(const TreeColumns& columns, const ColumnGroup& group,
                   std::span<const uint32_t> rows, const PackedSum* stats, PackedSum* part) {
  std::vector<uint32_t> offsets(group.width);
  for (size_t k = 0; k < group.width; ++k)
    offsets[k] = static_cast<uint32_t>(columns.offset(group, group.first + k));
  PackedSum total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    poll_cancellation_at(i, kWorkOfSparseRow);
    total += stats[i];
    for (const auto entry : group.sparse->entries(rows[i]))
      part[offsets[entry.column()] + entry.code()] += stats[i];
  }
  for (size_t k = 0; k < group.width; ++k) {
    const size_t n = columns.n_codes(group.first + k), common = group.sparse->default_code(k);
    PackedSum* own = part + offsets[k];
    if (common < n) own[common] = total - std::accumulate(own, own + n, PackedSum{0});
  }
}

}  // namespace

void add_up(const TreeColumns& columns, const ColumnGroup& group, std::span<const uint32_t> rows,
            const PackedSum* stats, bool prefetch, PackedSum* part) {
  std::fill_n(part, columns.histogram_size(group), 0);
  if (group.sparse) return add_up_sparse(columns, group, rows, stats, part);
  std::array<size_t, kGroupColumns> offsets{};
  for (size_t k = 0; k < group.width; ++k) offsets[k] = columns.offset(group, group.first + k);
  constexpr size_t kRowsBetweenPolls = 1 << 14;
  for (size_t i = 0; i < rows.size(); i += kRowsBetweenPolls) {
    const size_t some = std::min(kRowsBetweenPolls, rows.size() - i);
    poll_cancellation(some * group.width);
    kAddRows[group.width - 1](group.codes, offsets.data(), rows.data() + i, stats + i, some,
                              prefetch, part);
  }
}

}  // namespace bevel
