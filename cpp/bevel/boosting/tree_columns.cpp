#include "bevel/boosting/tree_columns.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "bevel/projection/family.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr size_t kSampleRows = 4096;      // that place the bins of a direction
constexpr size_t kCodedTileRows = 512;    // coded at a time: sixteen directions in the inner cache
constexpr size_t kCodedBlockRows = 8192;  // coded by a thread at a time

void append(Candidates& to, const Candidates& from, size_t direction) {
  for (int k = 0; k < from.n_nonzeros(direction); ++k)
    to.add_entry(from.indices(direction)[k], from.weights(direction)[k]);
  to.close();
}

}  // namespace

TreeColumns::TreeColumns(const Options& options, const DatasetView& data, const TableValues& table,
                         const BinnedColumns& features, int direction_bins, std::span<uint8_t> room)
    : options_(options),
      data_(data),
      table_(table),
      features_(features),
      kernels_(kernels(options.simd)),
      bound_(data, features.largest_size()),
      n_features_(static_cast<size_t>(data.n_features)),
      direction_bins_(direction_bins),
      constraints_(options.constraints, data),
      samplers_(make_samplers(options, data)),
      scratch_(samplers_.size()),
      codes_(room) {
  for (size_t f = 0; f < samplers_.size(); ++f) samplers_[f]->prepare(scratch_[f]);
}

void TreeColumns::draw(uint64_t tree, std::span<const uint32_t> rows, Team& team) {
  draw_directions(tree, rows);
  learn_constraints();
  code_directions(rows, team);
  groups_.clear();
  if (is_sparse()) {
    add_groups(features_.sparse_codes(), 0);
    add_groups(sparse_codes_, n_features_);
  } else {
    add_groups(features_.codes(), 0);
    if (directions_.size() > 0) add_groups(codes_, n_features_);
  }
  offsets_.assign(1, 0);
  for (size_t c = 0; c < size(); ++c) offsets_.push_back(offsets_.back() + n_codes(c));
}

// The groups of some columns, less those that no tree cuts. first: the first of these columns.
template <class Codes>
void TreeColumns::add_groups(const Codes& codes, size_t first) {
  for (size_t g = 0; g < codes.n_groups(); ++g) {
    const size_t begin = first + codes.first(g), width = codes.width(g);
    bool cut = false;
    for (size_t c = begin; c < begin + width; ++c) cut |= is_active(c);
    if (!cut) continue;
    if constexpr (std::is_same_v<Codes, SparseCodes>)
      groups_.push_back({nullptr, begin, width, &codes.group(g)});
    else
      groups_.push_back({codes.group(g), begin, width});
  }
}

double TreeColumns::codes_of_row() const {
  if (!is_sparse()) return static_cast<double>(size());
  size_t n = 0;
  for (const ColumnGroup& group : groups_) n += group.sparse->n_entries();
  return static_cast<double>(n) / static_cast<double>(data_.n_rows);
}

// Directions of a single feature are that feature.
void TreeColumns::draw_directions(uint64_t tree, std::span<const uint32_t> rows) {
  std::vector<const float*> columns(n_features_);
  for (size_t f = 0; data_.values && f < n_features_; ++f)
    columns[f] = data_.column(static_cast<int32_t>(f));
  const NodeRows node{columns.data(), rows};
  Stream stream(root_key(options_.seed, tree), Purpose::candidates);
  Candidates drawn;
  for (size_t f = 0; f < samplers_.size(); ++f) {
    const size_t first = drawn.size();
    samplers_[f]->sample(node, stream, scratch_[f], drawn);
    constraints_.restrict(*options_.families[f], first, stream, drawn);
    samplers_[f]->end_node(scratch_[f]);
  }
  // Axes of rotations that are drawn for each tree; samplers refer to them beyond the features.
  Candidates axes;
  if (any_family(options_, &Family::per_tree)) {
    Stream rotations(root_key(options_.seed, tree), Purpose::rotation);
    const TrainingRowData nothing;
    draw_tree_axes(options_, data_, {rows, nothing}, rotations, axes);
  }
  active_.assign(n_features_, 0);
  for (size_t c = 0; c < drawn.size(); ++c)
    if (drawn.n_nonzeros(c) == 1 && static_cast<size_t>(*drawn.indices(c)) < n_features_)
      active_[static_cast<size_t>(*drawn.indices(c))] = 1;
  copy_few_features();
  for (size_t c = 0; c < drawn.size(); ++c) {
    const auto first = static_cast<size_t>(*drawn.indices(c));
    if (first >= n_features_) {
      if (!bound_.may_overflow(axes, first - n_features_, first - n_features_ + 1))
        append(directions_, axes, first - n_features_);
    } else if (drawn.n_nonzeros(c) > 1 && !bound_.may_overflow(drawn, c, c + 1))
      append(directions_, drawn, c);
  }
}

// A few features that take part are copied beside the directions: the histograms of a group are of
// all its columns. Nominal ones and those with missing values have codes that directions lack.
void TreeColumns::copy_few_features() {
  directions_.clear();
  n_copied_ = 0;
  const auto n_active = static_cast<size_t>(std::count(active_.begin(), active_.end(), 1));
  if (2 * n_active > n_features_) return;
  for (size_t f = 0; f < n_features_; ++f) {
    const ColumnBins& bins = features_.bins(f);
    if (!active_[f] || bins.is_nominal() || bins.has_missing || data_.has_nan[f]) continue;
    active_[f] = 0;
    directions_.add_entry(static_cast<int32_t>(f), 1.0f);
    directions_.close();
    ++n_copied_;
  }
}

void TreeColumns::learn_constraints() {
  push_.clear();
  groups_of_.clear();
  if (!constraints_.any()) return;
  const float one = 1.0f;
  for (size_t c = 0; c < size(); ++c) {
    const auto feature = static_cast<int32_t>(c);
    const size_t direction = c - n_features_;
    const int32_t* index = is_feature(c) ? &feature : directions_.indices(direction);
    const float* weight = is_feature(c) ? &one : directions_.weights(direction);
    const int n = is_feature(c) ? 1 : directions_.n_nonzeros(direction);
    if (constraints_.is_monotone())
      push_.push_back(static_cast<int8_t>(constraints_.push(index, weight, n)));
    if (constraints_.has_groups()) groups_of_.push_back(constraints_.groups_of(index, n));
  }
}

Projection TreeColumns::projection(size_t direction, const std::vector<const float*>& features,
                                   std::vector<const float*>& columns,
                                   std::vector<float>& fill) const {
  const int n = directions_.n_nonzeros(direction);
  const int32_t* index = directions_.indices(direction);
  columns.clear();
  fill.clear();
  bool any_missing = false;
  for (int k = 0; k < n; ++k) {
    const auto feature = static_cast<size_t>(index[k]);
    columns.push_back(features[feature]);
    fill.push_back(data_.medians[feature]);
    any_missing |= data_.has_nan[feature] != 0;
  }
  return {columns.data(), directions_.weights(direction), any_missing ? fill.data() : nullptr, n};
}

void TreeColumns::code_directions(std::span<const uint32_t> rows, Team& team) {
  const size_t n = directions_.size();
  bins_.assign(n, {});
  if (is_sparse()) return code_sparse_directions(rows, team);
  codes_.resize(data_.n_rows, n);
  if (n == 0) return;
  place_bins(rows, team);
  team.run_blocks(data_.n_rows, kCodedBlockRows,
                  [&](size_t first, size_t last) { code_block(first, last); });
}

void TreeColumns::place_bins(std::span<const uint32_t> rows, Team& team) {
  const size_t n = directions_.size(), n_sample = std::min(rows.size(), kSampleRows);
  std::vector<uint32_t> sample(n_sample);
  for (size_t i = 0; i < n_sample; ++i) sample[i] = rows[i * rows.size() / n_sample];
  std::vector<const float*> features(n_features_);
  std::vector<float> room;
  if (table_.is_ready()) {
    for (size_t f = 0; f < n_features_; ++f) features[f] = table_.column(f);
  } else {
    room.resize(n_features_ * n_sample);
    team.run(n_features_, room.size() > kCodedBlockRows, [&](size_t f) {
      features[f] = room.data() + f * n_sample;
      table_.gather(f, sample, room.data() + f * n_sample);
    });
    std::iota(sample.begin(), sample.end(), 0u);
  }
  team.run(n, n * n_sample > kCodedBlockRows, [&](size_t direction) {
    if (direction < n_copied_) return;
    poll_cancellation(n_sample * 8);
    std::vector<const float*> columns;
    std::vector<float> fill, values(n_sample);
    kernels_.project(projection(direction, features, columns, fill), sample.data(), n_sample,
                     values.data());
    bins_[direction] = DirectionBins(values, direction_bins_);
  });
}

void TreeColumns::code_block(size_t first, size_t last) {
  std::vector<const float*> features(n_features_), columns;
  std::vector<float> fill, values(kCodedTileRows);
  std::vector<float> room(table_.is_ready() ? 0 : n_features_ * kCodedTileRows);
  std::vector<int32_t> cells(kCodedTileRows);
  std::vector<uint32_t> tile_rows(kCodedTileRows);
  std::iota(tile_rows.begin(), tile_rows.end(), 0u);
  for (size_t tile = first; tile < last; tile += kCodedTileRows) {
    const size_t n_tile = std::min(kCodedTileRows, last - tile);
    for (size_t f = 0; f < n_features_; ++f)
      features[f] =
          table_.run(f, tile, n_tile, room.data() + (room.empty() ? 0 : f * kCodedTileRows));
    for (size_t direction = 0; direction < directions_.size(); ++direction) {
      poll_cancellation(n_tile * 4);
      uint8_t* codes = codes_.column(direction) + tile * kGroupColumns;
      if (direction < n_copied_) {
        const auto feature = static_cast<size_t>(*directions_.indices(direction));
        const uint8_t* own = features_.codes().column(feature) + tile * kGroupColumns;
        for (size_t i = 0; i < n_tile; ++i) codes[i * kGroupColumns] = own[i * kGroupColumns];
        continue;
      }
      kernels_.project(projection(direction, features, columns, fill), tile_rows.data(), n_tile,
                       values.data());
      bins_[direction].code_values(values.data(), n_tile, cells.data(), kGroupColumns, codes);
    }
  }
}

// Directions on the rows in which any of their features has an exception, for one thread; in all
// others they have one value.
class TreeColumns::SparseDirections {
 public:
  SparseDirections(const TreeColumns& columns, const std::vector<uint8_t>& in_sample,
                   size_t n_sample)
      : columns_(columns),
        in_sample_(in_sample),
        n_sample_(n_sample),
        place_(columns.data_.n_rows, kNone),
        features_(columns.n_features_) {}

  void code(size_t direction, DirectionBins& bins, CodedColumn& out) {
    project(direction);
    std::vector<float>& sample = sample_;
    sample.clear();
    for (size_t i = 0; i < rows_.size(); ++i)
      if (in_sample_[rows_[i]]) sample.push_back(projected_[i]);
    const float common = projected_[rows_.size()];
    bins = DirectionBins(sample, columns_.direction_bins_, n_sample_ - sample.size(), common);
    out.default_code = bins.code(common);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const uint8_t code = bins.code(projected_[i]);
      if (code != out.default_code) out.entries.push_back({rows_[i], code});
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Projects the rows with exceptions, and after them a row without any.
  void project(size_t direction) {
    const Candidates& all = columns_.directions_;
    const auto n = static_cast<size_t>(all.n_nonzeros(direction));
    rows_.clear();
    for (size_t k = 0; k < n; ++k)
      for (const int32_t row : column(direction, k).rows)
        if (uint32_t& place = place_[static_cast<size_t>(row)]; place == kNone) {
          place = static_cast<uint32_t>(rows_.size());
          rows_.push_back(static_cast<uint32_t>(row));
        }
    const size_t n_rows = rows_.size() + 1;
    poll_cancellation(n_rows * n * 8);
    values_.resize(n * n_rows);
    for (size_t k = 0; k < n; ++k) {
      const SparseColumn own = column(direction, k);
      float* values = values_.data() + k * n_rows;
      std::fill_n(values, n_rows, own.common);
      for (size_t i = 0; i < own.rows.size(); ++i)
        values[place_[static_cast<size_t>(own.rows[i])]] = own.values[i];
      features_[static_cast<size_t>(all.indices(direction)[k])] = values;
    }
    for (const uint32_t row : rows_) place_[row] = kNone;
    while (numbers_.size() < n_rows) numbers_.push_back(static_cast<uint32_t>(numbers_.size()));
    projected_.resize(n_rows);
    columns_.kernels_.project(columns_.projection(direction, features_, pointers_, fill_),
                              numbers_.data(), n_rows, projected_.data());
  }
  SparseColumn column(size_t direction, size_t k) const {
    return columns_.data_.sparse->column(
        static_cast<size_t>(columns_.directions_.indices(direction)[k]));
  }

  const TreeColumns& columns_;
  const std::vector<uint8_t>& in_sample_;
  const size_t n_sample_;
  std::vector<uint32_t> place_;  // by row of the data, in rows_
  std::vector<uint32_t> rows_, numbers_;
  std::vector<float> values_, projected_, sample_, fill_;
  std::vector<const float*> features_, pointers_;
};

void TreeColumns::code_sparse_directions(std::span<const uint32_t> rows, Team& team) {
  size_t n_values = 0;
  for (const int32_t feature : directions_.index)
    n_values += data_.sparse->column(static_cast<size_t>(feature)).rows.size();
  sparse_codes_.resize(data_.n_rows, directions_.size(), n_values);
  const size_t n_sample = std::min(rows.size(), kSampleRows);
  std::vector<uint8_t> in_sample(data_.n_rows, 0);
  for (size_t i = 0; i < n_sample; ++i) in_sample[rows[i * rows.size() / n_sample]] = 1;
  team.run(sparse_codes_.n_groups(), true, [&](size_t g) {
    SparseDirections some(*this, in_sample, n_sample);
    const size_t first = sparse_codes_.first(g);
    sparse_codes_.group(g).build(data_.n_rows, sparse_codes_.width(g), [&](size_t k, auto& out) {
      const size_t direction = first + k;
      if (direction < n_copied_)
        features_.code_sparse(*data_.sparse, static_cast<size_t>(*directions_.indices(direction)),
                              out);
      else
        some.code(direction, bins_[direction], out);
    });
  });
}

void TreeColumns::describe(size_t column, int bin, SplitRecord& out) const {
  const int64_t feature = feature_of(column);
  if (feature < 0) {
    const size_t direction = column - n_features_;
    const int n = directions_.n_nonzeros(direction);
    out.index.assign(directions_.indices(direction), directions_.indices(direction) + n);
    out.coefficient.assign(directions_.weights(direction), directions_.weights(direction) + n);
    out.threshold = bins_[direction].threshold(bin);
    return;
  }
  const ColumnBins& bins = features_.bins(static_cast<size_t>(feature));
  out.index.assign(1, static_cast<int32_t>(feature));
  out.coefficient.assign(1, 1.0f);
  const auto edge = static_cast<size_t>(bin);
  out.threshold = edge < bins.edges.size() ? bins.edges[edge] : bins.highest;
}

void TreeColumns::describe_levels(size_t column, const uint8_t* goes_left, SplitRecord& out) const {
  out.index.assign(1, static_cast<int32_t>(column));
  out.coefficient.assign(1, 1.0f);
  out.threshold = 0.0f;
  const auto& level_code = features_.bins(column).level_code;
  out.level_bits.assign((level_code.size() + 31) / 32, 0);
  for (size_t level = 0; level < level_code.size(); ++level)
    if (goes_left[level_code[level]]) out.level_bits[level / 32] |= 1u << (level % 32);
}

}  // namespace bevel
