#include "bevel/blocks/block_walk.h"

#include <algorithm>

#include "bevel/support/cancellation.h"
#include "bevel/tree/growth.h"

namespace bevel {
namespace {

constexpr size_t kSpare = 16;  // kernels store whole registers

}  // namespace

BlockWalk::BlockWalk(const BlockView& block, const BlockRequest& request)
    : block_(block), request_(request), kernels_(kernels("auto")) {
  const size_t n = block.data.n_rows + kSpare;
  values_.resize(n);
  goes_left_.resize(n);
  row_buffer_.resize(n);
  sums_buffer_.resize(n);
  drawn_buffer_.resize(n);
}

// Rows of the tree's bag with positive weight.
void BlockWalk::draw(size_t tree) {
  const RowGrid& grid = request_.grid;
  const RowDraws all_rows;
  const RowDraws& draws = request_.trees.takes_all[tree] ? all_rows : request_.draws;
  const uint64_t root = request_.trees.root[tree];
  rows_.clear();
  sums_.clear();
  drawn_.clear();
  poll_cancellation(block_.data.n_rows * 4);
  for (size_t row = 0; row < block_.data.n_rows; ++row) {
    const int32_t times = draws(root, block_.first_row + row);
    const double weight = block_.weights ? block_.weights[row] : 1.0;
    if (times == 0 || weight == 0.0) continue;
    rows_.push_back(static_cast<uint32_t>(row));
    drawn_.push_back(times);
    sums_.push_back(block_.labels ? grid.of_class(block_.labels[row], weight, times)
                                  : grid.of_target(block_.targets[row], weight, times));
  }
}

const float* BlockWalk::project(const Candidates& directions, size_t direction,
                                std::span<const uint32_t> rows) {
  const DatasetView& data = block_.data;
  const int n = directions.n_nonzeros(direction);
  columns_.resize(static_cast<size_t>(n));
  fill_.resize(static_cast<size_t>(n));
  for (int k = 0; k < n; ++k) {
    const int32_t feature = directions.indices(direction)[k];
    columns_[k] = data.column(feature);
    fill_[k] = data.medians[feature];
  }
  const Projection projection{columns_.data(), directions.weights(direction),
                              n > 1 ? fill_.data() : nullptr, n};
  kernels_.project(projection, rows.data(), rows.size(), values_.data());
  return values_.data();
}

void BlockWalk::find_sides(int32_t node, const float* values, size_t n) {
  const PartialTrees& trees = request_.trees;
  const uint8_t flags = trees.flags[node];
  if (!(flags & kCategoryNode))
    return kernels_.sides(values, n, trees.threshold[node], flags & kMissingLeft,
                          goes_left_.data());
  const uint32_t* bits = trees.bits.data() + trees.bits_offset[node];
  for (size_t i = 0; i < n; ++i) {
    const auto level = static_cast<size_t>(values[i]);
    goes_left_[i] = (bits[level / 32] >> (level % 32)) & 1u;
  }
}

void BlockWalk::split(size_t tree, const Range& range) {
  const PartialTrees& trees = request_.trees;
  const size_t n = range.end - range.begin;
  const int32_t first = trees.first[tree];
  const int32_t left = trees.left[range.node], right = trees.right[range.node];
  size_t middle = range.begin;
  if (n > 0) {
    poll_cancellation(n * 16);
    uint32_t* rows = rows_.data() + range.begin;
    const float* values = project(trees.directions, static_cast<size_t>(range.node), {rows, n});
    find_sides(range.node, values, n);
    kernels_.partition_rows(rows, n, goes_left_.data(), row_buffer_.data());
    partition_stably(drawn_.data() + range.begin, n, goes_left_.data(), drawn_buffer_.data());
    middle +=
        partition_stably(sums_.data() + range.begin, n, goes_left_.data(), sums_buffer_.data());
  }
  if (right >= 0) pending_.push_back({first + right, middle, range.end});
  if (left >= 0) pending_.push_back({first + left, range.begin, middle});
}

}  // namespace bevel
