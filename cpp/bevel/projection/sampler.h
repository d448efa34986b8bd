// Samplers propose directions for a node. The cost of a proposal is proportional to its non-zeros,
// never to p times d. They know nothing of labels or thresholds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/cell_set.h"
#include "bevel/projection/deck.h"
#include "bevel/random/stream.h"

namespace bevel {

// The node's rows, for samplers that look at the data: column(feature)[rows[i]].
struct NodeRows {
  const float* const* columns;  // one pointer per feature, then per axis of the tree's rotation
  std::span<const uint32_t> rows;
};

// What a sampler may scribble on; one per thread.
struct SamplerScratch {
  Deck features;  // over the sampler's features
  Deck subset;
  CellSet cells;
  std::vector<int32_t> column, row;  // of each entry thrown
  std::vector<uint32_t> next_entry;  // of each column
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Appends up to n_draws candidates.
  virtual void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
                      Candidates& out) const = 0;
  // Samplers without replacement: one more candidate after sample(), false when none is left.
  virtual bool sample_more(Stream& stream, SamplerScratch& scratch, Candidates& out) const;
  // Called when a node has its candidates.
  virtual void end_node(SamplerScratch& scratch) const;
  // Whether asking again can give other candidates than those seen.
  virtual bool can_redraw() const { return true; }
  virtual void prepare(SamplerScratch&) const {}
};

std::unique_ptr<Sampler> make_sampler(const Family& family, const DatasetView& data);

}  // namespace bevel
