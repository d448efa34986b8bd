// Samplers propose directions for a node. The cost of a proposal is proportional to its non-zeros,
// never to p times d. Some read the node's rows; none uses thresholds or gains.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/cell_set.h"
#include "bevel/projection/sample_without_replacement.h"
#include "bevel/projection/training_row_data.h"
#include "bevel/random/stream.h"

namespace bevel {

// Rows that reach the node but are not in the tree's bag; they have columns of their own.
struct OutOfBagRows {
  const float* const* columns = nullptr;
  std::span<const uint32_t> rows;
  const uint32_t* data_rows = nullptr;
};

// The node's rows, for samplers that read the data: columns[feature][rows[i]] are features,
// row_data are by row of the data.
struct NodeRows {
  const float* const* columns;  // one pointer per feature, then per axis of the tree
  std::span<const uint32_t> rows;
  const uint32_t* data_rows = nullptr;  // row of `columns` -> row of the data; null: the same
  const TrainingRowData* row_data = nullptr;
  OutOfBagRows out_of_bag{};
  int32_t depth = 0;
  int32_t* inherited = nullptr;  // per family: left by the parent, then for the children

  size_t data_row(size_t i) const { return data_rows ? data_rows[rows[i]] : rows[i]; }
};

// State of a family in addition to the common scratch.
struct FamilyScratch {
  virtual ~FamilyScratch() = default;
};

// Buffers of a sampler; one per thread.
struct SamplerScratch {
  std::unique_ptr<FamilyScratch> family;
  SampleWithoutReplacement features;  // draws among the sampler's features
  SampleWithoutReplacement subset;
  CellSet cells;
  std::vector<int32_t> column, row;  // of each drawn entry
  std::vector<uint32_t> next_entry;  // of each column
  std::vector<double> weights;       // of the node's rows
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Appends up to n_draws candidates.
  virtual void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
                      Candidates& out) const = 0;
  // Draws one more candidate after sample(), for samplers without replacement; false if none is
  // left.
  virtual bool sample_more(Stream& stream, SamplerScratch& scratch, Candidates& out) const;
  // Called when a node has its candidates.
  virtual void end_node(SamplerScratch& scratch) const;
  // Whether drawing again can give other candidates.
  virtual bool can_redraw() const { return true; }
  virtual void prepare(SamplerScratch&) const {}
};

using Samplers = std::vector<std::unique_ptr<Sampler>>;

// The feature that stands for a column in a direction: itself, or one of its level terms at random.
inline int32_t draw_term(const CombinedColumn& column, Stream& stream) {
  if (column.n_terms == 1) return column.first;
  return column.first + static_cast<int32_t>(stream.below(static_cast<uint64_t>(column.n_terms)));
}

// Makes one sampler per family. Those that work per tree draw from the axes of draw_tree_axes().
Samplers make_samplers(const Options& options, const DatasetView& data);

// Directions that all trees of a multi-rotation forest draw from, family by family, in drawing
// order: the features, then rotation after rotation.
Candidates draw_forest_axes(const Options& options, const DatasetView& data);

}  // namespace bevel
