// Grows trees whose cuts are shared: by all nodes of a level (symmetric trees), and by all outputs
// that a tree has values for. The gain of a cut is the sum of its gains over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bevel/boosting/boosting_options.h"
#include "bevel/boosting/splitting/cut_search.h"
#include "bevel/boosting/splitting/histogram_splitter.h"
#include "bevel/boosting/splitting/row_partition.h"
#include "bevel/boosting/team.h"
#include "bevel/boosting/tree_columns.h"

namespace bevel {

// An output of the tree, or a combination of outputs that stands for some of them.
struct SharingOutput {
  std::vector<PackedSum> stats;  // in the order of rows
  double penalty = 0.0;          // added to the hessian of a side, in whole units
  double min_hessian = 1.0;      // of each side; with less a cut gains nothing here
  double to_gain = 1.0;          // factor of a score
  bool has_hessians_of_next = false;
};

class SharedSplitter {
 public:
  SharedSplitter(const BoostingOptions& options, const TreeColumns& columns, Team& team)
      : options_(options), columns_(columns), team_(team), partition_(team) {}

  // Grows a whole tree on the rows and the outputs, whose statistics are put in the order of the
  // leaves.
  GrownBoostingTree grow(BoostingRows& rows, std::vector<SharingOutput>& outputs);

  using Histogram = std::vector<PackedSum>;  // output after output
  struct Node {
    size_t start = 0, end = 0;  // rows
    size_t other_start = 0, other_end = 0;
    int32_t depth = 0;
    std::vector<PackedSum> sums;  // by output
    OpenGroups open;              // features that may be cut
    NodeCut cut;
    double gain_of_cut = 0.0;
    std::unique_ptr<Histogram> histogram;  // first its parent's; null for small nodes

    size_t n_rows() const { return end - start; }
    double gain() const { return cut.score; }
    bool is_splittable() const { return cut.found(); }
  };

  // Interface required by growth.h.
  void throw_if_cancelled() const { team_.throw_if_cancelled(); }
  void search_root(Node& root) { search({&root, 1}, false); }
  bool split(Node& parent, Node& left, Node& right);
  void search_children(Node& parent, Node& left, Node& right);
  void end_node(Node& node) { node.histogram.reset(); }

 private:
  class PrefixScores;
  class GroupSearch;

  std::vector<GrowingNode<Node>> grow_levels(Node root);
  Node make_root() const;
  bool may_split(const Node& node) const;
  bool is_small(const Node& node) const;
  bool is_beyond_cache() const;
  // Sets the cuts of nodes that are children of the same splits side by side, or the one cut that
  // all of them share.
  void search(std::span<Node> nodes, bool is_level);
  // Sends codes that no row of the nodes has to the side of the larger sum of hessians.
  void settle_unseen(std::span<const Node> nodes, NodeCut& cut) const;
  void codes_on_left(const NodeCut& cut, uint8_t* goes_left) const;
  double gain_of(const Node& parent, const Node& left) const;
  void record(const NodeCut& cut, SplitRecord& out) const;
  // The rows that the value of a leaf is taken from: its own, or those of the lowest node above it
  // that has enough.
  std::vector<std::span<const uint32_t>> value_rows(
      const std::vector<GrowingNode<Node>>& nodes) const;

  const BoostingOptions& options_;
  const TreeColumns& columns_;
  Team& team_;
  BoostingRows* rows_ = nullptr;
  std::vector<SharingOutput>* outputs_ = nullptr;
  double codes_of_row_ = 0.0;
  RowPartition partition_;
};

}  // namespace bevel
