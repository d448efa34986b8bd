// Principal components of the rows of a node or a tree, for Rotation Forest (Rodriguez et al. 2006)
// and its per-node form (thesis Table 3.1).
#pragma once

#include <Eigen/Eigenvalues>
#include <vector>

#include "bevel/models/standard_rows.h"

namespace bevel {

class PrincipalComponents {
 public:
  // Of the weighted covariance (divisor: total weight) of the raw features; labels are not looked
  // at.
  void fit(const NodeSample& sample);

  size_t size() const { return size_; }
  // Descending, not negative.
  const std::vector<double>& variance() const { return variance_; }
  // Component after component, each of length 1 with its largest entry in magnitude positive.
  const std::vector<double>& components() const { return components_; }

 private:
  size_t size_ = 0;
  StandardRows rows_;
  std::vector<double> gram_, variance_, components_;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver_;
};

}  // namespace bevel
