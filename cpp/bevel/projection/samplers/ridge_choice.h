// Chooses the penalty of a ridge model on rows that it has not seen (Menze et al. 2011, section 2,
// step 4a). Every penalty's best cut is made on the rows of the bag; rows out of the bag that reach
// the node then fall on its sides, each of which predicts the mean of its rows of the bag: class
// shares, or the mean target. The smallest squared error wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/models/node_sample.h"

namespace bevel {

class RidgeChoice {
 public:
  // Index into path; ties, up to rounding, go to the last, that is the largest penalty of ascending
  // ones. -1 when no penalty has a direction that cuts.
  int32_t choose(const NodeSample& bag, const NodeSample& out_of_bag,
                 const std::vector<ModelDirections>& path);

 private:
  struct Split {
    double score = -1.0;  // sum over sides of (sum of responses)^2 / weight
    double cut = 0.0;
    std::vector<double> left, right;  // predictions of the sides
  };

  void set_responses(const NodeSample& bag);
  void find_cut(const NodeSample& bag, std::span<const double> direction,
                std::vector<uint64_t>& keys, Split& best);
  double error(const NodeSample& rows, std::span<const double> direction, const Split& split) const;

  size_t width_ = 0;           // classes, or 1
  std::vector<double> total_;  // sums of the responses, by class
  double total_weight_ = 0.0;
  double centre_ = 0.0;  // mean target, subtracted from responses
  double spread_ = 1.0;  // of the targets around it; 1 for classes
  std::vector<double> left_, loss_;
  std::vector<std::vector<uint64_t>> keys_;  // per direction: sorted value and row
  Split split_;
};

}  // namespace bevel
