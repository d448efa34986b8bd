// Grows trees over blocks of rows. It never reads the rows: it requests sums, chooses cuts, and in
// the end requests the rows of small nodes, whose subtrees the ordinary builder grows.
//
//   while trees are not done, some of them at a time:
//     while request = histogram_request(): cells = sum over blocks; take_histograms(cells)
//     while request = rows_request():      rows of all blocks, node by node; put_subtree() for each
//   finish()
//
// The order and size of requests do not change the forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bevel/blocks/block_request.h"
#include "bevel/blocks/row_grid.h"
#include "bevel/blocks/top_tree.h"
#include "bevel/data/dataset_view.h"
#include "bevel/forest/flat_forest.h"
#include "bevel/options.h"
#include "bevel/projection/sampler.h"
#include "bevel/split/entropy_table.h"
#include "bevel/split/search/search_context.h"

namespace bevel {

// A node whose rows are to be gathered, and the context of its subtree.
struct SmallNode {
  size_t tree, node;  // position in the grower
  uint64_t tree_number = 0;
  NodeKey key = 0;
  int32_t depth = 0;
  int64_t n_rows = 0;        // at most, as far as it is known
  double tree_weight = 0.0;  // 0: of the rows of the node, which is the root
};

class TopGrower {
 public:
  // sample: rows of the table, chosen by their number; gather_rows: nodes up to this size are
  // small.
  TopGrower(const Options& options, const TableTotals& table, const DatasetView& sample,
            std::span<const uint64_t> trees, int64_t gather_rows);
  TopGrower(const TopGrower&) = delete;
  TopGrower& operator=(const TopGrower&) = delete;

  // Request for some of the waiting nodes, as many as fit in most_numbers of the answer, and at
  // least one. Empty when no node waits.
  std::string histogram_request(uint64_t most_numbers, int n_threads);
  // Length of the answer.
  uint64_t n_numbers() const { return request_.bins.n_cells * grid_.cell_size(); }
  void take_histograms(std::span<const int64_t> cells);

  // Request for some of the small nodes, with at most most_rows rows, and at least one node.
  std::string rows_request(int64_t most_rows, std::vector<SmallNode>& nodes);
  // Called instead of put_subtree for a root without rows: the tree then takes all rows.
  void take_all_rows(size_t tree);
  void put_subtree(size_t tree, size_t node, NodeStore&& subtree);
  size_t n_trees_done() const;
  double gain_unit() const { return grid_.gain; }
  bool takes_all(size_t tree) const { return trees_[tree].takes_all; }

  FlatForest finish();

 private:
  std::vector<size_t> trees_at_once() const;
  void draw_candidates(const TopNode& node, Candidates& out);
  // Upper bound on the numbers of a node in the answer.
  uint64_t most_numbers_of(const Candidates& drawn) const;
  std::vector<float> edges_of(const TopNode& node, const Candidates& drawn, size_t c) const;
  void add_bins(const Candidates& drawn, const std::vector<std::vector<float>>& edges,
                CandidateBins& bins) const;
  // Adds the paths to the requested nodes, slot by slot.
  void add_paths(std::span<const TopPlace> places, PartialTrees& out) const;
  // Appends the node and its descendants if a requested node is among them; -1: none is.
  int32_t add_path(const TopTree& tree, int32_t node, std::span<const int32_t> slots,
                   PartialTrees& out) const;
  template <class Criterion>
  void choose_cuts(Criterion criterion, std::span<const int64_t> cells);
  void apply_cut(TopTree& tree, size_t node, struct ChosenCut& cut);
  void retry(TopNode& node) const;
  // State of a node whose totals are known: it waits, is small or a leaf.
  TopState state_of(const TopTree& tree, const TopNode& node) const;
  struct ChosenCut& as_drawn(size_t slot, struct ChosenCut& cut) const;
  void split_sample(const TreeRotation& rotation, const TopNode& node, TopNode& left,
                    TopNode& right) const;
  double weight_of(const std::vector<int64_t>& cell) const;  // in whole units
  void emit(const TopNode& node, NodeStore& out) const;
  NodeStore to_nodes(TopTree& tree) const;

  const Options options_;
  const TableTotals table_;
  const DatasetView sample_;
  const RowGrid grid_;
  const int64_t gather_rows_;
  EntropyTable table_of_logarithms_;
  Samplers samplers_;
  std::vector<SamplerScratch> scratch_;
  std::vector<TopTree> trees_;
  BlockRequest request_;           // the last one for histograms
  std::vector<TopPlace> asked_;    // nodes of the last request
  std::vector<Candidates> drawn_;  // their candidates, as samplers drew them
};

}  // namespace bevel
