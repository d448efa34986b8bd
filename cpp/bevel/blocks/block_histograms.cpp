#include "bevel/blocks/block_histograms.h"

#include <memory>
#include <vector>

#include "bevel/blocks/block_walk.h"
#include "bevel/blocks/value_bins.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Two classes with small weights: rows and the weights of both classes in one number of 3 x 21
// bits, which holds the sums of this many rows.
constexpr size_t kPackedRows = size_t{1} << 16;
constexpr int64_t kMaxPackedWeight = 31;
constexpr int kFieldBits = 21;
constexpr uint64_t kField = (uint64_t{1} << kFieldBits) - 1;

// One per thread.
class HistogramFiller {
 public:
  HistogramFiller(const BlockView& block, const BlockRequest& request, int64_t* cells)
      : request_(request),
        walk_(block, request),
        size_(request.grid.cell_size()),
        cells_(cells),
        bins_(block.data.n_rows) {}

  void fill(size_t tree) {
    walk_.walk(tree, [this](const BlockNode& node) { fill_node(node); });
  }

 private:
  void fill_node(const BlockNode& node) {
    const CandidateBins& bins = request_.bins;
    if (node.rows.empty()) return;
    add_totals(node);
    const bool packs = pack(node);
    for (size_t c = bins.first[node.slot]; c < bins.first[node.slot + 1]; ++c) {
      poll_cancellation(node.rows.size() * 16);
      const float* values = walk_.project(bins.candidates, c, node.rows);
      size_t n_bins;
      if (bins.is_nominal[c]) {
        n_bins = bins.n_edges(c) + 1;  // not read: sums of levels are never packed
        for (size_t i = 0; i < node.rows.size(); ++i) bins_[i] = static_cast<uint16_t>(values[i]);
      } else {
        edges_.set_edges({bins.edges.data() + bins.edge_offset[c], bins.n_edges(c)});
        edges_.find(values, node.rows.size(), bins_.data());
        n_bins = edges_.n_bins();
      }
      int64_t* cells = cells_ + bins.cell[c] * size_;
      if (packs && !bins.is_nominal[c])
        add_packed(node.rows.size(), n_bins, cells);
      else
        add(node, cells);
    }
  }

  void add_totals(const BlockNode& node) {
    int64_t* total = cells_ + request_.bins.node_cell[node.slot] * size_;
    for (const RowSums& row : node.sums) add_row(row, total);
  }

  void add(const BlockNode& node, int64_t* cells) const {
    for (size_t i = 0; i < node.sums.size(); ++i) add_row(node.sums[i], cells + bins_[i] * size_);
  }
  void add_row(const RowSums& row, int64_t* cell) const {
    ++cell[0];
    if (request_.grid.n_classes > 0) {
      cell[1 + row.value] += row.weight;
    } else {
      cell[1] += row.weight;
      cell[2] += row.value;
    }
  }

  bool pack(const BlockNode& node) {
    if (request_.grid.n_classes != 2 || !request_.grid.whole) return false;
    packed_.resize(node.sums.size());
    for (size_t i = 0; i < packed_.size(); ++i) {
      const RowSums& row = node.sums[i];
      if (row.weight > kMaxPackedWeight) return false;
      packed_[i] = 1 | static_cast<uint64_t>(row.weight) << (kFieldBits << row.value);
    }
    return true;
  }
  void add_packed(size_t n, size_t n_bins, int64_t* cells) {
    for (size_t first = 0; first < n; first += kPackedRows) {
      const size_t last = std::min(n, first + kPackedRows);
      sums_.assign(n_bins, 0);
      for (size_t i = first; i < last; ++i) sums_[bins_[i]] += packed_[i];
      for (size_t b = 0; b < n_bins; ++b) {
        cells[3 * b] += static_cast<int64_t>(sums_[b] & kField);
        cells[3 * b + 1] += static_cast<int64_t>(sums_[b] >> kFieldBits & kField);
        cells[3 * b + 2] += static_cast<int64_t>(sums_[b] >> (2 * kFieldBits));
      }
    }
  }

  const BlockRequest& request_;
  BlockWalk walk_;
  const size_t size_;
  int64_t* const cells_;
  ValueBins edges_;
  std::vector<uint16_t> bins_;
  std::vector<uint64_t> packed_, sums_;
};

}  // namespace

// Trees have nodes of their own in the answer, so threads that share trees among them share no
// cells.
void add_histograms(const BlockView& block, const BlockRequest& request, int n_threads,
                    int64_t* cells) {
  const size_t n_trees = request.trees.n_trees();
  std::vector<std::unique_ptr<HistogramFiller>> fillers(
      static_cast<size_t>(useful_threads(n_threads, n_trees)));
  ThreadPool pool(n_threads, n_trees, [&](int worker, size_t tree) {
    auto& filler = fillers[static_cast<size_t>(worker)];
    if (!filler) filler = std::make_unique<HistogramFiller>(block, request, cells);
    filler->fill(tree);
  });
  pool.run();
}

}  // namespace bevel
