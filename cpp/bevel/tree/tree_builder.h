// Grows one tree of a forest: depth first by itself, otherwise in the order of growth.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bevel/data/codes.h"
#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/direction_constraints.h"
#include "bevel/projection/sampler.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/support/thread_pool.h"
#include "bevel/tree/growth.h"
#include "bevel/tree/node_store.h"
#include "bevel/tree/tree_data.h"
#include "bevel/tree/workspace.h"

namespace bevel {

// A node that is about to be grown: rows [start, end) of the tree.
struct NodeItem {
  size_t start, end;
  NodeKey key;
  int32_t depth;
  int32_t parent;                     // node whose right child it is; -1: a left child or the root
  int level;                          // block its rows are numbered in; 0: the tree's own columns
  bool dense;                         // its rows are contiguous in each column of its block
  size_t out_start = 0, out_end = 0;  // of the rows out of the bag, if a family needs them
  std::vector<int32_t> inherited{};   // per family: left by the parent's models, if anything
  OpenGroups open{};                  // groups of features that are open on the path
};

template <class Criterion>
class TreeBuilder {
 public:
  // codes: of the data, or null.
  TreeBuilder(const Options& options, const DatasetView& data, const ColumnCodes* codes,
              const Samplers& samplers, const DirectionConstraints& constraints,
              std::vector<std::unique_ptr<Workspace<Criterion>>>& workspaces,
              const Kernels& kernels, ThreadPool& pool);

  // Grows the whole tree on the calling worker; idle workers of the pool may grow subtrees.
  NodeStore grow(TreeData<Criterion>& tree, int worker);

 private:
  struct Subtree {
    NodeStore nodes;
    std::vector<Graft> grafts;
  };
  // A node on the frontier, with the best split that was found.
  struct WaitingNode {
    NodeItem item{};
    SplitRecord split;
    bool has_split = false;

    double gain() const { return split.gain; }
    bool is_splittable() const { return has_split; }
  };
  // The splitter of such nodes, see growth.h.
  struct FrontierSplitter;

  Subtree grow_depth_first(const NodeItem& root, int worker);
  NodeStore grow_in_order(int worker);

  NodeItem root() const;
  // Sets the criterion's totals; false when the node must be a leaf regardless of its candidates.
  bool begin_node(const NodeItem& item, Workspace<Criterion>& w);
  bool is_pure(const NodeItem& item, const Workspace<Criterion>& w) const;
  bool same_targets(const NodeItem& item, const Workspace<Criterion>& w) const;
  static bool is_cut(const BestSplit& found);
  bool any_varies(const NodeView& node, size_t first, Workspace<Criterion>& w) const;
  bool find_split(const NodeItem& item, Workspace<Criterion>& w, int worker, SplitRecord& out);
  void sample(size_t family, NodeRows node, Stream& stream, Workspace<Criterion>& w) const;
  // Applies the constraints to the candidates from `first` on, keeps one if it is to be the only
  // one, and searches them.
  void search_drawn(const NodeItem& item, const NodeView& node, size_t first, Stream& stream,
                    Workspace<Criterion>& w, int worker, BestSplit& found);
  void keep_one(Stream& stream, size_t first, Candidates& candidates) const;
  void search_pure(const NodeView& node, size_t first, Stream& stream, Workspace<Criterion>& w,
                   int worker, BestSplit& found);
  void search(const NodeView& node, size_t first, size_t last, Workspace<Criterion>& w, int worker,
              BestSplit& found);
  void record(const NodeView& node, BestSplit& found, Workspace<Criterion>& w,
              SplitRecord& out) const;
  // values: of the split's direction on the node's rows.
  size_t partition(const NodeItem& item, const SplitRecord& split, const float* values,
                   Workspace<Criterion>& w);
  // Whether a partition has left rows on both sides.
  bool is_inside(size_t middle, const NodeItem& item) const;
  // Gives the children their rows out of the bag, and the state left by the node's models.
  void split_out_of_bag_rows(const NodeItem& item, const SplitRecord& split,
                             Workspace<Criterion>& w, NodeItem& left, NodeItem& right);
  // Gives the children the groups of features that stay open after a split.
  void close_groups(const NodeItem& item, const SplitRecord& split, NodeItem& left,
                    NodeItem& right) const;
  void find_sides(const SplitRecord& split, const float* values, size_t n,
                  uint8_t* goes_left) const;
  const float* project(const NodeItem& item, const SplitRecord& split, Workspace<Criterion>& w);
  void compact(NodeItem& item, Workspace<Criterion>& w);
  void emit_leaf(const NodeItem& item, NodeStore& nodes, int32_t node,
                 Workspace<Criterion>& w) const;
  void fill_single_row_leaves(NodeStore& nodes, Workspace<Criterion>& w) const;
  float node_weight(const Workspace<Criterion>& w) const;
  // Prediction of a leaf with the rows of a node, in regression.
  double leaf_value(const NodeItem& item, const Workspace<Criterion>& w) const;
  // Appends a node; a monotone tree also stores the prediction of the node itself.
  int32_t open(const NodeItem& item, NodeStore& nodes, const Workspace<Criterion>& w) const;

  const float* const* columns(int level, const Workspace<Criterion>& w) const {
    return level == 0 ? tree_->columns.data()
                      : const_cast<const float* const*>(w.blocks[level - 1].columns.data());
  }
  const std::vector<uint32_t>* data_rows(int level, const Workspace<Criterion>& w) const {
    if (level > 0) return &w.blocks[level - 1].data_rows;
    return tree_->data_rows.empty() ? nullptr : &tree_->data_rows;
  }
  NodeRows rows_of(const NodeItem& item, const Workspace<Criterion>& w) const {
    const auto* rows = data_rows(item.level, w);
    return {columns(item.level, w),
            {tree_->rows.data() + item.start, item.end - item.start},
            rows ? rows->data() : nullptr,
            &tree_->row_data,
            {tree_->columns.data(),
             {tree_->out_of_bag.data() + item.out_start, item.out_end - item.out_start},
             tree_->data_rows.empty() ? nullptr : tree_->data_rows.data()},
            item.depth};
  }
  NodeView view(const NodeItem& item, const Workspace<Criterion>& w) const {
    return {columns(item.level, w),
            tree_->rows.data() + item.start,
            item.end - item.start,
            item.key,
            item.level == 0 && exceeds_cache_,
            item.level == 0 && tree_->data_rows.empty() ? codes_ : nullptr,
            options_.threshold};
  }

  const Options& options_;
  const DatasetView& data_;
  const ColumnCodes* codes_;
  const Samplers& samplers_;
  const DirectionConstraints& constraints_;
  std::vector<std::unique_ptr<Workspace<Criterion>>>& workspaces_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  Limits limits_;  // limits of the sides of a split
  NodeLimits node_limits_;
  size_t touched_per_node_;  // features read for one row of a node
  bool exceeds_cache_;       // too large for a cache

  TreeData<Criterion>* tree_ = nullptr;
};

}  // namespace bevel
