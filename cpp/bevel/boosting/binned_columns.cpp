#include "bevel/boosting/binned_columns.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Rows that are sorted to place the edges; bins of more rows would hardly differ.
constexpr size_t kMostSorted = 32768;

float midpoint(float low, float high) {
  const auto middle = static_cast<float>((static_cast<double>(low) + high) * 0.5);
  return middle < high ? middle : low;
}

// Edges between sorted values such that bins hold about as many; equal values share a bin.
std::vector<float> place_edges(const std::vector<float>& sorted, int max_bins) {
  std::vector<float> distinct;
  std::vector<size_t> up_to;  // rows up to each distinct value
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i] != sorted[i - 1]) {
      distinct.push_back(sorted[i]);
      up_to.push_back(0);
    }
    up_to.back() = i + 1;
  }
  std::vector<float> edges;
  if (distinct.size() <= static_cast<size_t>(max_bins)) {
    for (size_t d = 0; d + 1 < distinct.size(); ++d)
      edges.push_back(midpoint(distinct[d], distinct[d + 1]));
    return edges;
  }
  // The next bin takes its share of what is left, so that a value of many rows leaves the others
  // their bins.
  size_t taken = 0;
  for (size_t d = 0; d + 1 < distinct.size(); ++d) {
    const size_t bins_left = static_cast<size_t>(max_bins) - edges.size();
    if (bins_left <= 1) break;
    const size_t rows_left = sorted.size() - taken;
    if ((up_to[d] - taken) * bins_left >= rows_left) {
      edges.push_back(midpoint(distinct[d], distinct[d + 1]));
      taken = up_to[d];
    }
  }
  return edges;
}

ColumnBins bin_numbers(const float* values, std::span<const uint32_t> rows, int max_bins) {
  ColumnBins bins;
  const size_t n_sorted = std::min(rows.size(), kMostSorted);
  std::vector<float> sample;
  sample.reserve(n_sorted);
  for (size_t i = 0; i < n_sorted; ++i) {
    const float value = values[rows[i * rows.size() / n_sorted]];
    if (value == value) sample.push_back(value);
  }
  std::sort(sample.begin(), sample.end());
  bins.edges = place_edges(sample, max_bins);
  bins.n_bins = static_cast<int>(bins.edges.size()) + 1;
  bins.highest = sample.empty() ? 0.0f : sample.back();
  for (const uint32_t row : rows) {
    bins.has_missing |= values[row] != values[row];
    if (values[row] > bins.highest) bins.highest = values[row];
  }
  return bins;
}

// Number of edges below a value, in eight steps without branches.
void code_numbers(const float* values, size_t n, const ColumnBins& bins, uint8_t* codes) {
  std::array<float, kCodes> edges;
  edges.fill(std::numeric_limits<float>::infinity());
  std::copy(bins.edges.begin(), bins.edges.end(), edges.begin());
  const auto missing = static_cast<size_t>(bins.n_bins);
  for (size_t i = 0; i < n; ++i) {
    const float value = values[i];
    size_t position = 0;
    for (size_t step = kCodes / 2; step > 0; step /= 2)
      position += step & (size_t{0} - size_t{edges[position + step - 1] < value});
    codes[i * kGroupColumns] = static_cast<uint8_t>(value == value ? position : missing);
  }
}

// Levels by their frequency: those beyond the most frequent share a code.
ColumnBins bin_levels(const float* values, std::span<const uint32_t> rows, int32_t n_levels) {
  ColumnBins bins;
  std::vector<size_t> count(static_cast<size_t>(n_levels), 0);
  for (const uint32_t row : rows) ++count[static_cast<size_t>(values[row])];
  std::vector<int32_t> order(static_cast<size_t>(n_levels));
  std::iota(order.begin(), order.end(), 0);
  if (n_levels > kMostBins)
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return count[a] > count[b]; });
  bins.level_code.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    bins.level_code[static_cast<size_t>(order[i])] =
        static_cast<uint8_t>(std::min<size_t>(i, kMostBins - 1));
  bins.n_bins = std::min(n_levels, kMostBins);
  return bins;
}

}  // namespace

BinnedColumns::BinnedColumns(const DatasetView& data, std::span<const uint32_t> rows, int max_bins,
                             int n_threads)
    : bins_(static_cast<size_t>(data.n_features)), codes_(data.n_rows, bins_.size()) {
  ThreadPool edges(n_threads, bins_.size(), [&](int, size_t feature) {
    poll_cancellation(data.n_rows);
    const auto f = static_cast<int32_t>(feature);
    bins_[feature] = data.levels[f] > 0 ? bin_levels(data.column(f), rows, data.levels[f])
                                        : bin_numbers(data.column(f), rows, max_bins);
  });
  edges.run();
  // Threads share no lines: each has rows of its own.
  constexpr size_t kRowsPerJob = 1 << 14;
  const size_t n_jobs = (data.n_rows + kRowsPerJob - 1) / kRowsPerJob;
  ThreadPool coding(n_threads, n_jobs, [&](int, size_t job) {
    const size_t first = job * kRowsPerJob;
    const size_t n = std::min(kRowsPerJob, data.n_rows - first);
    for (size_t feature = 0; feature < bins_.size(); ++feature) {
      poll_cancellation(n * 8);
      const float* values = data.column(static_cast<int32_t>(feature)) + first;
      uint8_t* codes = codes_.column(feature) + first * kGroupColumns;
      if (bins_[feature].is_nominal())
        for (size_t i = 0; i < n; ++i)
          codes[i * kGroupColumns] = bins_[feature].level_code[static_cast<size_t>(values[i])];
      else
        code_numbers(values, n, bins_[feature], codes);
    }
  });
  coding.run();
}

}  // namespace bevel
