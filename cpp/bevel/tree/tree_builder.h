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
#include "bevel/tree/node_criterion.h"
#include "bevel/tree/node_store.h"
#include "bevel/tree/tree_data.h"
#include "bevel/tree/workspace.h"

namespace bevel {

// Subtrees smaller than this are not worth another thread.
constexpr size_t kParallelSubtreeRows = 4096;

// A node that is about to be grown: rows [start, end) of the tree.
struct NodeItem {
  size_t start, end;
  NodeKey key;
  int32_t depth;
  int32_t parent;  // whose right child it is; -1: a left child or the root
  int level;       // block its rows are numbered in; 0: the tree's own columns
  bool dense;      // its rows are a run in each column of its block, and are kept so
  size_t out_start = 0, out_end = 0;  // of the rows out of the bag, if a family needs them
  std::vector<int32_t> inherited{};   // per family: what the parent's models leave, if anything
  OpenGroups open{};                  // groups of features that the path may go on with
};

class TreeBuilder {
 public:
  // codes: of the data, or null.
  TreeBuilder(const Options& options, const DatasetView& data, const ColumnCodes* codes,
              const Samplers& samplers, const DirectionConstraints& constraints,
              std::vector<std::unique_ptr<Workspace>>& workspaces, const Kernels& kernels,
              ThreadPool& pool);

  // Grows the whole tree on the calling worker; idle workers of the pool may grow subtrees.
  NodeStore grow(TreeData& tree, int worker);

 private:
  struct Subtree {
    NodeStore nodes;
    std::vector<Graft> grafts;
  };
  // A node that waits for its turn, with the best split that was found.
  struct WaitingNode {
    NodeItem item{};
    SplitRecord split;
    bool has_split = false;

    double gain() const { return split.gain; }
    bool is_splittable() const { return has_split; }
  };
  // The builder at work on such nodes, see growth.h.
  struct FrontierSplitter;

  Subtree grow_depth_first(const NodeItem& root, int worker);
  NodeStore grow_in_order(int worker);

  NodeItem root() const;
  // Sets the criterion's totals; false when the node must be a leaf whatever its candidates.
  bool begin_node(const NodeItem& item, Workspace& w);
  bool any_varies(const NodeView& node, size_t first, Workspace& w) const;
  bool find_split(const NodeItem& item, Workspace& w, int worker, SplitRecord& out);
  void sample(size_t family, NodeRows node, Stream& stream, Workspace& w) const;
  // Lets the candidates from `first` on hold the constraints, leaves one if it is to be the only
  // one, and searches them.
  void search_drawn(const NodeItem& item, const NodeView& node, size_t first, Stream& stream,
                    Workspace& w, int worker, BestSplit& found);
  void keep_one(Stream& stream, size_t first, Candidates& candidates) const;
  void search_pure(const NodeView& node, size_t first, Stream& stream, Workspace& w, int worker,
                   BestSplit& found);
  void search(const NodeView& node, size_t first, size_t last, Workspace& w, int worker,
              BestSplit& found);
  void record(const NodeView& node, BestSplit& found, Workspace& w, SplitRecord& out) const;
  // values: of the split's direction on the node's rows.
  size_t partition(const NodeItem& item, const SplitRecord& split, const float* values,
                   Workspace& w);
  // Whether a partition has left rows on both sides.
  bool is_inside(size_t middle, const NodeItem& item) const;
  // Gives the children their rows out of the bag, and what the node's models leave them.
  void split_out_of_bag_rows(const NodeItem& item, const SplitRecord& split, Workspace& w,
                             NodeItem& left, NodeItem& right);
  // Leaves the children the groups of features that a split leaves open.
  void close_groups(const NodeItem& item, const SplitRecord& split, NodeItem& left,
                    NodeItem& right) const;
  void find_sides(const SplitRecord& split, const float* values, size_t n,
                  uint8_t* goes_left) const;
  const float* project(const NodeItem& item, const SplitRecord& split, Workspace& w);
  void compact(NodeItem& item, Workspace& w);
  void emit_leaf(const NodeItem& item, NodeStore& nodes, int32_t node, Workspace& w) const;
  void fill_single_row_leaves(NodeStore& nodes, Workspace& w) const;
  float node_weight(const Workspace& w) const;
  // Appends a node; a tree that is to be monotone also notes what the node would predict alone.
  int32_t open(const NodeItem& item, NodeStore& nodes, const Workspace& w) const;

  const float* const* columns(int level, const Workspace& w) const {
    return level == 0 ? tree_->columns.data()
                      : const_cast<const float* const*>(w.blocks[level - 1].columns.data());
  }
  const std::vector<uint32_t>* data_rows(int level, const Workspace& w) const {
    if (level > 0) return &w.blocks[level - 1].data_rows;
    return tree_->data_rows.empty() ? nullptr : &tree_->data_rows;
  }
  NodeRows rows_of(const NodeItem& item, const Workspace& w) const {
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
  RowRange range(const NodeItem& item, const Workspace& w) const {
    const auto* rows = data_rows(item.level, w);
    return {*tree_, item.start, item.end, rows ? rows->data() : nullptr};
  }
  NodeView view(const NodeItem& item, const Workspace& w) const {
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
  std::vector<std::unique_ptr<Workspace>>& workspaces_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  Limits limits_;  // of the sides of a split
  NodeLimits node_limits_;
  size_t touched_per_node_;  // features read for one row of a node
  bool exceeds_cache_;       // too large for a cache

  TreeData* tree_ = nullptr;
};

}  // namespace bevel
