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
inline constexpr std::array kCriterionNames{
    "gini", "entropy", "squared_error", "poisson", "absolute_error", "log_rank", "log_rank_score"};
enum class ThresholdRule : uint8_t { best, random, purely_random };
inline constexpr std::array kThresholdRuleNames{"best", "random", "purely_random"};
enum class SplitSearch : uint8_t { automatic, exact, histogram };
inline constexpr std::array kSplitSearchNames{"auto", "exact", "histogram"};
enum class Growth : uint8_t { depth_first, best_first, breadth_first, random_leaf };
inline constexpr std::array kGrowthNames{"depth_first", "best_first", "breadth_first",
                                         "random_leaf"};

inline constexpr int32_t kUsualRedraws = 8;

// A family of directions with its settings: projection/family.h.
class Family;

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
  // How often a node whose candidates have no cut draws again before it is a leaf. Negative: until
  // families without replacement have drawn everything, others kUsualRedraws times.
  int32_t max_redraws = -1;
  bool split_pure_nodes = false;  // at random, since there is nothing to compare
  int64_t bag_size = 0;           // draws per tree; 0: every row once
  bool replace = true;
  // The group of each row, for bags that draw groups with all of their rows: bag_size groups of
  // the n_bag_groups. Rows of group n_bag_groups are in no bag. Empty: each row is a group.
  std::vector<uint32_t> bag_groups;
  uint32_t n_bag_groups = 0;
  // Share of the rows of a bag that give leaves their values and that splits are not learnt on, in
  // honest trees. 0: all rows are for both.
  double leaf_share = 0.0;
  bool balanced_subsample = false;
  std::vector<std::shared_ptr<const Family>> families;  // that nodes draw their candidates from
  Constraints constraints;
  uint64_t seed = 0;
  std::string simd = "auto";
};

}  // namespace bevel
