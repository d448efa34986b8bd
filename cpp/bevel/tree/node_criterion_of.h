// A criterion behind the interface that trees use. Included by the sources of criteria, each of
// which compiles the searches of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "bevel/split/criterion.h"
#include "bevel/split/criterion_concept.h"
#include "bevel/split/finder.h"
#include "bevel/support/check.h"
#include "bevel/tree/growth.h"
#include "bevel/tree/node_criterion.h"

namespace bevel {

template <class Stats>
class TreeStatsOf : public TreeStats {
 public:
  std::vector<Stats> values;
};

template <SplitCriterion Criterion>
class NodeCriterionOf final : public NodeCriterion {
 public:
  using Stats = CarriedStats<Criterion>;

  NodeCriterionOf(const Options& options, const DatasetView& data, const ProjectionBound& bound,
                  const Kernels& kernels, Criterion criterion)
      : NodeCriterion(traits_of(criterion)),
        finder_(options, data, bound, kernels),
        criterion_(std::move(criterion)) {}

  void begin_node(const TreeData& tree, size_t start, size_t end) override {
    criterion_.begin_node(stats_of(tree).data() + start, end - start);
    weight_ = criterion_.weight();
  }
  bool is_pure(const RowRange& rows) const override {
    if (criterion_.pure()) return true;
    if constexpr (HasHazard<Criterion>) return false;
    return criterion_.is_regression() && same_targets(rows);
  }
  void set_push([[maybe_unused]] int push) override {
    if constexpr (TakesPush<Criterion>) criterion_.set_push(push);
  }

  void search(const NodeCriterion& totals, const NodeView& node, const Limits& limits,
              const Candidates& candidates, size_t first, size_t last, BestSplit& found) override {
    finder_.search(node, static_cast<const NodeCriterionOf&>(totals).criterion_, limits, candidates,
                   first, last, found);
  }
  double gain(double score) const override { return criterion_.gain(score); }
  double gain_of_sides([[maybe_unused]] const uint8_t* goes_left,
                       [[maybe_unused]] size_t n) const override {
    if constexpr (Criterion::kPreciseGain) {
      return 0.0;
    } else {
      std::vector<double> left(criterion_.n_present(), 0.0);
      for (size_t i = 0; i < n; ++i)
        if (goes_left[i]) left[criterion_.stats()[i].label] += criterion_.stats()[i].weight;
      return criterion_.gain_of_left(left);
    }
  }
  size_t partition(TreeData& tree, size_t start, size_t n, const uint8_t* goes_left) override {
    if (buffer_.size() < n + 1) buffer_.resize(n + 1);
    return partition_stably(stats_of(tree).data() + start, n, goes_left, buffer_.data());
  }

  double leaf_value(const RowRange& rows) const override {
    if constexpr (HasLeafValue<Criterion>) {
      return criterion_.leaf_value();
    } else {
      // Differences to the first target: a leaf of equal targets has exactly their value.
      const TrainingRowData& row_data = rows.tree.row_data;
      const double first = row_data.targets[rows.data_row(rows.start)];
      double sum = 0.0, weights = 0.0;
      for (size_t i = rows.start; i < rows.end; ++i) {
        const uint32_t row = rows.data_row(i);
        const double weight = row_data.weight(row);
        sum += weight * (row_data.targets[row] - first);
        weights += weight;
      }
      double value = first + sum / weights;
      // Means of counts are not negative, but for rounding.
      if constexpr (Criterion::kIsCount) value = std::max(value, 0.0);
      BEVEL_CHECK(weights > 0.0 && std::isfinite(value));
      return value;
    }
  }
  double value_alone(const RowRange& rows) const override {
    if constexpr (HasMean<Criterion>)
      if (!criterion_.is_regression()) return criterion_.mean();
    return leaf_value(rows);
  }
  void write_leaf(const RowRange& rows, NodeStore& nodes, int32_t node) const override {
    if constexpr (HasHazard<Criterion>) {
      // The value is the leaf's mortality: its cumulative hazard, summed over all event times.
      double mortality = 0.0;
      const auto n_causes = static_cast<int32_t>(criterion_.n_causes());
      criterion_.hazard_jumps([&](int32_t time, size_t cause, double jump) {
        const auto stored = static_cast<float>(jump);
        nodes.add_entry(time * n_causes + static_cast<int32_t>(cause), stored);
        mortality += static_cast<double>(stored) * (rows.tree.row_data.n_times - time);
      });
      nodes.leaf_value[node] = mortality;
    } else if constexpr (HasOutputMeans<Criterion>) {
      criterion_.append_means(nodes.output_value);
    } else if (criterion_.is_regression()) {
      nodes.leaf_value[node] = leaf_value(rows);
    } else if constexpr (HasClassShares<Criterion>) {
      criterion_.class_shares(
          [&](int32_t label, double share) { nodes.add_entry(label, static_cast<float>(share)); });
      BEVEL_CHECK(nodes.entry_index.size() > static_cast<size_t>(nodes.entry_offset.back()));
    }
  }

 private:
  static CriterionTraits traits_of(const Criterion& criterion) {
    CriterionTraits traits;
    traits.sums_pairs = Criterion::kIsPair;
    traits.precise_gain = Criterion::kPreciseGain;
    traits.rejects_cuts = Criterion::kRejectsCuts;
    traits.is_regression = criterion.is_regression();
    traits.has_hazard = HasHazard<Criterion>;
    traits.takes_push = TakesPush<Criterion>;
    traits.on_grid = Criterion::kWeightsOnGrid;
    if constexpr (HasOutputMeans<Criterion>) traits.n_output_values = criterion.n_leaf_values();
    return traits;
  }
  static const std::vector<Stats>& stats_of(const TreeData& tree) {
    return static_cast<const TreeStatsOf<Stats>&>(*tree.stats).values;
  }
  static std::vector<Stats>& stats_of(TreeData& tree) {
    return static_cast<TreeStatsOf<Stats>&>(*tree.stats).values;
  }

  static bool same_targets(const RowRange& rows) {
    if constexpr (std::is_same_v<Criterion, WideCriterion>) {
      // Equal targets with whole weights have equal means on the grid: a look at what is at hand.
      if (rows.tree.weight_unit == 1.0) {
        const WidePair* p = stats_of(rows.tree).data();
        const WidePair first = p[rows.start];
        for (size_t i = rows.start + 1; i < rows.end; ++i)
          if (p[i].weight == first.weight ? p[i].sum != first.sum
                                          : p[i].sum / p[i].weight != first.sum / first.weight)
            return false;
      }
    }
    const double* targets = rows.tree.row_data.targets;
    const double first = targets[rows.data_row(rows.start)];
    for (size_t i = rows.start + 1; i < rows.end; ++i)
      if (targets[rows.data_row(i)] != first) return false;
    return true;
  }

  Finder<Criterion> finder_;
  Criterion criterion_;
  std::vector<Stats> buffer_;
};

}  // namespace bevel
