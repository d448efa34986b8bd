// The criteria of forests. Each has a function that makes it for a training set, defined in a
// source of this folder; the table in criteria.cpp has them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bevel/forest/forest_trainer.h"
#include "bevel/options.h"
#include "bevel/projection/training_row_data.h"
#include "bevel/split/absolute_error.h"
#include "bevel/split/entropy_table.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/output_criteria.h"
#include "bevel/split/projection_bound.h"
#include "bevel/tree/node_criterion.h"
#include "bevel/tree/tree_data.h"

namespace bevel {

struct CriterionScales {
  const OutputTargets* outputs = nullptr;  // several of them
  const Kernels* kernels = nullptr;
  double weight = 1.0;  // whole units per unit of weight
  double target = 1.0;  // whole units per unit of weight times target
  double centre = 0.0;
  double gain = 1.0;  // gains as they are kept, per unit of gain
  bool whole = true;  // weights are whole numbers
};

// What the criteria of one forest share.
struct CriterionData {
  const TrainingSet& training;
  const Options& options;
  CriterionScales scales{};
  const EntropyTable* table = nullptr;
  RankedTargets<int64_t> whole_ranks{};  // absolute error, whole weights
  RankedTargets<double> real_ranks{};    // the same with real weights

  bool is_entropy() const { return options.criterion == CriterionKind::entropy; }
};

struct RowWeight {
  int64_t whole;  // multiplicity times a whole weight
  double real;    // multiplicity times weight times class weight
};

// The criterion of one forest.
class ForestCriterion {
 public:
  virtual ~ForestCriterion() = default;
  // For a thread.
  virtual std::unique_ptr<NodeCriterion> make(const ProjectionBound& bound,
                                              const Kernels& kernels) const = 0;
  // What the rows of a tree carry.
  virtual std::unique_ptr<TreeStats> stats(std::span<const uint32_t> rows,
                                           const TrainingRowData& row_data) const = 0;
};

// What several sources call: pairs (weight, weighted target), with monotone constraints, and
// several outputs.
std::unique_ptr<ForestCriterion> make_pair_criterion(const CriterionData& data);
std::unique_ptr<ForestCriterion> make_monotone_criterion(const CriterionData& data);
std::unique_ptr<ForestCriterion> make_output_criterion(const CriterionData& data);

// The criterion that the options name. data must outlive it.
std::unique_ptr<ForestCriterion> make_criterion(const CriterionData& data);

}  // namespace bevel
