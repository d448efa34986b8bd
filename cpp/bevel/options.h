// The options of a training run. Python has checked every value; the core only reads them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bevel {

// Enumerations, each with the names that Python uses for its values, in their order.
enum class CriterionKind : uint8_t {
  gini,
  entropy,
  squared_error,
  poisson,
  absolute_error,
  log_rank,
  log_rank_score
};
constexpr std::array kCriterionNames{"gini",           "entropy",  "squared_error", "poisson",
                                     "absolute_error", "log_rank", "log_rank_score"};
enum class ThresholdRule : uint8_t { best, random, purely_random };
constexpr std::array kThresholdRuleNames{"best", "random", "purely_random"};
enum class SplitSearch : uint8_t { automatic, exact, histogram };
constexpr std::array kSplitSearchNames{"auto", "exact", "histogram"};
enum class Growth : uint8_t { depth_first, best_first, breadth_first, random_leaf };
constexpr std::array kGrowthNames{"depth_first", "best_first", "breadth_first", "random_leaf"};
enum class FamilyKind : uint8_t {
  axis,
  signs,
  combination,
  gaussian,
  rotation,
  categorical,
  multirotation,
  principal,
  patches,
  ridge,
  lda,
  logistic,
  pls,
  cca,
  custom,
  cox
};
constexpr std::array kFamilyNames{"axis",     "signs",       "combination",   "gaussian",
                                  "rotation", "categorical", "multirotation", "principal",
                                  "patches",  "ridge",       "lda",           "logistic",
                                  "pls",      "cca",         "custom",        "cox"};
enum class PatchWeights : uint8_t { signs, uniform, ones };
constexpr std::array kPatchWeightsNames{"signs", "uniform", "ones"};
enum class Tuning : uint8_t { none, cross_validation, out_of_bag };
constexpr std::array kTuningNames{"none", "cross_validation", "out_of_bag"};

// One axis of the array whose entries are the features, and the lengths of patches along it.
struct PatchAxis {
  int32_t length, stride;  // stride: features from one entry to the next
  int32_t shortest, longest;
};

struct Patch {
  std::vector<PatchAxis> axes;
  int32_t n_channels = 1, channel_stride = 1;
  bool one_channel = false;  // otherwise a patch covers all channels
  PatchWeights weights = PatchWeights::signs;
  bool shuffle = false;  // the same number of entries at random positions
  bool wrap = false;     // patches wrap around, otherwise they are cut off at the ends
  bool inside = false;   // patches are inside the array
};

// Settings of a model of the node's rows.
struct ModelSettings {
  std::vector<double> alphas;              // ridge: ascending penalties; logistic: one
  Tuning tune = Tuning::cross_validation;  // ridge: how the penalty is chosen at a node
  bool parent_when_exhausted = false;      // without rows out of the bag: the parent's penalty
  int32_t n_steps = 0;                     // logistic: Newton steps
  int32_t n_components = 0;                // pls
  bool bootstrap = false;                  // cca: of the node's rows
  bool record = false;                     // keep the p-values of coefficients
};

struct NodeRows;
struct DatasetView;
struct Candidates;

// A source of directions for a node, such as a user-defined function.
class DirectionSource {
 public:
  virtual ~DirectionSource() = default;
  // Appends directions over the numeric features, counted from 0.
  virtual void propose(const NodeRows& node, const DatasetView& data, uint64_t seed,
                       Candidates& out) const = 0;
};

// One member of the list of projections that a node draws its candidates from.
struct Family {
  FamilyKind kind = FamilyKind::axis;
  int32_t n_draws = 1;      // d: candidates drawn at a node
  int64_t n_nonzeros = 0;   // signs: entries thrown in all; else features in each direction
  bool flip = false;        // rotation, multirotation: allow determinant -1
  bool per_node = false;    // rotation, principal: a fresh one at every node
  int32_t n_rotations = 1;  // multirotation: the identity counts as one
  double share = 1.0;       // principal, per tree: share of the rows that a group learns from
  Patch patch;              // patches
  ModelSettings model;      // families of node models
  std::shared_ptr<const DirectionSource> source;  // custom: called at every node, or null
  // custom: else directions to draw from; rotation: the axes of given rotations, back to back, over
  // the numeric features counted from 0
  std::shared_ptr<const Candidates> pool;
  std::vector<int32_t> rotation_of_tree;  // rotation: which of the given ones, by tree number
  bool direct = false;                    // rotation: by the direct method, which is not uniform

  bool needs_out_of_bag() const {
    return kind == FamilyKind::ridge && model.tune == Tuning::out_of_bag;
  }
  // Whether its directions are drawn once per tree, and nodes choose among them.
  bool per_tree() const {
    return (kind == FamilyKind::rotation || kind == FamilyKind::principal) && !per_node;
  }
};

// Constraints that a model satisfies on any data.
struct Constraints {
  // By feature: 1 predictions rise with it, -1 they fall, 0 either; empty: all 0.
  std::vector<int8_t> monotone;
  // Groups of features that may share a path; each feature is in at least one. Empty: all may.
  std::vector<std::vector<int32_t>> groups;

  bool any() const { return !monotone.empty() || !groups.empty(); }
  bool is_monotone() const {
    for (const int8_t sign : monotone)
      if (sign != 0) return true;
    return false;
  }
};

struct Options {
  CriterionKind criterion = CriterionKind::gini;
  ThresholdRule threshold = ThresholdRule::best;
  int32_t n_thresholds = 1;
  SplitSearch split_search = SplitSearch::automatic;
  Growth growth = Growth::depth_first;
  int32_t max_depth = -1;  // -1: unlimited
  int64_t min_samples_split = 2;
  int64_t min_samples_leaf = 1;
  double min_weight_leaf = 0.0;  // share of the tree's total weight
  int64_t max_leaf_nodes = 0;    // 0: unlimited
  double min_impurity_decrease = 0.0;
  bool split_pure_nodes = false;  // at random, since there is nothing to compare
  int64_t bag_size = 0;           // draws per tree; 0: every row once
  bool replace = true;
  bool balanced_subsample = false;
  std::vector<Family> families;
  Constraints constraints;
  uint64_t seed = 0;
  std::string simd = "auto";

  bool any_family(bool (Family::*is)() const) const {
    for (const Family& family : families)
      if ((family.*is)()) return true;
    return false;
  }
};

}  // namespace bevel
