#include "bevel/boosting/splitting/cut_search.h"

#include <algorithm>
#include <array>
#include <limits>

#include "bevel/split/chance_gain.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

// Below all scores, which may be negative with bounds.
constexpr double kNone = -std::numeric_limits<double>::infinity();

// Scores of the cuts after each of n prefixes, kNone where a side has too little. The division is
// unconditional, so that it can be vectorised.
BEVEL_WIDE_LOOP void score_cuts(const double* gradient, const double* hessian, size_t n,
                                double all_gradient, double all_hessian, double penalty,
                                double min_hessian, double* scores) {
  for (size_t i = 0; i < n; ++i) {
    const double right_gradient = all_gradient - gradient[i];
    const double right_hessian = all_hessian - hessian[i];
    const double left_weight = hessian[i] + penalty, right_weight = right_hessian + penalty;
    scores[i] =
        (gradient[i] * gradient[i] * right_weight + right_gradient * right_gradient * left_weight) /
        (left_weight * right_weight);
  }
  for (size_t i = 0; i < n; ++i) {
    const bool allowed = (hessian[i] >= min_hessian) & (all_hessian - hessian[i] >= min_hessian);
    scores[i] = allowed ? scores[i] : kNone;
  }
}

// Whether any of n cuts has a score of `least` or more, up to rounding. The division of
// score_cuts() is multiplied out. Products of two weights and a score stay below 2^124.
BEVEL_WIDE_LOOP bool any_reaches(const PackedSum* prefixes, size_t n, int32_t all_gradient,
                                 int32_t all_hessian, float penalty, int32_t min_hessian,
                                 float least) {
  int32_t n_found = 0;
  for (size_t i = 0; i < n; ++i) {
    const int32_t left_gradient = gradient_of(prefixes[i]), left_hessian = hessian_of(prefixes[i]);
    const int32_t right_hessian = all_hessian - left_hessian;
    const auto left = static_cast<float>(left_gradient);
    const auto right = static_cast<float>(all_gradient - left_gradient);
    const float left_weight = static_cast<float>(left_hessian) + penalty;
    const float right_weight = static_cast<float>(right_hessian) + penalty;
    n_found += (left * left * right_weight + right * right * left_weight >=
                least * (left_weight * right_weight)) &
               (left_hessian >= min_hessian) & (right_hessian >= min_hessian);
  }
  return n_found > 0;
}

// Twice the decrease of the loss when a side predicts a value.
double score_of_value(double gradient, double weight, double value) {
  return -value * (2.0 * gradient + weight * value);
}

// Scores of cuts where leaves have bounds, or where values must be in order from left to right.
void score_bounded_cuts(const double* gradient, const double* hessian, size_t n,
                        const NodeTotals& node, const CutRules& rules, int push, double* scores) {
  for (size_t i = 0; i < n; ++i) {
    const double right_gradient = gradient_of(node.sum) - gradient[i];
    const double right_hessian = hessian_of(node.sum) - hessian[i];
    if (hessian[i] < rules.min_hessian || right_hessian < rules.min_hessian) {
      scores[i] = kNone;
      continue;
    }
    const double left_weight = hessian[i] + rules.penalty;
    const double right_weight = right_hessian + rules.penalty;
    const double left = node.bounds.clamp(-gradient[i] / left_weight);
    const double right = node.bounds.clamp(-right_gradient / right_weight);
    const bool in_order = push == 0 || (push > 0 ? left <= right : left >= right);
    scores[i] = in_order ? score_of_value(gradient[i], left_weight, left) +
                               score_of_value(right_gradient, right_weight, right)
                         : kNone;
  }
}

// Both parts of n sums; 32-bit numbers are converted several at once.
BEVEL_WIDE_LOOP void unpack(const PackedSum* sums, size_t n, double* gradient, double* hessian) {
  for (size_t i = 0; i < n; ++i) {
    gradient[i] = gradient_of(sums[i]);
    hessian[i] = hessian_of(sums[i]);
  }
}

// The highest of n values, vectorised.
BEVEL_WIDE_LOOP double highest(const double* values, size_t n) {
  constexpr size_t kLanes = 8;
  double top[kLanes];
  for (double& each : top) each = kNone;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) top[k] = values[i + k] > top[k] ? values[i + k] : top[k];
  for (; i < n; ++i) top[0] = values[i] > top[0] ? values[i] : top[0];
  return *std::max_element(top, top + kLanes);
}

// Index of the first of the highest values.
size_t argmax(const double* values, size_t n) {
  return static_cast<size_t>(std::find(values, values + n, highest(values, n)) - values);
}

bool allows(const CutRules& rules, int64_t rows_left, const NodeTotals& node) {
  return rows_left >= rules.min_rows && node.n_rows - rows_left >= rules.min_rows;
}

// Cuts first .. last - 1.
struct CutRange {
  size_t first, last;
};

// Those of n cuts after bins that leave both sides enough rows. n_left, n_right: rows that are
// always on that side.
CutRange with_enough_rows(const uint32_t* counts, size_t n, int64_t n_left, int64_t n_right,
                          int64_t min_rows) {
  CutRange cuts{0, n};
  for (int64_t rows = n_left; cuts.first < n; ++cuts.first)
    if ((rows += counts[cuts.first]) >= min_rows) break;
  for (int64_t rows = n_right; cuts.last > cuts.first && rows < min_rows; --cuts.last)
    rows += counts[cuts.last - 1];
  return cuts;
}

}  // namespace

bool may_reach(const PackedSum* prefixes, size_t n, PackedSum node, const CutRules& rules,
               double least) {
  // At most sixteen roundings of 2^-24 each.
  constexpr double kMargin = 0x1.0p-18, kMaxPenalty = 0x1.0p40;
  constexpr double kMaxHessian = 0x1.0p30;
  if (rules.penalty > kMaxPenalty) return true;
  return any_reaches(prefixes, n, gradient_of(node), hessian_of(node),
                     static_cast<float>(rules.penalty),
                     static_cast<int32_t>(std::min(rules.min_hessian, kMaxHessian)),
                     static_cast<float>(least * (1.0 - kMargin)));
}

struct CutSearch::Prefixes {
  std::array<PackedSum, kCodes> sum;
  std::array<double, kCodes> gradient, hessian, score;
};

double CutSearch::score_of_node(const NodeTotals& node) const {
  const double g = gradient_of(node.sum), weight = hessian_of(node.sum) + rules_.penalty;
  if (!node.bounds.any()) return g * g / weight;
  return score_of_value(g, weight, node.bounds.clamp(-g / weight));
}

void CutSearch::score(size_t column, const NodeTotals& node, size_t first, size_t last,
                      Prefixes& prefixes) const {
  const size_t n = last - first;
  double* gradient = prefixes.gradient.data() + first;
  double* hessian = prefixes.hessian.data() + first;
  double* scores = prefixes.score.data() + first;
  unpack(prefixes.sum.data() + first, n, gradient, hessian);
  if (has_bounds(column, node))
    score_bounded_cuts(gradient, hessian, n, node, rules_, columns_.push(column), scores);
  else
    score_cuts(gradient, hessian, n, gradient_of(node.sum), hessian_of(node.sum), rules_.penalty,
               rules_.min_hessian, scores);
}

void CutSearch::search(size_t column, const PackedSum* histogram, const NodeTotals& node,
                       double known_score, NodeCut& best) const {
  if (columns_.n_bins(column) + columns_.has_missing(column) < 2) return;
  if (columns_.is_nominal(column)) return search_levels(column, histogram, node, known_score, best);
  const auto n_bins = static_cast<size_t>(columns_.n_bins(column));
  const PackedSum missing = columns_.has_missing(column) ? histogram[n_bins] : 0;
  search_numbers(column, {histogram, n_bins, missing}, node, known_score, best);
}

void CutSearch::search_numbers(size_t column, const BinSums& all, const NodeTotals& node,
                               double known_score, NodeCut& best) const {
  const size_t n_bins = all.n;
  const PackedSum* histogram = all.sums;
  const auto missing_code = static_cast<size_t>(columns_.n_bins(column));
  const bool may_miss = columns_.has_missing(column);
  const PackedSum missing = all.missing;
  const uint32_t* counts = nullptr;
  // Rows whose sums cancel out are still there; only counts show them.
  if (may_miss && missing == 0) counts = counts_of(column);
  const bool has_missing = missing != 0 || (counts && counts[missing_code] > 0);
  const double of_node = score_of_node(node);
  Prefixes prefixes;
  // Missing values go right, or left; with the last bin on the left they are cut off from all.
  for (const bool missing_left : {false, true}) {
    if (missing_left && !has_missing) break;
    const size_t n_cuts = missing_left || !has_missing ? n_bins - 1 : n_bins;
    PackedSum sum = missing_left ? missing : 0;
    for (size_t b = 0; b < n_cuts; ++b) prefixes.sum[b] = sum += histogram[b];
    if (n_cuts == 0) continue;
    const double least = of_node + std::max(best.score, known_score);
    CutRange cuts{0, n_cuts};
    const auto may_be_best = [&] {
      return cuts.first < cuts.last && (has_bounds(column, node) ||
                                        may_reach(prefixes.sum.data() + cuts.first,
                                                  cuts.last - cuts.first, node.sum, rules_, least));
    };
    if (!may_be_best()) continue;
    if (!counts) counts = counts_of(column);
    if (counts) {
      const uint32_t* of_bins = counts;
      std::array<uint32_t, kCodes> some;
      if (all.bins) {
        for (size_t b = 0; b < n_bins; ++b) some[b] = counts[all.bins[b]];
        of_bins = some.data();
      }
      const int64_t n_missing = has_missing ? counts[missing_code] : 0;
      const int64_t in_last_bin = n_cuts < n_bins ? of_bins[n_bins - 1] : 0;
      cuts = missing_left
                 ? with_enough_rows(of_bins, n_cuts, n_missing, in_last_bin, rules_.min_rows)
                 : with_enough_rows(of_bins, n_cuts, 0, in_last_bin + n_missing, rules_.min_rows);
      if (!may_be_best()) continue;
    }
    score(column, node, cuts.first, cuts.last, prefixes);
    const size_t b =
        cuts.first + argmax(prefixes.score.data() + cuts.first, cuts.last - cuts.first);
    const double gained = prefixes.score[b] - of_node;
    if (!(gained > best.score)) continue;
    best.score = gained;
    best.column = static_cast<int64_t>(column);
    best.bin = all.bins ? all.bins[b] : static_cast<int>(b);
    best.has_missing = has_missing;
    best.missing_left = missing_left;
    best.levels_left.clear();
    best.left = prefixes.sum[b];
  }
}

struct CutSearch::Level {
  double key;
  uint8_t code;
};
struct CutSearch::LevelCut {
  size_t last = 0;      // place of the last level on the left
  double gained = 0.0;  // score, less that of the node
};

// The best cut of levels in the order of their mean gradient, in which the best set is a prefix
// (Fisher 1958). Sorts the levels, and leaves the sums of the prefixes.
CutSearch::LevelCut CutSearch::cut_levels(size_t column, const PackedSum* histogram,
                                          const NodeTotals& node, const uint32_t* counts,
                                          std::span<Level> levels, Prefixes& prefixes) const {
  // Rare levels are shrunk towards zero: their means are uncertain.
  const double smooth = 10.0 * hessian_of(node.sum) / static_cast<double>(node.n_rows);
  for (Level& level : levels) {
    const PackedSum sum = histogram[level.code];
    level.key = gradient_of(sum) / (hessian_of(sum) + smooth);
  }
  std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) {
    return a.key != b.key ? a.key < b.key : a.code < b.code;
  });
  const size_t n_cuts = levels.size() - 1;
  PackedSum sum = 0;
  for (size_t i = 0; i < n_cuts; ++i) prefixes.sum[i] = sum += histogram[levels[i].code];
  score(column, node, 0, n_cuts, prefixes);
  int64_t rows_left = 0;
  for (size_t i = 0; counts && i < n_cuts; ++i) {
    rows_left += counts[levels[i].code];
    if (!allows(rules_, rows_left, node)) prefixes.score[i] = kNone;
  }
  const size_t last = argmax(prefixes.score.data(), n_cuts);
  return {last, prefixes.score[last] - score_of_node(node)};
}

// Many rows for each of k levels: their means are then about normal, and the best cut of k normal
// means gains (k - 1) 2 / pi variances of one. With fewer rows the chance is measured.
double CutSearch::chance_of(size_t column, const NodeTotals& node, const uint32_t* counts,
                            std::span<const Level> levels) const {
  constexpr size_t kManyRows = 30;
  constexpr double kTwoOverPi = 0.63661977236758134;
  const auto n_rows = static_cast<size_t>(node.n_rows);
  if (n_rows >= kManyRows * levels.size())
    return kTwoOverPi * static_cast<double>(levels.size() - 1) * rows_.gradient_variance() *
           static_cast<double>(n_rows) / hessian_of(node.sum);
  std::array<Level, kCodes> others;
  std::copy(levels.begin(), levels.end(), others.begin());
  Prefixes prefixes;
  const PackedSum* sums = rows_.shuffled_sums(column);
  return std::max(
      0.0, cut_levels(column, sums, node, counts, {others.data(), levels.size()}, prefixes).gained);
}

// A column of many levels has to gain more than it does by chance (split/chance_gain.h).
void CutSearch::search_levels(size_t column, const PackedSum* histogram, const NodeTotals& node,
                              double known_score, NodeCut& best) const {
  std::array<Level, kCodes> all;
  size_t n = 0;
  for (size_t code = 0; code < static_cast<size_t>(columns_.n_bins(column)); ++code)
    if (histogram[code] != 0) all[n++] = {0.0, static_cast<uint8_t>(code)};
  if (n < 2) return;
  const std::span<Level> levels(all.data(), n);
  const uint32_t* counts = counts_of(column);
  Prefixes prefixes;
  LevelCut cut = cut_levels(column, histogram, node, counts, levels, prefixes);
  const auto improves = [&] {
    const bool ties = cut.gained == best.score && best.column > static_cast<int64_t>(column);
    return (cut.gained > best.score || ties) && cut.gained >= known_score;
  };
  if (!improves()) return;
  if (n > kFewLevels) {
    cut.gained -= chance_share(n) * chance_of(column, node, counts, levels);
    if (!improves()) return;
  }
  best.score = cut.gained;
  best.column = static_cast<int64_t>(column);
  best.bin = -1;
  best.has_missing = best.missing_left = false;
  best.left = prefixes.sum[cut.last];
  // Levels that the node has not seen go with the heavier side.
  const bool unseen_left = 2.0 * hessian_of(best.left) >= hessian_of(node.sum);
  best.levels_left.assign(kCodes, unseen_left ? 1 : 0);
  for (size_t i = 0; i < n; ++i) best.levels_left[levels[i].code] = i <= cut.last ? 1 : 0;
}

}  // namespace bevel
