#include "bevel/boosting/binned_columns.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "bevel/split/projection_bound.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Rows that are sorted to place the edges; bins of more rows would hardly differ.
constexpr size_t kMaxSorted = 32768;

float midpoint(float low, float high) {
  const auto middle = static_cast<float>((static_cast<double>(low) + high) * 0.5);
  return middle < high ? middle : low;
}

// Distinct values, ascending, and the number of rows up to each.
struct SortedValues {
  std::vector<float> distinct;
  std::vector<size_t> up_to;

  size_t n_rows() const { return up_to.empty() ? 0 : up_to.back(); }
  void add(float value, size_t n) {
    if (distinct.empty() || value != distinct.back()) {
      distinct.push_back(value);
      up_to.push_back(n_rows());
    }
    up_to.back() += n;
  }
};

// Edges between sorted values such that bins have similar sizes; equal values share a bin.
std::vector<float> place_edges(const SortedValues& sorted, int max_bins) {
  const auto& [distinct, up_to] = sorted;
  std::vector<float> edges;
  if (distinct.size() <= static_cast<size_t>(max_bins)) {
    for (size_t d = 0; d + 1 < distinct.size(); ++d)
      edges.push_back(midpoint(distinct[d], distinct[d + 1]));
    return edges;
  }
  // Each bin takes its share of the remaining rows, so that a frequent value leaves the others
  // their bins.
  size_t taken = 0;
  for (size_t d = 0; d + 1 < distinct.size(); ++d) {
    const size_t bins_left = static_cast<size_t>(max_bins) - edges.size();
    if (bins_left <= 1) break;
    const size_t rows_left = sorted.n_rows() - taken;
    if ((up_to[d] - taken) * bins_left >= rows_left) {
      edges.push_back(midpoint(distinct[d], distinct[d + 1]));
      taken = up_to[d];
    }
  }
  return edges;
}

ColumnBins bins_of(const SortedValues& sorted, int max_bins) {
  ColumnBins bins;
  bins.edges = place_edges(sorted, max_bins);
  bins.n_bins = static_cast<int>(bins.edges.size()) + 1;
  bins.highest = sorted.distinct.empty() ? 0.0f : sorted.distinct.back();
  return bins;
}

ColumnBins bin_numbers(const TableValues& table, size_t feature, std::span<const uint32_t> rows,
                       int max_bins) {
  const size_t n_sorted = std::min(rows.size(), kMaxSorted);
  std::vector<uint32_t> some(n_sorted);
  for (size_t i = 0; i < n_sorted; ++i) some[i] = rows[i * rows.size() / n_sorted];
  std::vector<float> sample(n_sorted);
  table.gather(feature, some, sample.data());
  std::erase_if(sample, [](float value) { return value != value; });
  std::sort(sample.begin(), sample.end());
  SortedValues sorted;
  for (const float value : sample) sorted.add(value, 1);
  return bins_of(sorted, max_bins);
}

// Rows that take part in the bins of sparse columns.
struct MarkedRows {
  enum : uint8_t { in_training = 1, in_sample = 2 };
  std::vector<uint8_t> marks;  // by row
  size_t n_training, n_sample;

  MarkedRows(size_t n_rows, std::span<const uint32_t> rows)
      : marks(n_rows, 0), n_training(rows.size()), n_sample(std::min(rows.size(), kMaxSorted)) {
    for (const uint32_t row : rows) marks[row] = in_training;
    for (size_t i = 0; i < n_sample; ++i) marks[rows[i * rows.size() / n_sample]] |= in_sample;
  }
};

// As bin_numbers() of the dense column, and which values are missing, and the largest one.
ColumnBins bin_sparse(const SparseColumn& column, const MarkedRows& rows, int max_bins) {
  std::vector<float> sample;
  size_t n_sample = 0, n_training = 0;
  bool has_missing = false;
  float highest = -std::numeric_limits<float>::infinity();
  const auto see = [&](float value) {
    has_missing |= value != value;
    if (value > highest) highest = value;
  };
  for (size_t i = 0; i < column.rows.size(); ++i) {
    const uint8_t mark = rows.marks[static_cast<size_t>(column.rows[i])];
    if (!mark) continue;
    ++n_training;
    see(column.values[i]);
    if (!(mark & MarkedRows::in_sample)) continue;
    ++n_sample;
    if (column.values[i] == column.values[i]) sample.push_back(column.values[i]);
  }
  std::sort(sample.begin(), sample.end());
  if (n_training < rows.n_training) see(column.common);
  const bool has_common = column.common == column.common && n_sample < rows.n_sample;
  SortedValues sorted;
  size_t i = 0;
  for (; i < sample.size() && !(has_common && sample[i] >= column.common); ++i)
    sorted.add(sample[i], 1);
  if (has_common) sorted.add(column.common, rows.n_sample - n_sample);
  for (; i < sample.size(); ++i) sorted.add(sample[i], 1);
  ColumnBins bins = bins_of(sorted, max_bins);
  bins.has_missing = has_missing;
  bins.highest = std::max(bins.highest, highest);
  return bins;
}

// Number of edges below a value, in eight steps without branches.
void code_numbers(const float* values, size_t n, const std::array<float, kCodes>& edges,
                  size_t missing, uint8_t* codes) {
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
  if (n_levels > kMaxCodedBins)
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return count[a] > count[b]; });
  bins.level_code.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    bins.level_code[static_cast<size_t>(order[i])] =
        static_cast<uint8_t>(std::min<size_t>(i, kMaxCodedBins - 1));
  bins.n_bins = std::min(n_levels, kMaxCodedBins);
  return bins;
}

// Threads have separate rows and share no cache lines. Columns of a tile are read one after the
// other, even if the table is stored by rows: the tile is then in the cache.
constexpr size_t kRowsPerJob = 1 << 14;
constexpr size_t kBinnedTileRows = 256;

}  // namespace

BinnedColumns::BinnedColumns(const DatasetView& data, const TableValues& table,
                             std::span<const uint32_t> rows, int max_bins, int n_threads,
                             std::span<uint8_t> room)
    : bins_(static_cast<size_t>(data.n_features)), codes_(room) {
  codes_.resize(data.n_rows, bins_.size());
  ThreadPool edges(n_threads, bins_.size(), [&](int, size_t feature) {
    poll_cancellation(std::min(rows.size(), kMaxSorted) * 16);
    const int32_t n_levels = data.levels[feature];
    bins_[feature] = n_levels > 0 ? bin_levels(table.column(feature), rows, n_levels)
                                  : bin_numbers(table, feature, rows, max_bins);
  });
  edges.run();
  find_extremes(table, rows, n_threads);
  code(table, n_threads);
}

BinnedColumns::BinnedColumns(const DatasetView& data, std::span<const uint32_t> rows, int max_bins,
                             int n_threads)
    : bins_(static_cast<size_t>(data.n_features)), codes_({}) {
  const SparseColumns& columns = *data.sparse;
  const MarkedRows marked(data.n_rows, rows);
  sparse_codes_.resize(data.n_rows, bins_.size(), columns.n_exceptions());
  std::vector<float> largest(sparse_codes_.n_groups(), 0.0f);
  ThreadPool groups(n_threads, largest.size(), [&](int, size_t g) {
    const size_t first = sparse_codes_.first(g);
    sparse_codes_.group(g).build(data.n_rows, sparse_codes_.width(g), [&](size_t k, auto& out) {
      const SparseColumn column = columns.column(first + k);
      poll_cancellation(column.rows.size() * 32);
      bins_[first + k] = bin_sparse(column, marked, max_bins);
      code_sparse(columns, first + k, out);
      largest[g] = std::max(largest[g], largest_size_of(column.values, column.rows.size()));
      if (column.rows.size() < data.n_rows)
        largest[g] = std::max(largest[g], largest_size_of(&column.common, 1));
    });
  });
  groups.run();
  for (const float size : largest) largest_size_ = std::max<double>(largest_size_, size);
}

void BinnedColumns::code_sparse(const SparseColumns& columns, size_t feature,
                                CodedColumn& out) const {
  const SparseColumn column = columns.column(feature);
  const ColumnBins& bins = bins_[feature];
  out.default_code = bins.code(column.common);
  for (size_t i = 0; i < column.rows.size(); ++i) {
    const uint8_t code = bins.code(column.values[i]);
    if (code != out.default_code)
      out.entries.push_back({static_cast<uint32_t>(column.rows[i]), code});
  }
}

// Which columns have missing values, and the largest value, of all rows.
void BinnedColumns::find_extremes(const TableValues& table, std::span<const uint32_t> rows,
                                  int n_threads) {
  const size_t n_jobs = (rows.size() + kRowsPerJob - 1) / kRowsPerJob;
  struct Extremes {
    float highest;
    bool has_missing = false;
  };
  std::vector<std::vector<Extremes>> found(n_jobs);
  ThreadPool scan(n_threads, n_jobs, [&](int, size_t job) {
    std::array<float, kBinnedTileRows> values;
    for (const ColumnBins& bins : bins_) found[job].push_back({bins.highest});
    const auto mine =
        rows.subspan(job * kRowsPerJob, std::min(kRowsPerJob, rows.size() - job * kRowsPerJob));
    for (size_t tile = 0; tile < mine.size(); tile += kBinnedTileRows) {
      const auto some = mine.subspan(tile, std::min(kBinnedTileRows, mine.size() - tile));
      poll_cancellation(some.size() * bins_.size());
      for (size_t feature = 0; feature < bins_.size(); ++feature) {
        Extremes& own = found[job][feature];
        table.gather(feature, some, values.data());
        for (size_t i = 0; i < some.size(); ++i) {
          const float value = values[i];
          own.has_missing |= value != value;
          if (value > own.highest) own.highest = value;
        }
      }
    }
  });
  scan.run();
  for (const auto& job : found)
    for (size_t feature = 0; feature < bins_.size(); ++feature) {
      if (bins_[feature].is_nominal()) continue;
      bins_[feature].has_missing |= job[feature].has_missing;
      bins_[feature].highest = std::max(bins_[feature].highest, job[feature].highest);
    }
}

void BinnedColumns::code(const TableValues& table, int n_threads) {
  std::vector<std::array<float, kCodes>> edges(bins_.size());
  for (size_t feature = 0; feature < bins_.size(); ++feature) {
    edges[feature].fill(std::numeric_limits<float>::infinity());
    std::copy(bins_[feature].edges.begin(), bins_[feature].edges.end(), edges[feature].begin());
  }
  const size_t n_rows = codes_.n_rows();
  const size_t n_jobs = (n_rows + kRowsPerJob - 1) / kRowsPerJob;
  std::vector<float> largest(n_jobs, 0.0f);
  ThreadPool coding(n_threads, n_jobs, [&](int, size_t job) {
    const size_t end = std::min(n_rows, (job + 1) * kRowsPerJob);
    for (size_t first = job * kRowsPerJob; first < end; first += kBinnedTileRows) {
      const size_t n = std::min(kBinnedTileRows, end - first);
      poll_cancellation(n * bins_.size() * 8);
      for (size_t feature = 0; feature < bins_.size(); ++feature)
        code_tile(table, feature, first, n, edges[feature], largest[job]);
    }
  });
  coding.run();
  for (const float size : largest) largest_size_ = std::max<double>(largest_size_, size);
}

void BinnedColumns::code_tile(const TableValues& table, size_t feature, size_t first, size_t n,
                              const std::array<float, kCodes>& edges, float& largest) {
  const ColumnBins& bins = bins_[feature];
  std::array<float, kBinnedTileRows> room;
  const float* values = table.run(feature, first, n, room.data());
  uint8_t* codes = codes_.column(feature) + first * kGroupColumns;
  if (bins.is_nominal()) {
    for (size_t i = 0; i < n; ++i) {
      const auto level = static_cast<size_t>(values[i]);
      codes[i * kGroupColumns] =
          level < bins.level_code.size() ? bins.level_code[level] : kUnknownLevel;
    }
    return;
  }
  code_numbers(values, n, edges, static_cast<size_t>(bins.n_bins), codes);
  largest = std::max(largest, largest_size_of(values, n));
}

}  // namespace bevel
