// x log2 x, the term of the entropy.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "bevel/support/arithmetic/grid_scale.h"
#include "bevel/support/arithmetic/logarithm.h"

namespace bevel {

// Values for whole numbers are looked up, and rounded to a grid on which their sums are exact:
// a score does not depend on the order of its terms. Values for other numbers are computed and not
// rounded.
class EntropyTable {
 public:
  static constexpr double kLongest = 4194304.0;

  EntropyTable() = default;
  // Table for whole numbers whose sum is at most `most`.
  explicit EntropyTable(double most) : scale_(grid_scale(x_log2_x(most), 52)) {
    slack_ = kSlack * x_log2_x(most);
    values_.resize(static_cast<size_t>(most < kLongest ? most : kLongest) + 1);
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = computed(static_cast<double>(i));
  }

  double operator()(double x) const {
    const auto i = static_cast<size_t>(x);
    return i < values_.size() && static_cast<double>(i) == x ? values_[i] : computed(x);
  }
  double whole(size_t i) const {
    return i < values_.size() ? values_[i] : computed(static_cast<double>(i));
  }
  // Values for the numbers below size().
  const double* values() const { return values_.data(); }
  size_t size() const { return values_.size(); }

  // Bound on the rounding error of a score of a node of this weight.
  double slack(double weight) const { return scale_ > 0.0 ? slack_ : kSlack * x_log2_x(weight); }

 private:
  static constexpr double kSlack = 2e-14;  // six terms with errors of a few units of 2^-53 each

  double computed(double x) const {
    const double value = x_log2_x(x);
    return scale_ > 0.0 ? std::floor(value * scale_ + 0.5) / scale_ : value;
  }

  double scale_ = 0.0, slack_ = 0.0;
  std::vector<double> values_;
};

}  // namespace bevel
