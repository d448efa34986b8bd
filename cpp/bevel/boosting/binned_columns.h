// The columns of the data in bins: intervals of numbers with similar numbers of rows, and levels
// of nominal columns. Made once for all trees.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/code_groups.h"
#include "bevel/boosting/sparse_codes.h"
#include "bevel/data/dataset_view.h"
#include "bevel/data/table_values.h"

namespace bevel {

// A numeric column: bin b holds the values in (edges[b - 1], edges[b]]; NaN has the code
// after the last bin. A nominal column: codes of its levels.
struct ColumnBins {
  std::vector<float> edges;         // ascending, one less than bins
  float highest = 0.0f;             // largest value
  std::vector<uint8_t> level_code;  // nominal: code of each level; rare levels share the last one
  int n_bins = 1;
  bool has_missing = false;

  bool is_nominal() const { return !level_code.empty(); }
  // The code of a number.
  uint8_t code(float value) const {
    if (value != value) return static_cast<uint8_t>(n_bins);
    return static_cast<uint8_t>(std::lower_bound(edges.begin(), edges.end(), value) -
                                edges.begin());
  }
};

class BinnedColumns {
 public:
  // rows: those that bins are learned from; all rows are coded. room: see CodeGroups.
  BinnedColumns(const DatasetView& data, const TableValues& table, std::span<const uint32_t> rows,
                int max_bins, int n_threads, std::span<uint8_t> room);
  // Bins of the sparse columns of `data`, equal to those of the dense table.
  BinnedColumns(const DatasetView& data, std::span<const uint32_t> rows, int max_bins,
                int n_threads);

  const ColumnBins& bins(size_t feature) const { return bins_[feature]; }
  const CodeGroups& codes() const { return codes_; }
  const SparseCodes& sparse_codes() const { return sparse_codes_; }  // instead of codes()
  // The codes of a sparse column that differ from the most frequent one.
  void code_sparse(const SparseColumns& columns, size_t feature, CodedColumn& out) const;
  // Largest absolute value of all numeric columns.
  double largest_size() const { return largest_size_; }

 private:
  void find_extremes(const TableValues& table, std::span<const uint32_t> rows, int n_threads);
  void code(const TableValues& table, int n_threads);
  void code_tile(const TableValues& table, size_t feature, size_t first, size_t n,
                 const std::array<float, kCodes>& edges, float& largest);

  std::vector<ColumnBins> bins_;
  CodeGroups codes_;
  SparseCodes sparse_codes_;
  double largest_size_ = 0.0;
};

}  // namespace bevel
