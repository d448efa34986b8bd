// Proportional hazards on the features of a node, by a few Newton steps from b = 0:
//
//   log partial likelihood (Cox 1972, ties after Breslow) - alpha / 2 |b|^2,  x standardised.
//
// Rows are at risk from their entry on; events of all causes count equally.
//
// The first step is enough for a direction (aorsf: Jaeger et al. 2022); further steps approach
// the maximum.
#pragma once

#include <vector>

#include "bevel/models/node_sample.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class CoxModel {
 public:
  // Survival only; the rows by ascending rank. At most one direction.
  void directions(const NodeSample& sample, double alpha, size_t n_steps, ModelDirections& out);

 private:
  // Sets gradient_ and information_ at b; false without an event.
  bool differentiate(const NodeSample& sample);
  // Adds a row to the sums over the rows at risk (sign 1), or removes it (-1).
  void add_row(const NodeSample& sample, size_t row, double sign);
  // Rows that enter late, the last first.
  void order_late_rows(const NodeSample& sample);
  void add_events(double deaths);
  void add_penalty(double alpha);

  StandardRows rows_;
  std::vector<uint32_t> late_;
  std::vector<double> risk_;                // exp(x b) of each row
  std::vector<double> x_, b_, sum_, mean_;  // sums over the rows at risk
  std::vector<double> squares_, gradient_, information_;
  double total_ = 0.0;
};

}  // namespace bevel
