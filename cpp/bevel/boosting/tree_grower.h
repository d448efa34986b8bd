// Grows one tree of boosting: the leaf whose cut lowers the loss most is split next. Nodes are
// searched by histograms of codes; the larger child of a split has its parent's less its sibling's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bevel/boosting/boosting_options.h"
#include "bevel/boosting/cut_search.h"
#include "bevel/boosting/team.h"
#include "bevel/boosting/tree_columns.h"
#include "bevel/tree/node_store.h"

namespace bevel {

// The rows of a tree; a node is a range of them. Growing puts them in the order of the leaves.
struct BoostingRows {
  std::vector<uint32_t> rows;  // ascending
  std::vector<PackedSum> stats;
  std::vector<uint32_t> others;  // go down the tree with them, and decide nothing
};

struct LeafRange {
  int32_t node;
  std::span<const uint32_t> rows, others;
};

struct GrownBoostingTree {
  NodeStore nodes;  // leaf values and weights are still to be set
  std::vector<LeafRange> leaves;
};

class TreeGrower {
 public:
  TreeGrower(const BoostingOptions& options, const TreeColumns& columns, Team& team)
      : options_(options), columns_(columns), team_(team) {}

  // largest_hessian: of a row.
  GrownBoostingTree grow(BoostingRows& rows, const CutRules& rules, StatisticScales scales,
                         int32_t largest_hessian);

 private:
  using Histogram = std::vector<PackedSum>;
  struct Node {
    size_t start, end;  // rows
    size_t other_start, other_end;
    int32_t depth;
    NodeTotals totals;
    OpenGroups open;  // features that may be cut
    NodeCut cut;
    std::unique_ptr<Histogram> histogram;  // until its children have theirs
    int32_t left = -1, right = -1;
  };

  Node make_node(size_t start, size_t end, size_t other_start, size_t other_end, int32_t depth,
                 PackedSum sum) const;
  // What the constraints leave to the children of a node.
  void constrain_children(const Node& parent, Node& left, Node& right) const;
  bool may_split(const Node& node) const;
  void split(size_t id, bool children_may_split);
  // Histograms and cuts of a node, or of both children of one.
  void search_root(Node& root);
  void search_children(Node& parent, Node& left, Node& right);
  void build(const Node& node, const ColumnGroup& group, PackedSum* histogram) const;
  void search_group(const Node& node, const ColumnGroup& group, const PackedSum* histogram,
                    const uint32_t* counts, NodeCut& best) const;
  void check_counts(Node& node);
  NodeCut search_with_counts(const Node& node, const Histogram& histogram) const;
  void sides(const NodeCut& cut, const NodeTotals& totals, uint8_t* goes_left) const;
  std::unique_ptr<Histogram> take_histogram();
  void give_back(std::unique_ptr<Histogram> histogram);
  bool is_worth_threads(size_t n_rows) const;
  void record(const Node& node, SplitRecord& out) const;
  GrownBoostingTree to_preorder() const;

  const BoostingOptions& options_;
  const TreeColumns& columns_;
  Team& team_;
  CutRules rules_;
  StatisticScales scales_;
  int32_t largest_hessian_ = 1;
  BoostingRows* rows_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Histogram>> spare_;
  std::vector<uint32_t> row_buffer_;
  std::vector<PackedSum> stat_buffer_;
};

}  // namespace bevel
