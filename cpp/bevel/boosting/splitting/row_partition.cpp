#include "bevel/boosting/splitting/row_partition.h"

#include <algorithm>

#include "bevel/boosting/code_groups.h"
#include "bevel/boosting/splitting/row_visits.h"
#include "bevel/support/cancellation.h"
#include "bevel/tree/growth.h"

namespace bevel {
namespace {

// On one thread: only the smaller side goes through the buffer, from the end where it stands last.
// Each value is written to both sides, the wrong one of which is written again: no branches.
template <class T>
void move_in_place(std::span<T> values, const uint8_t* goes_left, size_t n_left, T* buffer) {
  const size_t n = values.size(), n_right = n - n_left;
  if (n_right <= n_left) {
    partition_stably(values.data(), n, goes_left, buffer);
  } else {
    size_t left = n_left, right = n;
    for (size_t i = n; i-- > 0;) {
      const T value = values[i];
      values[right - 1] = value;
      buffer[left] = value;
      left -= goes_left[i];
      right -= !goes_left[i];
    }
    std::copy_n(buffer + 1, n_left, values.data());
  }
}

}  // namespace

size_t RowPartition::run(const RowTest& test, std::span<uint32_t> rows,
                         std::span<PackedSum> stats) {
  const size_t n = rows.size(), n_blocks = (n + kBlockRows - 1) / kBlockRows;
  if (goes_left_.size() < n) goes_left_.resize(n);
  lefts_before_.assign(n_blocks + 1, 0);
  team_.run_blocks(n, kBlockRows, [&](size_t first, size_t last) {
    poll_cancellation(last - first);
    const uint32_t* own = rows.data() + first;
    uint8_t* goes_left = goes_left_.data() + first;
    const auto code = [&](size_t i) { return test.codes + size_t{own[i]} * kGroupColumns; };
    size_t n_left = 0;
    if (test.sparse)
      test.sparse->visit_codes(
          test.column, rows.subspan(first, last - first),
          [&](size_t i, uint8_t c) { n_left += goes_left[i] = test.goes_left[c]; });
    else
      visit_rows(last - first, test.prefetch, code,
                 [&](size_t i) { n_left += goes_left[i] = test.goes_left[*code(i)]; });
    lefts_before_[first / kBlockRows + 1] = n_left;
  });
  for (size_t b = 0; b < n_blocks; ++b) lefts_before_[b + 1] += lefts_before_[b];
  const size_t n_left = lefts_before_[n_blocks];
  move(rows, n_left);
  if (!stats.empty()) move(stats, n_left);
  return n_left;
}

template <class T>
void RowPartition::move(std::span<T> values, size_t n_left) {
  const bool alone = team_.size() == 1 || values.size() <= kBlockRows;
  const size_t n_right = values.size() - n_left;
  const size_t n_buffered = alone ? std::min(n_left, n_right) + 1 : values.size();
  if (buffer_.size() < n_buffered * sizeof(T)) buffer_.resize(n_buffered * sizeof(T));
  T* buffer = reinterpret_cast<T*>(buffer_.data());
  if (alone) return move_in_place(values, goes_left_.data(), n_left, buffer);
  team_.run_blocks(values.size(), kBlockRows, [&](size_t first, size_t last) {
    size_t left = lefts_before_[first / kBlockRows];
    size_t right = n_left + first - left;
    for (size_t i = first; i < last; ++i) {
      const bool goes_left = goes_left_[i] != 0;
      buffer[goes_left ? left : right] = values[i];
      left += goes_left;
      right += !goes_left;
    }
  });
  team_.run_blocks(values.size(), kBlockRows, [&](size_t first, size_t last) {
    std::copy(buffer + first, buffer + last, values.data() + first);
  });
}

}  // namespace bevel
