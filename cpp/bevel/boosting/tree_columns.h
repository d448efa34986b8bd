// The columns that the nodes of a tree may cut: features in bins, and the tree's own directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/boosting/binned_columns.h"
#include "bevel/boosting/direction_bins.h"
#include "bevel/boosting/team.h"
#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/direction_constraints.h"
#include "bevel/projection/sampler.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/projection_bound.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// Columns whose codes are together: up to kGroupColumns that are dense, or some that are sparse.
struct ColumnGroup {
  const uint8_t* codes;  // code of row r at [r * kGroupColumns]; null: sparse
  size_t first;          // column
  size_t width;
  const SparseCodeGroup* sparse = nullptr;
};

class TreeColumns {
 public:
  // room: memory for the codes of directions, see CodeGroups.
  TreeColumns(const Options& options, const DatasetView& data, const TableValues& table,
              const BinnedColumns& features, int direction_bins, std::span<uint8_t> room);

  // Draws the directions of a tree and codes all rows; `rows` are the rows of the data in the
  // tree.
  void draw(uint64_t tree, std::span<const uint32_t> rows, Team& team);

  // Features come first, directions follow.
  size_t size() const { return n_features_ + directions_.size(); }
  std::span<const ColumnGroup> groups() const { return groups_; }
  bool is_feature(size_t column) const { return column < n_features_; }
  // Whether the tree may cut the column.
  bool is_active(size_t column) const { return !is_feature(column) || active_[column]; }
  bool is_nominal(size_t column) const {
    return is_feature(column) && features_.bins(column).is_nominal();
  }
  const DirectionConstraints& constraints() const { return constraints_; }
  // Direction of monotonicity along the column, see DirectionConstraints::push().
  int push(size_t column) const { return push_.empty() ? 0 : push_[column]; }
  // Groups that its features share; empty without groups.
  const std::vector<int32_t>& groups_of(size_t column) const { return groups_of_[column]; }
  bool is_allowed(size_t column, const OpenGroups& open) const {
    return groups_of_.empty() || constraints_.allows(open, groups_of_[column]);
  }
  int n_bins(size_t column) const {
    const int64_t feature = feature_of(column);
    return feature >= 0 ? features_.bins(static_cast<size_t>(feature)).n_bins
                        : bins_[column - n_features_].n_bins();
  }
  bool has_missing(size_t column) const {
    return is_feature(column) && features_.bins(column).has_missing;
  }
  // Number of entries of the histogram of a column, and their offset among those of all columns.
  size_t n_codes(size_t column) const {
    return static_cast<size_t>(n_bins(column)) + has_missing(column);
  }
  size_t offset(size_t column) const { return offsets_[column]; }
  size_t histogram_size() const { return offsets_.back(); }
  // Offset and number of entries for the columns of a group.
  size_t offset(const ColumnGroup& group, size_t column) const {
    return offsets_[column] - offsets_[group.first];
  }
  size_t histogram_size(const ColumnGroup& group) const {
    return offset(group, group.first + group.width);
  }
  bool is_sparse() const { return data_.sparse != nullptr; }
  // Codes of a dense column; that of row r is at [r * kGroupColumns].
  const uint8_t* codes(size_t column) const {
    return is_feature(column) ? features_.codes().column(column)
                              : codes_.column(column - n_features_);
  }
  uint8_t sparse_code(size_t column, size_t row) const {
    return is_feature(column) ? features_.sparse_codes().code(column, row)
                              : sparse_codes_.code(column - n_features_, row);
  }
  // Calls visit(i, code) with the code of the i-th row.
  template <class Visit>
  void visit_codes(size_t column, std::span<const uint32_t> rows, Visit visit) const {
    if (is_sparse()) {
      for (size_t i = 0; i < rows.size(); ++i) visit(i, sparse_code(column, rows[i]));
    } else {
      const uint8_t* own = codes(column);
      for (size_t i = 0; i < rows.size(); ++i) visit(i, own[size_t{rows[i]} * kGroupColumns]);
    }
  }
  // About the number of codes of a row that a histogram adds up.
  double codes_of_row() const;
  // The direction of a column, and the threshold after a bin; for nominal columns the levels whose
  // codes go left.
  void describe(size_t column, int bin, SplitRecord& out) const;
  void describe_levels(size_t column, const uint8_t* goes_left, SplitRecord& out) const;

 private:
  // The single feature of a column, -1 for a combination.
  int64_t feature_of(size_t column) const {
    if (is_feature(column)) return static_cast<int64_t>(column);
    const size_t direction = column - n_features_;
    return direction < n_copied_ ? *directions_.indices(direction) : -1;
  }
  template <class Codes>
  void add_groups(const Codes& codes, size_t first);
  void copy_few_features();
  void draw_directions(uint64_t tree, std::span<const uint32_t> rows);
  void learn_constraints();
  void code_directions(std::span<const uint32_t> rows, Team& team);
  void place_bins(std::span<const uint32_t> rows, Team& team);
  void code_block(size_t first, size_t last);
  // Bins and codes of directions of sparse columns, equal to those of the dense table.
  class SparseDirections;
  void code_sparse_directions(std::span<const uint32_t> rows, Team& team);
  // features: values of each feature for the rows to be projected.
  Projection projection(size_t direction, const std::vector<const float*>& features,
                        std::vector<const float*>& columns, std::vector<float>& fill) const;

  const Options& options_;
  const DatasetView& data_;
  const TableValues table_;
  const BinnedColumns& features_;
  const Kernels& kernels_;
  const ProjectionBound bound_;
  const size_t n_features_;
  const int direction_bins_;
  const DirectionConstraints constraints_;
  Samplers samplers_;
  std::vector<SamplerScratch> scratch_;

  std::vector<uint8_t> active_;  // by feature
  Candidates directions_;
  size_t n_copied_ = 0;       // number of directions, the first ones, that are single features
  std::vector<int8_t> push_;  // by column; empty: nothing is monotone
  std::vector<std::vector<int32_t>> groups_of_;  // by column; empty: no groups
  std::vector<DirectionBins> bins_;
  CodeGroups codes_;
  SparseCodes sparse_codes_;  // instead of codes_
  std::vector<ColumnGroup> groups_;
  std::vector<size_t> offsets_;  // by column, and one more
};

}  // namespace bevel
