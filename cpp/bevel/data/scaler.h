// Makes numeric features comparable by applying the scaling learned for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/data/store.h"

namespace bevel {

// Sums of some ten thousand stored values stay finite in float32.
constexpr double kMaxStored = 1e34;

// Destination of a scaled table, with any strides, in entries.
struct ScaledTable {
  float* values;
  int64_t row_stride, column_stride;
};

// The scaling of all columns of a table; immutable, so that threads may share it.
//
// A number is scaled in double, cut to kMaxStored in size and rounded to float; NaN stays NaN.
// All ways to apply it give the same bits. The caller has checked that numbers are finite or NaN.
class Scaler {
 public:
  // Leaves values unchanged.
  static Scaler identity(size_t n_features);
  // (x - shift) / span, cut to [0, 1] if `clip`.
  static Scaler linear(std::span<const double> shift, std::span<const double> span, bool clip);
  // Linear from low (0) to high (1), double-logarithmic beyond.
  static Scaler quantile(std::span<const double> low, std::span<const double> high);
  // Ranks among n_present training values, read off ascending knots: those of column f begin at
  // offset[f]. `complete` columns have all their distinct values as knots.
  static Scaler rank(bool relative, std::span<const int64_t> n_present,
                     std::span<const bool> complete, std::span<const int64_t> offset,
                     std::span<const double> knots, std::span<const double> ranks);

  // Returns a scaler for rows whose columns with levels hold level codes, which it leaves
  // unchanged.
  Scaler with_codes(std::span<const int32_t> levels) const;

  size_t n_features() const { return n_features_; }
  bool is_identity() const { return kind_ == Kind::identity; }

  float apply(size_t feature, double value) const {
    float stored;
    apply_column(feature, &value, 1, 1, &stored);
    return stored;
  }
  // One row of all features. Strides are in entries; source and target must not overlap.
  template <class Number>
  void apply_row(const Number* source, ptrdiff_t stride, float* target) const {
    scale_row(0, n_features_, source, stride, target);
  }
  // n values of one feature.
  template <class Number>
  void apply_column(size_t feature, const Number* source, ptrdiff_t stride, size_t n,
                    float* target) const;
  // A table whose columns are the features from first_feature on. Denormals are kept, even if other
  // libraries have disabled them on the caller's thread.
  template <class Number>
  void transform(const StridedTable<Number>& source, size_t first_feature, int n_threads,
                 const ScaledTable& target) const;
  // Numbers of all features one after the other; those of feature f begin at offset[f].
  template <class Number>
  void transform_columns(const Number* source, const int64_t* offset, float* target) const;

 private:
  enum class Kind { identity, linear, quantile, rank };

  Scaler(Kind kind, size_t n_features) : kind_(kind), n_features_(n_features) {}
  Kind kind_of(size_t feature) const;
  template <class Source, class At>
  void scale_bounded(Source values, size_t n, At at, float* target) const;
  template <class Number>
  void scale_row(size_t first, size_t n, const Number* source, ptrdiff_t stride,
                 float* target) const;
  template <class Number>
  void scale_rows(const StridedTable<Number>& source, size_t first_feature, size_t first_row,
                  size_t last_row, const ScaledTable& target) const;
  template <class Number>
  void scale_columns(const StridedTable<Number>& source, size_t first_feature, size_t first_row,
                     size_t last_row, const ScaledTable& target) const;

  Kind kind_;
  size_t n_features_;
  std::vector<size_t> codes_;  // features that are not scaled, ascending
  // Linear: shift and span, clipped or not. Quantile: low, high and their distance.
  std::vector<double> low_, high_, span_;
  bool clip_ = false;
  // Rank: knots with an infinity at either end of each column, which begins at start_[f].
  bool relative_ = false;
  std::vector<uint8_t> complete_;
  std::vector<size_t> start_;
  std::vector<double> knots_, ranks_;
};

}  // namespace bevel
