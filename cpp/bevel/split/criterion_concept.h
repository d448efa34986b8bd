// What a criterion has to offer: the contract between criteria and the code that searches cuts and
// grows trees. Each criterion is checked against it where it is compiled
// (tree/node_criterion_of.h).
//
// Types and constants:
//   RowStats          what a row adds to the sums of a side
//   Carried           optional: what rows carry from node to node, where RowStats are made anew at
//                     each node; else they carry RowStats
//   Accumulator       the left side of a cut, to which rows are added one by one
//   kIsPair           RowStats is a pair (weight, weighted target), which histograms can sum
//   kIsEntropy        scores are made of logarithms
//   kPreciseGain      gain(score) is as precise as the weights; else gain_of_left() is asked
//   kRejectsCuts      a score may be kNoScore though both sides have rows: such a cut is none
//   kWeightsOnGrid    weights are in whole units of a grid (CriterionScales::weight)
//   kIsCount          targets are counts, whose means are not negative
//
// The node:
//   begin_node(carried, n)   sets the totals of the node to those of n rows
//   stats()                  of the rows of the node, in their order
//   weight()                 of the node
//   is_regression()          nodes have a value; else leaves have shares of classes, or means of
//                            several outputs
//   pure()                   no cut can be better than another
//   perfect_score()          no cut has a higher score; infinity where that is not known
//   gain(score)              the weighted impurity that a cut of this score removes
//
// Further members are optional; the concepts below name them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bevel {

namespace criterion_parts {

template <class C>
struct CarriedOf {
  using type = typename C::RowStats;
};
template <class C>
  requires requires { typename C::Carried; }
struct CarriedOf<C> {
  using type = typename C::Carried;
};

}  // namespace criterion_parts

// What rows carry from node to node.
template <class C>
using CarriedStats = typename criterion_parts::CarriedOf<C>::type;

// The left side of a cut. may_reach(best) is false only when score() is below best, and is a quick
// look; score() is kNoScore where there is no cut.
template <class A, class C>
concept SideAccumulator =
    std::constructible_from<A, const C&> &&
    requires(A left, const A& given, const typename C::RowStats& stats, double best) {
      left.begin();
      left.add(stats);
      { given.weight() } -> std::convertible_to<double>;
      { given.score() } -> std::convertible_to<double>;
      { given.may_reach(best) } -> std::convertible_to<bool>;
    };

// Groups of rows, the levels of a nominal column, are ordered by sums over each of them: its
// moments.
template <class C>
concept OrdersByMoments = requires(const C& c, double* cell, const typename C::RowStats& stats,
                                   const std::vector<double>& cells, std::vector<double>& keys) {
  { c.n_moments() } -> std::convertible_to<size_t>;
  c.add_moments(cell, stats);
  { c.moments_weight(cell) } -> std::convertible_to<double>;
  c.order_keys(cells, cells.size(), keys);
};
// Groups are ordered by a look at their rows, and rows are added to the left side one by one.
template <class C>
concept OrdersByRows = requires(const C& c, std::vector<double>& keys) {
  c.order_groups(std::vector<uint32_t>{}, std::vector<size_t>{}, keys);
};
// The moments of the left side also tell its score; else rows are added one by one.
template <class C>
concept ScoresByMoments = requires(const C& c, const double* left) {
  { c.moments_score(left) } -> std::convertible_to<double>;
};

// Survival: leaves hold jumps of the hazards of causes.
template <class C>
concept HasHazard = requires(const C& c) {
  typename C::Carried;
  { c.n_causes() } -> std::convertible_to<size_t>;
  c.hazard_jumps([](int32_t, size_t, double) {});
};
// Several outputs: leaves append a mean for each.
template <class C>
concept HasOutputMeans = requires(const C& c, std::vector<double>& out) {
  c.append_means(out);
  { c.n_leaf_values() } -> std::convertible_to<size_t>;
};
// Leaves have another value than the mean target.
template <class C>
concept HasLeafValue = requires(const C& c) {
  { c.leaf_value() } -> std::convertible_to<double>;
};
// Leaves have shares of classes: class_shares calls emit(class, share).
template <class C>
concept HasClassShares = requires(const C& c) { c.class_shares([](int32_t, double) {}); };
// Rejects cuts whose sides are in the wrong order (projection/direction_constraints.h).
template <class C>
concept TakesPush = requires(C& c) { c.set_push(0); };
// Knows the mean of the node, in units that rise with the mean target.
template <class C>
concept HasMean = requires(const C& c) {
  { c.mean() } -> std::convertible_to<double>;
};
// The gain from the sums of the left side by class, for criteria without a precise gain(score).
template <class C>
concept HasGainOfLeft = requires(const C& c, const std::vector<double>& left) {
  { c.n_present() } -> std::convertible_to<size_t>;
  { c.gain_of_left(left) } -> std::convertible_to<double>;
};

template <class C>
concept SplitCriterion =
    requires(C& c, const C& node, const CarriedStats<C>* carried, size_t n, double score) {
      { C::kIsPair } -> std::convertible_to<bool>;
      { C::kIsEntropy } -> std::convertible_to<bool>;
      { C::kPreciseGain } -> std::convertible_to<bool>;
      { C::kRejectsCuts } -> std::convertible_to<bool>;
      { C::kWeightsOnGrid } -> std::convertible_to<bool>;
      { C::kIsCount } -> std::convertible_to<bool>;
      c.begin_node(carried, n);
      { node.stats() } -> std::convertible_to<const typename C::RowStats*>;
      { node.weight() } -> std::convertible_to<double>;
      { node.is_regression() } -> std::convertible_to<bool>;
      { node.pure() } -> std::convertible_to<bool>;
      { node.perfect_score() } -> std::convertible_to<double>;
      { node.gain(score) } -> std::convertible_to<double>;
    } && SideAccumulator<typename C::Accumulator, C> && (OrdersByMoments<C> != OrdersByRows<C>) &&
    (C::kPreciseGain || HasGainOfLeft<C>) && (!TakesPush<C> || C::kRejectsCuts) &&
    (HasHazard<C> || HasOutputMeans<C> || HasLeafValue<C> || HasClassShares<C>);

}  // namespace bevel
