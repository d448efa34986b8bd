#include "bevel/data/sparse_columns.h"

#include <algorithm>
#include <vector>

#include "bevel/support/arithmetic/sortable.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// The median of a column of n_rows rows; its exceptions that are not missing are in `room`.
float median(const SparseColumn& column, size_t n_rows, std::vector<uint32_t>& room) {
  std::sort(room.begin(), room.end());
  const size_t n_common = column.common == column.common ? n_rows - column.rows.size() : 0;
  const uint32_t common = sortable(column.common);
  const auto below = static_cast<size_t>(
      n_common ? std::lower_bound(room.begin(), room.end(), common) - room.begin() : 0);
  const size_t n = room.size() + n_common;
  if (n == 0) return 0.0f;
  const auto at = [&](size_t rank) -> double {
    if (rank >= below && rank < below + n_common) return column.common;
    return from_sortable(room[rank < below ? rank : rank - n_common]);
  };
  const double lower = at((n - 1) / 2);
  return static_cast<float>(n % 2 ? lower : (lower + at(n / 2)) / 2.0);
}

}  // namespace

ColumnSummary summarise_columns(const SparseColumns& columns, int n_threads) {
  constexpr size_t kColumnsPerJob = 64;
  ColumnSummary summary(columns.n_features);
  auto run = [&](int, size_t job) {
    std::vector<uint32_t> present;
    const size_t last = std::min(columns.n_features, (job + 1) * kColumnsPerJob);
    for (size_t f = job * kColumnsPerJob; f < last; ++f) {
      const SparseColumn column = columns.column(f);
      poll_cancellation(column.rows.size() * 16);
      present.clear();
      for (size_t i = 0; i < column.rows.size(); ++i)
        if (column.values[i] == column.values[i]) present.push_back(sortable(column.values[i]));
      const bool common_missing =
          column.common != column.common && column.rows.size() < columns.n_rows;
      summary.has_nan[f] = common_missing || present.size() < column.rows.size();
      summary.median[f] = median(column, columns.n_rows, present);
    }
  };
  ThreadPool(n_threads, (columns.n_features + kColumnsPerJob - 1) / kColumnsPerJob, run).run();
  return summary;
}

}  // namespace bevel
