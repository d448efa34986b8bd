#include "bevel/projection/principal_components.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "bevel/models/algebra/symmetric_eigen.h"
#include "bevel/support/arithmetic/dot.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

constexpr size_t kBlockRows = 256;
constexpr double kFloatRounding = 0x1.0p-24;

// Some of the rows, feature after feature, in doubles.
class Block {
 public:
  Block(const std::vector<int32_t>& features, const float* medians)
      : features_(features), medians_(medians), values_(features.size() * kBlockRows) {}

  void read(const WeightedRows& from, size_t first, size_t n) {
    weights = from.weights.data() + first;
    size = n;
    for (size_t k = 0; k < features_.size(); ++k) {
      const float* x = from.columns[features_[k]];
      const float median = medians_[features_[k]];
      for (size_t i = 0; i < n; ++i) {
        const float value = x[from.rows[first + i]];
        column(k)[i] = static_cast<double>(value == value ? value : median);
      }
    }
  }
  double* column(size_t k) { return values_.data() + k * kBlockRows; }

  const double* weights = nullptr;
  size_t size = 0;

 private:
  const std::vector<int32_t>& features_;
  const float* medians_;
  std::vector<double> values_;
};

template <class Visit>
void for_each_block(const WeightedRows& rows, Block& block, Visit visit) {
  for (size_t first = 0; first < rows.rows.size(); first += kBlockRows) {
    poll_cancellation(kBlockRows);
    block.read(rows, first, std::min(kBlockRows, rows.rows.size() - first));
    visit();
  }
}

struct Moments {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

Moments weighted_moments(const std::vector<int32_t>& features, const WeightedRows& rows,
                         const float* medians) {
  const size_t m = features.size();
  const auto size = static_cast<Eigen::Index>(m);
  Moments moments{Eigen::VectorXd::Zero(size), Eigen::MatrixXd::Zero(size, size)};
  double total = 0.0;
  for (double w : rows.weights) total += w;
  Block block(features, medians);
  for_each_block(rows, block, [&] {
    for (size_t a = 0; a < m; ++a)
      moments.mean[static_cast<Eigen::Index>(a)] += dot(block.weights, block.column(a), block.size);
  });
  moments.mean /= total;
  std::vector<double> weighted(kBlockRows);
  for_each_block(rows, block, [&] {
    for (size_t a = 0; a < m; ++a)
      for (size_t i = 0; i < block.size; ++i)
        block.column(a)[i] -= moments.mean[static_cast<Eigen::Index>(a)];
    for (size_t a = 0; a < m; ++a) {
      poll_cancellation(block.size * a);
      for (size_t i = 0; i < block.size; ++i) weighted[i] = block.weights[i] * block.column(a)[i];
      for (size_t b = 0; b <= a; ++b)
        moments.covariance(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) +=
            dot(weighted.data(), block.column(b), block.size);
    }
  });
  moments.covariance /= total;
  moments.covariance = moments.covariance.selfadjointView<Eigen::Lower>();
  return moments;
}

// Makes the largest entry positive; ties go to the first.
void fix_sign(Eigen::Ref<Eigen::VectorXd> axis) {
  Eigen::Index largest = 0;
  for (Eigen::Index k = 1; k < axis.size(); ++k)
    if (std::fabs(axis[k]) > std::fabs(axis[largest])) largest = k;
  if (axis[largest] < 0.0) axis = -axis;
}

}  // namespace

PrincipalComponents principal_components(std::vector<int32_t> features, const WeightedRows& rows,
                                         const float* medians) {
  const Moments moments = weighted_moments(features, rows, medians);
  const Eigen::Index m = moments.mean.size();
  // The iterative solver, since the direct one for small matrices uses cosines, which differ
  // between machines.
  SymmetricEigen solver;
  solver.compute(moments.covariance);
  PrincipalComponents result;
  result.features = std::move(features);
  for (Eigen::Index c = m; c-- > 0;) {  // eigenvalues rise
    Eigen::VectorXd axis = Eigen::VectorXd::Unit(m, c);
    if (solver.converged()) axis = solver.eigenvectors().col(c);
    fix_sign(axis);
    // More precise for small variances than the eigenvalues.
    poll_cancellation(static_cast<size_t>(m * m));
    const double variance = axis.dot(moments.covariance * axis);
    double size = 0.0;  // of the terms that make up a projected value
    for (Eigen::Index k = 0; k < m; ++k)
      size += std::fabs(axis[k]) * std::sqrt(moments.mean[k] * moments.mean[k] +
                                             std::max(0.0, moments.covariance(k, k)));
    result.axes.insert(result.axes.end(), axis.data(), axis.data() + m);
    result.deviation.push_back(std::sqrt(std::max(0.0, variance)));
    result.rounding.push_back(2.0 * static_cast<double>(m + 2) * kFloatRounding * size);
  }
  return result;
}

void PrincipalComponents::append_to(Candidates& out, size_t component) const {
  for (size_t k = 0; k < size(); ++k) {
    const auto weight = static_cast<float>(axes[component * size() + k]);
    if (weight != 0.0f) out.add_entry(features[k], weight);
  }
  out.close();
}

}  // namespace bevel
