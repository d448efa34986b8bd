// The hot loops over the top levels of trees and over symmetric trees (top_levels.h), compiled once
// per instruction set and chosen at run time. All versions give the same results: lanes are rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bevel/predict/packed_forest.h"

namespace bevel {

constexpr int kTopLevels = 5;
constexpr int kTopLevelSplits = (1 << kTopLevels) - 1;
constexpr size_t kTopLevelRows = 32;  // rows that go together

// Splits in the order of a heap: those below split i are 2i + 1 and 2i + 2.
struct TopLevels {
  struct Split {
    // 0: a leaf, or a split that the top levels cannot evaluate; all ends below refer to it.
    int32_t n_terms;
    float threshold;
    int32_t feature[SignsNode::kMax];
    float weight[SignsNode::kMax];
  };
  Split split[kTopLevelSplits];
  Child end[kTopLevelSplits + 1];  // from left to right
};

// Rows in groups of kTopLevelRows, the last one filled up; in a group feature after feature.
struct GroupedRows {
  const float* values;
  size_t n_groups;
  size_t n_features;
};

// "auto" or the name of an instruction set, as for the split search; throws when this machine does
// not have it.
TopLevelKernels find_top_level_kernels(const std::string& simd);

}  // namespace bevel
