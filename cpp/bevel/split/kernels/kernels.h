// The hot loops of the split search, compiled once per instruction set and chosen at run time.
// Every version gives the same bits: lanes are rows or candidates, never partial sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bevel {

constexpr int kLanes = 8;                // candidates that go through a sorting network together
constexpr size_t kMaxNetworkRows = 512;  // largest node that does
constexpr int kMaxBins = 1024;
// Up to this weight of a node every product in the scan of a network is exact in a double:
// (W^2 / 4)^2 * (W^2 / 4) < 2^53.
constexpr double kMaxNetworkWeight = 512.0;
// The limit for class counts, W^3 * (W^2 / 4) < 2^53 and scores further apart than rounding.
constexpr double kMaxClassLaneWeight = 1024.0;
constexpr int kMaxLaneClasses = 8;
constexpr int kLaneClassBits = 6;
constexpr int kMaxTermClasses = 1 << kLaneClassBits;

struct ValueRange {
  float low, high;
};

struct Comparator {
  uint16_t low, high;
};

// Sum of a weight and of weight times target, in integers, so that the order does not matter.
struct WidePair {
  int64_t weight, sum;
};

// One direction evaluated on rows. fill is null, or replaces NaN feature by feature.
struct Projection {
  const float* const* columns;
  const float* weights;
  const float* fill;
  int n_nonzeros;
};

// A direction by the codes of its columns (data/codes.h), a whole number below 2^16: origin plus
// the sum of code * factor / 256 over the first columns minus that over the others, all rounded
// down.
constexpr int kMaxCodedColumns = 64;
struct CodedProjection {
  const uint8_t* const* columns;
  const uint16_t* factors;
  int n_added, n_columns;  // at most kMaxCodedColumns of them
  uint16_t origin;
};

struct CodeRange {
  uint16_t low, high;
};

// Equal-width bins of such numbers: (number - low) * scale / 2^16, rounded down.
struct CodeBins {
  uint16_t low, scale;
  int n_bins;
};

// Index of the number of row rows[i]: rows[i] - first; without rows i.
struct CodeRows {
  const uint32_t* rows;
  size_t first;
};

// Ranges of bytes that will be read next and are not in the cache; empty if there are none. Loops
// that run meanwhile prefetch some lines now and then: all at once would fill the memory queue
// and stall everything.
struct Prefetch {
  const char* const* runs = nullptr;
  int n_runs = 0;
  size_t next = 0, end = 0;  // bytes not yet prefetched

  // Forced inline: GCC drops calls of a function that returns nothing and does nothing else.
#if defined(__GNUC__)
  __attribute__((always_inline)) void fetch_some() {
    constexpr size_t kLine = 64;
    if (next >= end) return;
    for (int r = 0; r < n_runs; ++r) {
      __builtin_prefetch(runs[r] + next);
      __builtin_prefetch(runs[r] + next + kLine);
    }
    next += 2 * kLine;
  }
#else
  void fetch_some() {}
#endif
};

// Scores of a direction whose values are known up to a width.
struct PairPeak {
  double edge;   // the best cut between bins, as if the values were exact
  double bound;  // upper bound on the score of a cut
};

// Parameters of the score D^2 / (w (W - w)), D = a W - w A, over cumulative (w, a).
struct PairTotals {
  double weight, sum;
};

// Counts per bin and class; classes are padded with zeros to a multiple of kLanes.
struct ClassBins {
  const uint32_t* counts;
  size_t stride;
  int n_bins;
};

// Best cut of each lane of a network: score = numerator / denominator; none when denominator is 0.
struct LaneBest {
  double numerator[kLanes];
  double denominator[kLanes];
  double weight_left[kLanes];
  double position[kLanes];  // the cut follows this sorted row
};

// Tables of the entropy of a node (split/entropy_terms.h): the score of a cut is the sum over
// classes of term[first[k] + l_k], l_k the weight of class k on the left, minus weight_term[sum
// of all l_k].
struct LaneTerms {
  const double* term;
  const uint32_t* first;
  int n_classes;
  const double* weight_term;
};

struct Kernels {
  const char* name;

  // out[i] = ((w0 x0) + w1 x1) + ... at rows[i].
  void (*project)(const Projection&, const uint32_t* rows, size_t n, float* out);
  // Projects the rows first + i with member[i] = 1, i < span; out has room for 16 more.
  void (*project_span)(const Projection&, size_t first, size_t span, const uint8_t* member,
                       float* out);
  // Numbers by codes and their range: of these rows; or of the rows first + i, i < span, with the
  // range of those with member[i] = 1, or of all without member.
  CodeRange (*sum_codes)(const CodedProjection&, const uint32_t* rows, size_t n, uint16_t* out);
  CodeRange (*sum_codes_span)(const CodedProjection&, size_t first, size_t span,
                              const uint8_t* member, Prefetch&, uint16_t* out);
  ValueRange (*range_with_prefetch)(const float* values, size_t n, Prefetch&);
  // Largest value in bins up to the edge and smallest value beyond.
  ValueRange (*neighbours)(const float* values, size_t n, float low, float scale, int edge);
  void (*bins)(const float* values, size_t n, float low, float scale, int last, uint16_t* out);
  // histogram has 2 * n_bins entries, the second half is work space. While bins are filled, the
  // next memory is prefetched.
  void (*histogram_packed)(const float* values, const uint64_t* stats, size_t n, float low,
                           float scale, int n_bins, Prefetch&, uint64_t* histogram);
  void (*histogram_wide)(const float* values, const WidePair* stats, size_t n, float low,
                         float scale, int n_bins, Prefetch&, WidePair* histogram);
  // Histogram of n rows whose numbers by codes are among n_sums; bins has room for as many.
  void (*code_histogram_packed)(const uint16_t* sums, size_t n_sums, CodeRows, CodeBins,
                                const uint64_t* stats, size_t n, uint16_t* bins,
                                uint64_t* histogram);
  void (*code_histogram_wide)(const uint16_t* sums, size_t n_sums, CodeRows, CodeBins,
                              const WidePair* stats, size_t n, uint16_t* bins, WidePair* histogram);
  // Makes cumulative sums of n packed pairs, and doubles of their halves.
  void (*cumulate)(uint64_t* pairs, int n, uint64_t before, double* weight, double* sum);
  // flags[e] = 1 where the cut after bin e may reach best; cumulative arrays of length n.
  void (*pair_edges)(const double* weight, const double* sum, int n, PairTotals totals, double best,
                     uint8_t* flags);
  // flags[e] = 1 where some cut inside bin e may reach best. weight and sum have n + 1 entries, the
  // first is the sum left of bin 0; the targets of all rows are in [low, high].
  void (*pair_bounds)(const double* weight, const double* sum, int n, double low, double high,
                      PairTotals totals, double best, uint8_t* flags);
  // Bound where a cut in bin e leaves the side of rows of that bin and of the `reach`
  // bins before it open. weight and sum have n + 1 entries, the first is 0, and so are `reach`
  // before it; kLanes - 1 may be read after the last.
  PairPeak (*pair_peak)(const double* weight, const double* sum, int n, int reach, double low,
                        double high, PairTotals totals);
  // Range of sum / weight.
  void (*target_range)(const WidePair* stats, size_t n, double* low, double* high);
  // Scans bins of class counts: weight left of each bin's right edge, score of the cut there,
  // and a bound of the score of cuts inside the bin. left and right hold the counts on either side
  // of the first bin (stride entries), left_term and right_term their sums of squares.
  void (*class_scan)(const ClassBins& bins, double* left, double* right, double left_term,
                     double right_term, double weight, double total, double* weights,
                     double* scores, double* bounds);
  // Scans bins for the entropy, from an empty left side. counts: those of the node, whose weight
  // the table of x log2 x covers; work has 2 * n_classes entries.
  void (*class_entropy_scan)(const ClassBins& bins, const double* counts, size_t n_classes,
                             const double* table, double slack, double* work, double* weights,
                             double* scores, double* bounds);
  // For i < n: lanes[i * kLanes + l] = values[l * stride + i] made double, its low bits stats[i],
  // flipped by flip where the value is negative. Reads up to 8 values past n.
  void (*pack_lanes)(const float* values, size_t stride, size_t n, const uint64_t* stats,
                     uint64_t flip, double* lanes);
  // Sorts each lane of rows x kLanes doubles.
  void (*sort_lanes)(double* lanes, const Comparator* comparators, size_t n);
  // Two classes: low bits of a sorted value hold weight << 1 | label.
  void (*scan_lanes)(const double* lanes, size_t first, size_t last, uint64_t stats_mask,
                     PairTotals totals, double min_weight, LaneBest* best);
  // Two to kMaxLaneClasses classes: low bits hold weight << 4 | class; counts of all rows.
  void (*scan_class_lanes)(const double* lanes, size_t first, size_t last, uint64_t stats_mask,
                           const double* counts, int n_classes, double min_weight, LaneBest* best);
  // Entropy: low bits hold weight << kLaneClassBits | class.
  void (*scan_entropy_lanes)(const double* lanes, size_t first, size_t last, uint64_t stats_mask,
                             const LaneTerms& terms, LaneBest* best);
  // Any weights and targets, whose partial sums must be exact doubles: low bits hold the position
  // of the row, flipped where the value is negative.
  void (*scan_pair_lanes)(const double* lanes, size_t first, size_t last, uint64_t stats_mask,
                          const double* weights, const double* sums, PairTotals totals,
                          double min_weight, LaneBest* best);
  // Stable partition of a column by flags of 0 and 1; rest has room for n and 16 more.
  void (*partition_floats)(float* values, size_t n, const uint8_t* goes_left, float* rest);
  void (*partition_rows)(uint32_t* values, size_t n, const uint8_t* goes_left, uint32_t* rest);
  void (*sides)(const float* values, size_t n, float threshold, bool missing_left, uint8_t* out);
  // Several outputs: sums[k] += weight * values[k], rounded to a whole number (below 2^51).
  void (*add_outputs)(double weight, const double* values, size_t n, double* sums);
  // sum over k of (left[k] * weight - w * total[k])^2.
  double (*output_squares)(const double* left, const double* total, double w, double weight,
                           size_t n);

  // Range without prefetching.
  ValueRange range(const float* values, size_t n) const {
    Prefetch nothing;
    return range_with_prefetch(values, n, nothing);
  }
};

// Bin of a value: the same arithmetic everywhere, monotone in the value.
inline int bin(float value, float low, float scale, int last) {
  const int b = static_cast<int>((value - low) * scale);
  return b < last ? b : last;
}

// "auto", "baseline", "avx2" or "avx512"; throws when this machine cannot run it.
const Kernels& kernels(const std::string& level);

}  // namespace bevel
