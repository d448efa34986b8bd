#include "bevel/data/scaler.h"

#include <algorithm>
#include <limits>

#include "bevel/data/scaling_loops.h"
#include "bevel/support/arithmetic/float_environment.h"
#include "bevel/support/check.h"
#include "bevel/support/thread_pool.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

using scaling::ConstantBound;
using scaling::kBlock;

// Values of a job, whose work is some hundred times the cost of starting it.
constexpr size_t kJobValues = size_t{1} << 16;
// Rows of a block of few columns, which stay in a cache together.
constexpr size_t kFewColumns = 64, kLongBlock = 512;
// Rows of fewer values are not worth a loop of their own.
constexpr size_t kShortRow = 8;

void check_offsets(std::span<const int64_t> offset, size_t n_features, size_t n_knots) {
  require(offset.size() == n_features + 1, "[Scaler] offset needs one entry per feature and one");
  require(offset.front() == 0 && static_cast<size_t>(offset.back()) == n_knots &&
              std::is_sorted(offset.begin(), offset.end()),
          "[Scaler] offset must ascend from 0 to the number of knots");
}

std::vector<double> as_vector(std::span<const double> values) {
  return {values.begin(), values.end()};
}

// Compiled for the instruction set of this machine, with and without contiguous values.
#define BEVEL_QUANTILE(Number)                                                                \
  BEVEL_WIDE_LOOP void quantile_column(const Number* source, ptrdiff_t stride, size_t n,      \
                                       double low, double high, double span, float* target) { \
    if (stride == 1)                                                                          \
      scaling::quantile_column(source, n, low, high, span, target);                           \
    else                                                                                      \
      scaling::quantile_column(scaling::Strided<Number>{source, stride}, n, low, high, span,  \
                               target);                                                       \
  }
BEVEL_QUANTILE(float)
BEVEL_QUANTILE(double)
#undef BEVEL_QUANTILE

}  // namespace

Scaler Scaler::identity(size_t n_features) { return {Kind::identity, n_features}; }

Scaler Scaler::linear(std::span<const double> shift, std::span<const double> span, bool clip) {
  require(shift.size() == span.size(), "[Scaler] shift and span need one entry per feature");
  Scaler scaler(Kind::linear, shift.size());
  scaler.low_ = as_vector(shift);
  scaler.span_ = as_vector(span);
  scaler.clip_ = clip;
  return scaler;
}

Scaler Scaler::quantile(std::span<const double> low, std::span<const double> high) {
  require(low.size() == high.size(), "[Scaler] low and high need one entry per feature");
  Scaler scaler(Kind::quantile, low.size());
  scaler.low_ = as_vector(low);
  scaler.high_ = as_vector(high);
  scaler.span_.resize(low.size());
  for (size_t f = 0; f < low.size(); ++f)
    scaler.span_[f] = high[f] > low[f] ? high[f] - low[f] : 1.0;
  return scaler;
}

Scaler Scaler::rank(bool relative, std::span<const int64_t> n_present,
                    std::span<const bool> complete, std::span<const int64_t> offset,
                    std::span<const double> knots, std::span<const double> ranks) {
  require(n_present.size() == complete.size(),
          "[Scaler] n_present and complete need one entry per feature");
  require(knots.size() == ranks.size(), "[Scaler] every knot needs a rank");
  check_offsets(offset, n_present.size(), knots.size());
  Scaler scaler(Kind::rank, n_present.size());
  scaler.relative_ = relative;
  scaler.complete_.assign(complete.begin(), complete.end());
  scaler.start_.push_back(0);
  for (size_t f = 0; f < n_present.size(); ++f) {
    const double ceiling = static_cast<double>(n_present[f]) + 1.0;
    const double unit = relative ? ceiling : 1.0;
    auto add = [&](double knot, double rank) {
      scaler.knots_.push_back(knot);
      scaler.ranks_.push_back(rank / unit);
    };
    add(-std::numeric_limits<double>::infinity(), 0.0);
    for (auto k = static_cast<size_t>(offset[f]); k < static_cast<size_t>(offset[f + 1]); ++k)
      add(knots[k], ranks[k]);
    add(std::numeric_limits<double>::infinity(), ceiling);
    scaler.start_.push_back(scaler.knots_.size());
  }
  return scaler;
}

Scaler Scaler::with_codes(std::span<const int32_t> levels) const {
  require(levels.size() == n_features_, "[Scaler] levels need one entry per feature");
  Scaler scaler = *this;
  scaler.codes_.clear();
  for (size_t f = 0; f < levels.size(); ++f)
    if (levels[f] > 0) scaler.codes_.push_back(f);
  return scaler;
}

Scaler::Kind Scaler::kind_of(size_t feature) const {
  return std::binary_search(codes_.begin(), codes_.end(), feature) ? Kind::identity : kind_;
}

// `at` selects the entries of a vector for the features of the values.
template <class Source, class At>
void Scaler::scale_bounded(Source values, size_t n, At at, float* target) const {
  if (kind_ == Kind::quantile)
    scaling::quantile(values, n, at(low_), at(high_), at(span_), kMaxStored, target);
  else if (clip_)
    scaling::linear_cut(values, n, at(low_), at(span_), target);
  else
    scaling::linear(values, n, at(low_), at(span_), kMaxStored, target);
}

template <class Number>
void Scaler::apply_column(size_t feature, const Number* source, ptrdiff_t stride, size_t n,
                          float* target) const {
  BEVEL_CHECK(feature < n_features_);
  const Kind kind = kind_of(feature);
  if (kind == Kind::quantile)
    return quantile_column(source, stride, n, low_[feature], high_[feature], span_[feature],
                           target);
  scaling::over(source, stride, [&](auto values) {
    if (kind == Kind::identity) {
      scaling::pass(values, n, target);
    } else if (kind == Kind::rank) {
      const size_t first = start_[feature], n_knots = start_[feature + 1] - first;
      const bool complete = complete_[feature] != 0;
      const scaling::Ranks ranks{{&knots_[first], n_knots}, &ranks_[first], relative_, complete};
      scaling::rank(values, n, ranks, kMaxStored, target);
    } else {
      auto at = [&](const std::vector<double>& bounds) { return ConstantBound{bounds[feature]}; };
      scale_bounded(values, n, at, target);
    }
  });
}

template <class Number>
void Scaler::scale_row(size_t first, size_t n, const Number* source, ptrdiff_t stride,
                       float* target) const {
  auto at_place = [&](size_t i) { return source + static_cast<ptrdiff_t>(i) * stride; };
  if (kind_ == Kind::rank) {
    for (size_t i = 0; i < n; ++i) apply_column(first + i, at_place(i), 1, 1, target + i);
    return;
  }
  scaling::over(source, stride, [&](auto values) {
    if (kind_ == Kind::identity) {
      scaling::pass(values, n, target);
    } else {
      auto at = [&](const std::vector<double>& bounds) { return bounds.data() + first; };
      scale_bounded(values, n, at, target);
    }
  });
  for (size_t f : codes_)
    if (f >= first && f < first + n) target[f - first] = static_cast<float>(*at_place(f - first));
}

template <class Number>
void Scaler::scale_rows(const StridedTable<Number>& source, size_t first_feature, size_t first_row,
                        size_t last_row, const ScaledTable& target) const {
  for (size_t row = first_row; row < last_row; ++row) {
    poll_cancellation_at(row, source.n_columns);
    scale_row(first_feature, source.n_columns,
              source.values + static_cast<int64_t>(row) * source.row_stride, source.column_stride,
              target.values + static_cast<int64_t>(row) * target.row_stride);
  }
}

// In blocks of rows, whose cache lines serve several columns where the table is stored by rows.
template <class Number>
void Scaler::scale_columns(const StridedTable<Number>& source, size_t first_feature,
                           size_t first_row, size_t last_row, const ScaledTable& target) const {
  float block[kLongBlock];
  const size_t most = source.n_columns <= kFewColumns ? kLongBlock : kBlock;
  for (size_t start = first_row; start < last_row; start += most) {
    const size_t n = std::min(last_row - start, most);
    const auto row = static_cast<int64_t>(start);
    for (size_t c = 0; c < source.n_columns; ++c) {
      poll_cancellation(n);
      const auto column = static_cast<int64_t>(c);
      const Number* from = source.values + row * source.row_stride + column * source.column_stride;
      float* to = target.values + row * target.row_stride + column * target.column_stride;
      const bool direct = target.row_stride == 1;
      apply_column(first_feature + c, from, source.row_stride, n, direct ? to : block);
      if (!direct)
        for (size_t i = 0; i < n; ++i) to[static_cast<int64_t>(i) * target.row_stride] = block[i];
    }
  }
}

template <class Number>
void Scaler::transform(const StridedTable<Number>& source, size_t first_feature, int n_threads,
                       const ScaledTable& target) const {
  require(source.n_columns <= n_features_ && first_feature <= n_features_ - source.n_columns,
          "[Scaler] the table has columns beyond those of the scaler");
  if (source.n_rows == 0 || source.n_columns == 0) return;
  // Tables of ranks are too large to keep those of a whole row in the cache.
  const bool by_rows = kind_ != Kind::rank && target.column_stride == 1 &&
                       source.n_columns >= std::min(source.n_rows, kShortRow);
  const size_t job_rows = std::max<size_t>(kBlock, kJobValues / source.n_columns);
  auto run = [&](int, size_t job) {
    const size_t first = job * job_rows, last = std::min(source.n_rows, first + job_rows);
    if (by_rows)
      scale_rows(source, first_feature, first, last, target);
    else
      scale_columns(source, first_feature, first, last, target);
  };
  const size_t n_jobs = (source.n_rows + job_rows - 1) / job_rows;
  if (n_jobs == 1) {
    const PlainArithmetic arithmetic;
    run(0, 0);
  } else {
    ThreadPool(n_threads, n_jobs, run).run();
  }
}

template <class Number>
void Scaler::transform_columns(const Number* source, const int64_t* offset, float* target) const {
  const PlainArithmetic arithmetic;
  for (size_t f = 0; f < n_features_; ++f) {
    const auto n = static_cast<size_t>(offset[f + 1] - offset[f]);
    poll_cancellation(n * 64);
    apply_column(f, source + offset[f], 1, n, target + offset[f]);
  }
}

#define BEVEL_NUMBER(Number)                                                                    \
  template void Scaler::apply_column(size_t, const Number*, ptrdiff_t, size_t, float*) const;   \
  template void Scaler::scale_row(size_t, size_t, const Number*, ptrdiff_t, float*) const;      \
  template void Scaler::transform(const StridedTable<Number>&, size_t, int, const ScaledTable&) \
      const;                                                                                    \
  template void Scaler::transform_columns(const Number*, const int64_t*, float*) const;
BEVEL_NUMBER(float)
BEVEL_NUMBER(double)
#undef BEVEL_NUMBER

}  // namespace bevel
