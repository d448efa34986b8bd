#include "bevel/data/store.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Some cache lines of each row, and rows until the lines of the target's columns fill the inner
// cache.
constexpr size_t kTileColumns = 64;
constexpr size_t kTileRows = 64;
// Rows may be too far apart for the hardware to prefetch the next one.
constexpr size_t kRowsAhead = 12;

template <class Number>
void fetch([[maybe_unused]] const Number* values, [[maybe_unused]] size_t n) {
#if defined(__GNUC__)
  constexpr size_t kLine = 64 / sizeof(Number);
  for (size_t i = 0; i < n; i += kLine) __builtin_prefetch(values + i);
#endif
}

template <class Number>
bool within(const Number* values, size_t n, double limit) {
  const auto bound = static_cast<Number>(limit);
  int beyond = 0;
  for (size_t i = 0; i < n; ++i) beyond |= std::fabs(values[i]) > bound;  // not for NaN
  return beyond == 0;
}

// Columns [first, last), block by block; the first row and column that is beyond the limit.
template <class Number>
std::optional<TablePlace> store_strip(const StridedTable<Number>& t, double limit, size_t first,
                                      size_t last, float* target) {
  // One column of padding keeps the rows of a block from conflicting in the cache.
  Number block[kTileRows][kTileColumns + 16 / sizeof(Number)];
  for (size_t start = 0; start < t.n_rows; start += kTileRows) {
    poll_cancellation(kTileRows * kTileColumns);
    const size_t n = std::min(t.n_rows - start, kTileRows);
    for (size_t i = 0; i < n; ++i) {
      const Number* source = t.values + static_cast<int64_t>(start + i) * t.row_stride;
      if (t.column_stride == 1) {
        if (start + i + kRowsAhead < t.n_rows)
          fetch(source + static_cast<int64_t>(kRowsAhead) * t.row_stride + first, last - first);
        std::copy(source + first, source + last, block[i]);
      } else {
        for (size_t c = first; c < last; ++c)
          block[i][c - first] = source[static_cast<int64_t>(c) * t.column_stride];
      }
      if (!within(block[i], last - first, limit)) {
        size_t c = 0;
        while (within(block[i] + c, 1, limit)) ++c;
        return TablePlace{start + i, first + c};
      }
    }
    for (size_t c = first; c < last; ++c)
      for (size_t i = 0; i < n; ++i)
        target[c * t.n_rows + start + i] = static_cast<float>(block[i][c - first]);
  }
  return std::nullopt;
}

}  // namespace

template <class Number>
std::optional<TablePlace> store_columns(const StridedTable<Number>& table, double limit,
                                        int n_threads, float* target, ColumnSummary& summary) {
  const size_t n_jobs = (table.n_columns + kTileColumns - 1) / kTileColumns;
  std::vector<std::optional<TablePlace>> beyond(n_jobs);
  summary = ColumnSummary(table.n_columns);
  auto run = [&](int, size_t job) {
    const size_t first = job * kTileColumns;
    const size_t last = std::min(table.n_columns, first + kTileColumns);
    beyond[job] = store_strip(table, limit, first, last, target);
    if (beyond[job]) return;
    std::vector<int32_t> keys;
    for (size_t c = first; c < last; ++c)
      summary.find(c, {target + c * table.n_rows, table.n_rows}, keys);
  };
  if (n_jobs == 1)
    run(0, 0);
  else
    ThreadPool(n_threads, n_jobs, run).run();
  for (const auto& place : beyond)
    if (place) return place;
  return std::nullopt;
}

template std::optional<TablePlace> store_columns(const StridedTable<float>&, double, int, float*,
                                                 ColumnSummary&);
template std::optional<TablePlace> store_columns(const StridedTable<double>&, double, int, float*,
                                                 ColumnSummary&);

}  // namespace bevel
