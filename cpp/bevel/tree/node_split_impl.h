// Definitions of TreeBuilder: whether a node may be split, its candidates and the best cut.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "bevel/split/log_rank.h"
#include "bevel/support/check.h"
#include "bevel/tree/tree_builder.h"

namespace bevel {

namespace growing {

// Random directions that all miss are drawn again this often before the node becomes a leaf.
constexpr int kMaxRedraws = 8;
// Nodes smaller than this are not worth another thread.
constexpr size_t kParallelNodeRows = 32768;

}  // namespace growing

template <class Criterion>
bool TreeBuilder<Criterion>::begin_node(const NodeItem& item, Workspace<Criterion>& w) {
  const size_t n = item.end - item.start;
  w.criterion.begin_node(tree_->stats.data() + item.start, n);
  if (!node_limits_.allow_split(n, w.criterion.weight(), item.depth)) return false;
  if (options_.threshold == ThresholdRule::purely_random) return true;  // purity does not matter
  return options_.split_pure_nodes || !is_pure(item, w);
}

// Whether no cut can be better than another.
template <class Criterion>
bool TreeBuilder<Criterion>::is_pure(const NodeItem& item, const Workspace<Criterion>& w) const {
  if (w.criterion.pure()) return true;
  if constexpr (kHasHazard<Criterion>) return false;
  return w.criterion.is_regression() && same_targets(item, w);
}

template <class Criterion>
bool TreeBuilder<Criterion>::same_targets(const NodeItem& item,
                                          const Workspace<Criterion>& w) const {
  if constexpr (std::is_same_v<Criterion, WideCriterion>) {
    // Equal targets with whole weights have equal means on the grid, which is a quick test.
    if (tree_->weight_unit == 1.0) {
      const WidePair* p = tree_->stats.data();
      const WidePair first = p[item.start];
      for (size_t i = item.start + 1; i < item.end; ++i)
        if (p[i].weight == first.weight ? p[i].sum != first.sum
                                        : p[i].sum / p[i].weight != first.sum / first.weight)
          return false;
    }
  }
  const auto* rows = data_rows(item.level, w);
  auto target = [&](size_t i) {
    const uint32_t row = tree_->rows[i];
    return tree_->row_data.targets[rows ? (*rows)[row] : row];
  };
  const double first = target(item.start);
  for (size_t i = item.start + 1; i < item.end; ++i)
    if (target(i) != first) return false;
  return true;
}

// Criteria that reject cuts may leave none, though directions separate the rows.
template <class Criterion>
bool TreeBuilder<Criterion>::is_cut(const BestSplit& found) {
  constexpr bool kRejects =
      requires(Criterion c) { c.set_push(0); } || std::is_base_of_v<PoissonCriterion, Criterion>;
  return found.cut.found() && !(kRejects && found.cut.score == kNoScore);
}

template <class Criterion>
bool TreeBuilder<Criterion>::find_split(const NodeItem& item, Workspace<Criterion>& w, int worker,
                                        SplitRecord& out) {
  NodeView node = view(item, w);
  // All cuts of a pure node are equivalent, and the first would split off one row at a time.
  if (options_.split_pure_nodes && is_pure(item, w)) node.threshold = ThresholdRule::purely_random;
  Stream stream(item.key, Purpose::candidates);
  BestSplit found;
  w.candidates.clear();
  w.inherited = item.inherited;
  const NodeRows rows = rows_of(item, w);
  w.open = &item.open;
  for (size_t f = 0; f < samplers_.size(); ++f) sample(f, rows, stream, w);
  search_drawn(item, node, 0, stream, w, worker, found);
  // A forest on single features continues until one of them can be cut.
  size_t first = 0;
  for (int redraws = 0; !is_cut(found); ++redraws) {
    if constexpr (std::is_base_of_v<SurvivalNode, Criterion>)
      if (any_varies(node, first, w)) break;
    first = w.candidates.size();
    bool asked = false;
    for (size_t f = 0; f < samplers_.size(); ++f) {
      if (!samplers_[f]->can_redraw()) {
        asked |= samplers_[f]->sample_more(stream, w.samplers[f], w.candidates);
      } else if (redraws < growing::kMaxRedraws) {
        sample(f, rows, stream, w);
        asked = true;  // even if a draw is empty
      }
    }
    if (!asked) break;
    if (w.candidates.size() == first) continue;
    search_drawn(item, node, first, stream, w, worker, found);
  }
  for (size_t f = 0; f < samplers_.size(); ++f) samplers_[f]->end_node(w.samplers[f]);
  if (!is_cut(found)) return false;
  record(node, found, w, out);
  out.inherited = w.inherited;
  constexpr double kSlack = 1e-12;  // a split that removes exactly the minimum is kept
  const double total_weight = tree_->total_weight / tree_->weight_unit;
  const bool keeps = out.gain >= (options_.min_impurity_decrease - kSlack) * total_weight;
  out.gain *= tree_->gain_unit;
  BEVEL_CHECK(!keeps || std::isfinite(static_cast<float>(out.gain)));
  return keeps;
}

// Whether a direction, from `first` on, separates rows of the node, though no cut of it may be
// admissible. Survival trees then stop, as random survival forests do. Drawing further until a
// direction has a cut that leaves enough rows on both sides gives up to twice as many leaves where
// most columns are indicators, and curves of small leaves are noisy: concordance falls
// (docs/design/survival.md).
template <class Criterion>
bool TreeBuilder<Criterion>::any_varies(const NodeView& node, size_t first,
                                        Workspace<Criterion>& w) const {
  if (w.values.size() < node.n) w.values.resize(node.n);
  for (size_t c = first; c < w.candidates.size(); ++c) {
    const float* values = w.values.data();
    w.finder.project(c, node, w.candidates, w.values.data());
    for (size_t i = 1; i < node.n; ++i)
      if (values[i] != values[0] && !(std::isnan(values[i]) && std::isnan(values[0]))) return true;
  }
  return false;
}

template <class Criterion>
void TreeBuilder<Criterion>::sample(size_t family, NodeRows node, Stream& stream,
                                    Workspace<Criterion>& w) const {
  if (!w.inherited.empty()) node.inherited = &w.inherited[family];
  const size_t first = w.candidates.size();
  samplers_[family]->sample(node, stream, w.samplers[family], w.candidates);
  if (constraints_.any())
    constraints_.restrict(options_.families[family].kind, first, stream, w.candidates, *w.open);
}

template <class Criterion>
void TreeBuilder<Criterion>::search_drawn(const NodeItem& item, const NodeView& node, size_t first,
                                          Stream& stream, Workspace<Criterion>& w, int worker,
                                          BestSplit& found) {
  constraints_.remove_closed(item.open, first, w.candidates);
  if (options_.threshold == ThresholdRule::purely_random)
    keep_one(stream, first, w.candidates);
  else if (node.threshold == ThresholdRule::purely_random)
    return search_pure(node, first, stream, w, worker, found);
  if constexpr (requires { w.criterion.set_push(0); }) {
    const auto [rising, falling] = constraints_.order_by_push(first, w.candidates);
    const size_t last = w.candidates.size();
    const size_t starts[] = {first, rising, falling, last};
    const int pushes[] = {0, 1, -1};
    for (int kind = 0; kind < 3; ++kind) {
      if (starts[kind] == starts[kind + 1]) continue;
      w.criterion.set_push(pushes[kind]);
      search(node, starts[kind], starts[kind + 1], w, worker, found);
    }
  } else {
    search(node, first, w.candidates.size(), w, worker, found);
  }
}

// A pure node: the first direction, in random order, that can be cut at random.
template <class Criterion>
void TreeBuilder<Criterion>::search_pure(const NodeView& node, size_t first, Stream& stream,
                                         Workspace<Criterion>& w, int worker, BestSplit& found) {
  std::vector<size_t> order(w.candidates.size() - first);
  std::iota(order.begin(), order.end(), first);
  for (size_t left = order.size(); left > 0 && !is_cut(found); --left) {
    std::swap(order[stream.below(left)], order[left - 1]);
    search(node, order[left - 1], order[left - 1] + 1, w, worker, found);
  }
}

// Purely random trees use one direction: a nominal column as often as columns are nominal.
template <class Criterion>
void TreeBuilder<Criterion>::keep_one(Stream& stream, size_t first, Candidates& candidates) const {
  std::vector<size_t> numeric, nominal;
  for (size_t c = first; c < candidates.size(); ++c) {
    const int32_t f = *candidates.indices(c);
    (f < data_.n_features && data_.levels[f] > 0 ? nominal : numeric).push_back(c);
  }
  if (numeric.empty() && nominal.empty()) return;
  const bool take_nominal =
      !nominal.empty() &&
      (numeric.empty() ||
       stream.below(static_cast<uint64_t>(data_.n_features)) < data_.categorical.size());
  const auto& from = take_nominal ? nominal : numeric;
  const size_t chosen = from[stream.below(from.size())];
  const std::vector<int32_t> index(candidates.indices(chosen),
                                   candidates.indices(chosen) + candidates.n_nonzeros(chosen));
  const std::vector<float> weight(candidates.weights(chosen),
                                  candidates.weights(chosen) + candidates.n_nonzeros(chosen));
  candidates.offset.resize(first + 1);
  candidates.index.resize(candidates.offset.back());
  candidates.weight.resize(candidates.offset.back());
  for (size_t k = 0; k < index.size(); ++k) candidates.add_entry(index[k], weight[k]);
  candidates.close();
}

// All idle threads search a large node, each with some of the candidates. The order of cuts is
// total, so the best one does not depend on the division among threads.
template <class Criterion>
void TreeBuilder<Criterion>::search(const NodeView& node, size_t first, size_t last,
                                    Workspace<Criterion>& w, int worker, BestSplit& found) {
  if (node.n < growing::kParallelNodeRows || last - first < 2 || !pool_.has_idle())
    return w.finder.search(node, w.criterion, limits_, w.candidates, first, last, found);
  const auto n_parts = std::min<size_t>(static_cast<size_t>(pool_.size()), last - first);
  std::vector<BestSplit> partial(n_parts);
  Parts parts(pool_);
  for (size_t i = 1; i < n_parts; ++i) {
    const size_t begin = first + (last - first) * i / n_parts;
    const size_t end = first + (last - first) * (i + 1) / n_parts;
    parts.offer([&, i, begin, end](int helper) {
      workspaces_[helper]->finder.search(node, w.criterion, limits_, w.candidates, begin, end,
                                         partial[i]);
    });
  }
  w.finder.search(node, w.criterion, limits_, w.candidates, first, first + (last - first) / n_parts,
                  partial[0]);
  parts.wait(worker, false);
  for (BestSplit& part : partial) {
    if (beats(part.cut, found.cut)) {
      found.cut = part.cut;
      found.levels = std::move(part.levels);
    }
  }
}

template <class Criterion>
void TreeBuilder<Criterion>::record(const NodeView& node, BestSplit& found, Workspace<Criterion>& w,
                                    SplitRecord& out) const {
  Cut& cut = found.cut;
  if (w.values.size() < node.n) w.values.resize(node.n);
  w.finder.project(static_cast<size_t>(cut.candidate), node, w.candidates, w.values.data());
  cut.find_neighbours(kernels_, w.values.data(), node.n);
  const int32_t* index = w.candidates.indices(cut.candidate);
  const float* weight = w.candidates.weights(cut.candidate);
  const int n = w.candidates.n_nonzeros(cut.candidate);
  out.index.assign(index, index + n);
  out.coefficient.assign(weight, weight + n);
  const auto& p_values = w.candidates.p_value;
  const size_t first = w.candidates.offset[cut.candidate];
  out.p_value.clear();
  if (first < p_values.size())  // recorded together or not at all
    out.p_value.assign(p_values.begin() + static_cast<ptrdiff_t>(first),
                       p_values.begin() + static_cast<ptrdiff_t>(first) + n);
  out.gain = w.criterion.gain(cut.score);
  const bool category = index[0] < data_.n_features && data_.levels[index[0]] > 0;
  // Values that do not occur in the node go to the heavier child.
  const bool heavier_left = cut.weight_left * 2.0 >= w.criterion.weight();
  const bool missing_left = cut.has_missing ? cut.missing_left : heavier_left;
  out.flags =
      static_cast<uint8_t>((missing_left ? kMissingLeft : 0) | (category ? kCategoryNode : 0));
  out.threshold = category ? 0.0f : cut.threshold();
  if (category) out.level_bits = found.levels.words();
  if constexpr (!Criterion::kPreciseGain) {
    // One side outweighs the other beyond rounding: there is no split.
    if (cut.score == kNoScore) return;
    if (w.goes_left.size() < node.n) w.goes_left.resize(node.n);
    find_sides(out, w.values.data(), node.n, w.goes_left.data());
    std::vector<double> left(w.criterion.n_present(), 0.0);
    for (size_t i = 0; i < node.n; ++i)
      if (w.goes_left[i]) left[w.criterion.stats()[i].label] += w.criterion.stats()[i].weight;
    out.gain = w.criterion.gain_of_left(left);
  }
}

}  // namespace bevel
