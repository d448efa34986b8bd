#include "bevel/data/sparse_columns.h"

#include <algorithm>
#include <bit>

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

constexpr uint32_t kNoPlace = ~uint32_t{0};

}  // namespace

void SparseGather::begin_node(const SparseColumns& columns, std::span<const uint32_t> rows) {
  columns_ = &columns;
  rows_ = rows;
  has_places_ = false;
}

// Where each row of the data is among the rows of the node.
void SparseGather::find_places() {
  if (has_places_) return;
  place_.resize(columns_->n_rows, kNoPlace);
  for (const uint32_t row : marked_) place_[row] = kNoPlace;
  marked_.assign(rows_.begin(), rows_.end());
  for (size_t i = 0; i < rows_.size(); ++i) place_[rows_[i]] = static_cast<uint32_t>(i);
  has_places_ = true;
}

void SparseGather::read(size_t feature, float* out) {
  const SparseColumn column = columns_->column(feature);
  std::fill_n(out, rows_.size(), column.common);
  if (column.rows.empty() || rows_.empty()) return;
  // Of the exceptions only those between the first and the last row of the node.
  const auto less = [](int32_t row, uint32_t other) { return static_cast<uint32_t>(row) < other; };
  const auto begin = std::lower_bound(column.rows.begin(), column.rows.end(), rows_.front(), less);
  const auto end = std::lower_bound(begin, column.rows.end(), rows_.back() + 1, less);
  const auto n = static_cast<size_t>(end - begin);
  const float* values = column.values + (begin - column.rows.begin());
  if (n > rows_.size() * static_cast<size_t>(std::bit_width(n))) {
    auto from = begin;
    for (size_t i = 0; i < rows_.size(); ++i) {
      from = std::lower_bound(from, end, rows_[i], less);
      if (from == end) break;
      if (static_cast<uint32_t>(*from) == rows_[i]) out[i] = values[from - begin];
    }
    return;
  }
  find_places();
  for (size_t i = 0; i < n; ++i) {
    const uint32_t place = place_[static_cast<size_t>(begin[static_cast<ptrdiff_t>(i)])];
    if (place != kNoPlace) out[place] = values[i];
  }
}

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
