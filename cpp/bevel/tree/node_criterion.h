// The criterion of a forest at work on nodes, as trees see it. Trees are grown by code that is
// compiled once; each criterion is compiled in a source of its own (node_criterion_of.h). A call
// does the work of a whole node, so that what it costs to choose the function does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/node_view.h"
#include "bevel/split/pair_score.h"
#include "bevel/split/projection_bound.h"
#include "bevel/split/search/search_context.h"
#include "bevel/tree/node_store.h"
#include "bevel/tree/tree_data.h"

namespace bevel {

// What a criterion is like, whatever the node.
struct CriterionTraits {
  bool sums_pairs = false;     // its searches can read codes of columns
  bool precise_gain = true;    // else gain_of_sides() is to be asked
  bool rejects_cuts = false;   // may leave no cut, though directions separate the rows
  bool is_regression = false;  // nodes have a value
  bool has_hazard = false;     // survival
  bool takes_push = false;     // rejects cuts against the order that set_push() names
  bool on_grid = false;        // weights are in units of a grid
  size_t n_output_values = 0;  // values that each leaf has of several outputs
};

// Rows [start, end) of a tree.
struct RowRange {
  const TreeData& tree;
  size_t start, end;
  const uint32_t* data_rows;  // row of the node's columns -> row of the data; null: the same

  size_t size() const { return end - start; }
  uint32_t data_row(size_t i) const { return data_rows ? data_rows[tree.rows[i]] : tree.rows[i]; }
};

// One per thread: holds the totals of the thread's node, and the work space of the search.
class NodeCriterion {
 public:
  explicit NodeCriterion(const CriterionTraits& traits) : traits_(traits) {}
  virtual ~NodeCriterion() = default;

  const CriterionTraits& traits() const { return traits_; }
  // Sets the totals to those of the rows [start, end) of a tree. The others are about them.
  virtual void begin_node(const TreeData& tree, size_t start, size_t end) = 0;
  double weight() const { return weight_; }
  bool is_regression() const { return traits_.is_regression; }
  // No cut can be better than another.
  virtual bool is_pure(const RowRange& rows) const = 0;
  // Sets the order of the sides that the candidates searched next require; for criteria that take
  // a push.
  virtual void set_push(int push) = 0;
  // Searches candidates [first, last) of a node whose totals `totals` holds, which may be the
  // criterion of another thread.
  virtual void search(const NodeCriterion& totals, const NodeView& node, const Limits& limits,
                      const Candidates& candidates, size_t first, size_t last,
                      BestSplit& found) = 0;
  // Whether a search has found a cut that the criterion does not reject.
  bool is_cut(const BestSplit& found) const {
    return found.cut.found() && !(traits_.rejects_cuts && found.cut.score == kNoScore);
  }
  virtual double gain(double score) const = 0;
  virtual double gain_of_sides(const uint8_t* goes_left, size_t n) const = 0;
  // Puts what the rows [start, start + n) carry in the order of their sides, left ones first;
  // returns their number. goes_left: 1 where a row goes left.
  virtual size_t partition(TreeData& tree, size_t start, size_t n, const uint8_t* goes_left) = 0;
  // What a leaf predicts, in regression.
  virtual double leaf_value(const RowRange& rows) const = 0;
  // What the node would predict alone, in units that rise with predictions; of monotone trees.
  virtual double value_alone(const RowRange& rows) const = 0;
  // What a leaf holds: its value, shares of classes, means of outputs or jumps of hazards.
  virtual void write_leaf(const RowRange& rows, NodeStore& nodes, int32_t node) const = 0;

 protected:
  double weight_ = 0.0;  // of the node

 private:
  const CriterionTraits traits_;
};

}  // namespace bevel
