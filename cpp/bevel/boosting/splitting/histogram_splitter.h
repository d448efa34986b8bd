// Searches and splits the nodes of a tree of boosting, which tree/growth.h grows best first. Nodes
// are searched by histograms of codes; the larger child of a split has its parent's minus its
// sibling's, unless it is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bevel/boosting/boosting_options.h"
#include "bevel/boosting/splitting/cut_search.h"
#include "bevel/boosting/splitting/row_partition.h"
#include "bevel/boosting/team.h"
#include "bevel/boosting/tree_columns.h"
#include "bevel/tree/growth.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// The rows of a tree; a node is a range of them. Growing puts them in the order of the leaves.
struct BoostingRows {
  std::vector<uint32_t> rows;  // ascending
  std::vector<PackedSum> stats;
  std::vector<uint32_t> others;  // pass the tree too, without effect on it
};

struct LeafRange {
  int32_t node;
  std::span<const uint32_t> rows, others;
  std::span<const uint32_t> value_rows;  // those that its value is taken from
};

struct GrownBoostingTree {
  NodeStore nodes;  // leaf values and weights are still to be set
  std::vector<LeafRange> leaves;
};

class HistogramSplitter {
 public:
  HistogramSplitter(const BoostingOptions& options, const TreeColumns& columns, Team& team)
      : options_(options), columns_(columns), team_(team), partition_(team) {}

  // Grows a whole tree. largest_hessian: largest hessian of a row.
  GrownBoostingTree grow(BoostingRows& rows, const CutRules& rules, StatisticScales scales,
                         int32_t largest_hessian);

  using Histogram = std::vector<PackedSum>;
  struct Node {
    size_t start = 0, end = 0;  // rows
    size_t other_start = 0, other_end = 0;
    int32_t depth = 0;
    NodeTotals totals;
    OpenGroups open;  // features that may be cut
    NodeCut cut;
    std::unique_ptr<Histogram> histogram;  // until its children have theirs; null for small nodes

    double gain() const { return cut.score; }
    bool is_splittable() const { return cut.found(); }
  };

  // Interface required by growth.h.
  void throw_if_cancelled() const { team_.throw_if_cancelled(); }
  void search_root(Node& root);
  bool split(const Node& parent, Node& left, Node& right);
  void search_children(Node& parent, Node& left, Node& right);
  void end_node(Node& node) { give_back(std::move(node.histogram)); }

 private:
  class KnownScore;
  class Rows;

  Node make_root() const;
  bool may_split(const Node& node) const;
  // Applies the constraints to the children of a node.
  void constrain_children(const Node& parent, Node& left, Node& right) const;
  bool is_small(const Node& node) const;
  // part: the entries of a group.
  void build(size_t start, size_t end, const ColumnGroup& group, PackedSum* part) const;
  size_t n_row_blocks(const Node& node) const;
  void build_blocks(const Node& node);
  void fill(const Node& node, const ColumnGroup& group, PackedSum* part) const;
  void search_group(const CutSearch& search, const Node& node, const ColumnGroup& group,
                    const PackedSum* part, KnownScore& known, NodeCut& best) const;
  void search_small(Node& node);
  // Searches a group of sparse columns by the codes that the rows of a node have, and subtracts
  // their sums from a histogram of the group, unless it is null.
  class SparseSums;
  struct SparseRoom {  // all zero between uses
    std::vector<PackedSum> sums;
    std::vector<uint64_t> seen;
  };
  std::unique_ptr<SparseRoom> take_room() const;
  void search_sparse(const CutSearch& search, const Node& node, const ColumnGroup& group,
                     KnownScore& known, NodeCut& best, PackedSum* rest) const;
  void check_counts(Node& node);
  double least_hessian(const Node& node) const;
  NodeCut search_with_counts(const Node& node) const;
  void sides(const NodeCut& cut, const NodeTotals& totals, uint8_t* goes_left) const;
  std::unique_ptr<Histogram> take_histogram();
  void give_back(std::unique_ptr<Histogram> histogram);
  bool is_worth_threads(size_t n_rows) const;
  // Whether the codes of all rows of the table do not fit the caches.
  bool is_beyond_cache() const;
  void record(const Node& node, SplitRecord& out) const;

  const BoostingOptions& options_;
  const TreeColumns& columns_;
  Team& team_;
  CutRules rules_;
  NodeLimits limits_;
  StatisticScales scales_;
  int32_t largest_hessian_ = 1;
  double codes_of_row_ = 0.0;
  BoostingRows* rows_ = nullptr;
  std::vector<std::unique_ptr<Histogram>> spare_;
  std::vector<Histogram> block_histograms_;  // histograms of the current node by block
  mutable std::mutex rooms_mutex_;
  mutable std::vector<std::unique_ptr<SparseRoom>> rooms_;
  RowPartition partition_;
};

}  // namespace bevel
