// Screens candidates by the one-byte codes of their columns, where the columns do not fit in the
// cache. Most candidates cannot win for any exact values, and their columns are never
// read.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bevel/data/codes.h"
#include "bevel/projection/candidates.h"
#include "bevel/split/kernels/kernels.h"

namespace bevel {

// Result of screening for a candidate's best cut.
struct ScreeningBound {
  int32_t candidate = -1;
  double guess = -std::numeric_limits<double>::infinity();  // approximate score
  double bound = std::numeric_limits<double>::infinity();   // upper bound
};

// A candidate over codes, in units of which 2^16 span its range: its exact value is at least that
// number, and at most `width` units more.
struct CodedDirection {
  CodedProjection projection;
  double width;
};

// Such a candidate on rows, which may include others than the node's.
struct CodedValues {
  std::span<const uint16_t> sums;
  CodeRange range;  // of the node's rows
  double width;
  CodeRows rows;  // where the node's are
};

// Makes coded directions; owns the arrays that they point to.
class CodedDirections {
 public:
  // At most kMaxCodedColumns columns; valid until the next call.
  CodedDirection operator()(const ColumnCodes& codes, const Candidates& candidates, size_t c) {
    const int nnz = candidates.n_nonzeros(c);
    const int32_t* features = candidates.indices(c);
    const float* weights = candidates.weights(c);
    columns_.resize(static_cast<size_t>(nnz));
    factors_.resize(static_cast<size_t>(nnz));
    double steps = 0.0, size = 0.0;
    for (int k = 0; k < nnz; ++k) {
      const double weight = std::fabs(weights[k]);
      steps += weight * codes.scale(features[k]).step;
      size += weight * codes.scale(features[k]).size;
    }
    const double per_unit = steps > 0.0 ? kMaxUnits / steps : 0.0;
    int n_added = 0;
    unsigned origin = 0;
    for (const bool added : {true, false})
      for (int k = 0, at = added ? 0 : n_added; k < nnz; ++k) {
        if ((weights[k] > 0.0f) != added) continue;
        const double weight = std::fabs(weights[k]);
        const double step = weight * codes.scale(features[k]).step;
        columns_[at] = codes.column(features[k]);
        factors_[at] = static_cast<uint16_t>(step * per_unit + 0.5);
        // Subtractions never exceed the origin.
        if (!added) origin += factors_[at];
        n_added += added;
        ++at;
      }
    // Each column leaves a step open, to which the slack of a code is added on either side;
    // integers are rounded by less than two units. The rounding of the sum over values in floats,
    // at most 2^-23 of the largest sum in each of some nnz operations, is doubled and counted on
    // either side; sums that are not normal floats are off by less than the constant.
    const double rounding = (2.0 * nnz + 8.0) * 0x1p-22 * size + 1e-36;
    const double width = kMaxUnits / 256.0 * (1.0 + 2.0 * CodeScale::kSlack) + 2.0 * nnz +
                         2.0 * rounding * per_unit / 256.0;
    return {{columns_.data(), factors_.data(), n_added, nnz, static_cast<uint16_t>(origin)}, width};
  }

 private:
  // Sum of the factors: a code is one 256th of what its factor is.
  static constexpr double kMaxUnits = 65000.0;

  std::vector<const uint8_t*> columns_;
  std::vector<uint16_t> factors_;
};

// Whether screening saves time, by the share of candidates that it has ruled out at nodes of
// similar size.
class ScreeningRecord {
 public:
  bool saves_time(size_t n_rows) const {
    const Tally& t = of(n_rows);
    return t.seen < kTrial || kWorst * t.kept < t.seen;
  }
  void add(size_t n_rows, size_t n_seen, size_t n_kept) {
    Tally& t = tallies_[index(n_rows)];
    t.seen += n_seen;
    t.kept += n_kept;
  }

 private:
  static constexpr size_t kTrial = 256;
  static constexpr size_t kWorst = 3;  // largest share, one in this many, that may be kept
  struct Tally {
    size_t seen = 0, kept = 0;
  };
  static size_t index(size_t n_rows) { return std::min<size_t>(std::bit_width(n_rows), 31); }
  const Tally& of(size_t n_rows) const { return tallies_[index(n_rows)]; }

  Tally tallies_[32];
};

}  // namespace bevel
