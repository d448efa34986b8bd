// Finds the best cut of a node over its candidates. It does not know where candidates came from.
// One finder per thread; it owns the work space of the search.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/random/stream.h"
#include "bevel/split/category_search.h"
#include "bevel/split/class_histogram.h"
#include "bevel/split/cut.h"
#include "bevel/split/kernels.h"
#include "bevel/split/network.h"
#include "bevel/split/node_view.h"
#include "bevel/split/pair_histogram.h"
#include "bevel/split/screening.h"
#include "bevel/split/search_context.h"
#include "bevel/split/sorted_scan.h"
#include "bevel/split/task.h"

namespace bevel {

template <class Task>
class Finder {
 public:
  using Payload = typename Task::Payload;
  using Accumulator = typename Task::Accumulator;

  Finder(const Options& options, const DatasetView& data, const Kernels& kernels)
      : options_(options),
        data_(data),
        kernels_(kernels),
        histogram_(kernels, sorter_),
        category_(options, data),
        lanes_storage_(kMaxNetworkRows * kLanes + kLanes),
        lane_values_(kMaxNetworkRows * kLanes + kSpare),
        lane_payload_(kMaxNetworkRows),
        lane_weight_(kMaxNetworkRows),
        lane_sum_(kMaxNetworkRows) {
    // Registers are loaded whole: start on a line.
    auto address = reinterpret_cast<uintptr_t>(lanes_storage_.data());
    lanes_ = reinterpret_cast<double*>((address + 63) & ~uintptr_t{63});
  }

  // Candidates [first, last) of a node whose totals the task holds.
  void search(const NodeView& node, const Task& task, const Limits& limits,
              const Candidates& candidates, size_t first, size_t last, Found& found) {
    node_ = &node;
    task_ = &task;
    candidates_ = &candidates;
    limits_ = limits;
    found_ = &found;
    if (values_.size() < node.n + kSpare) values_.resize(node.n + kSpare);
    find_span();
    plain_.clear();
    for (size_t c = first; c < last; ++c) {
      if (is_category(c))
        category_.search(node, task, context(c), *candidates.indices(c), found);
      else if (may_miss(c))
        search_with_missing(c);
      else
        plain_.push_back(static_cast<int32_t>(c));
    }
    if (options_.threshold != ThresholdRule::best) {
      for (int32_t c : plain_) search_random(c);
    } else if (options_.split_search == SplitSearch::exact) {
      for (int32_t c : plain_) search_sorted(c);
    } else if (node.n == 2) {
      search_two_rows();
    } else if (fits_network()) {
      search_network();
    } else {
      search_histogram();
    }
  }

  // Values of a candidate on the rows of any node.
  const float* project(size_t candidate, const NodeView& node, const Candidates& candidates,
                       float* out) {
    kernels_.project(direction(candidate, node, candidates), node.rows, node.n, out);
    return out;
  }

 private:
  static constexpr size_t kSpare = 16;  // kernels store whole registers
  // Without histograms for a task (entropy, real weights with many classes) sorting serves.
  struct NoHistogram {
    NoHistogram(const Kernels&, Sorter&) {}
  };
  static constexpr bool kPairHistogram = Task::kIsPair;
  static constexpr bool kClassHistogram = std::is_same_v<Task, CountTask>;
  using PairTaskOrAny = std::conditional_t<kPairHistogram, Task, WideTask>;
  using Histogram =
      std::conditional_t<kPairHistogram, PairHistogramSearch<PairTaskOrAny>,
                         std::conditional_t<kClassHistogram, ClassHistogramSearch, NoHistogram>>;
  static constexpr size_t kMinSpanRows = 64;
  static constexpr bool kPacked = std::is_same_v<Task, PackedTask>;
  // The histogram takes over where it is faster: at 64 rows with one add per row, later for others.
  static constexpr size_t kNetworkRows = kPacked ? 64 : Task::kIsPair ? 192 : 512;

  SearchContext context(size_t candidate) {
    SearchContext c;
    c.limits = limits_;
    c.n_rows = node_->n;
    c.total_weight = task_->weight();
    c.candidate = static_cast<int32_t>(candidate);
    c.best = &found_->cut;
    return c;
  }
  bool is_category(size_t c) const {
    const int32_t f = *candidates_->indices(c);
    return f < data_.n_features && data_.levels[f] > 0;
  }
  bool may_miss(size_t c) const {
    const int32_t f = *candidates_->indices(c);
    return candidates_->n_nonzeros(c) == 1 && f < data_.n_features && data_.has_nan[f];
  }
  // Values of a candidate on the rows of the node being searched; out has room for kSpare more.
  const float* project(size_t candidate, float* out) {
    const Projection projection = direction(candidate, *node_, *candidates_);
    if (span_ > 0)
      kernels_.project_span(projection, node_->rows[0], span_, member_.data(), out);
    else
      kernels_.project(projection, node_->rows, node_->n, out);
    return out;
  }
  const float* project(size_t candidate) { return project(candidate, values_.data()); }

  // What this candidate will read, if that is worth asking for. Valid until the next call.
  Upcoming upcoming(size_t candidate) {
    return upcoming(candidate, [this](int32_t feature) { return node_->columns[feature]; });
  }
  Upcoming upcoming_codes(size_t candidate) {
    return upcoming(candidate, [this](int32_t feature) { return node_->codes->column(feature); });
  }
  template <class Column>
  Upcoming upcoming(size_t candidate, Column column) {
    constexpr size_t kMostBytes = size_t{1} << 18;  // more would not stay in the cache
    const int n = candidates_->n_nonzeros(candidate);
    const size_t bytes = span_ * sizeof(*column(0));
    if (!node_->far || span_ == 0 || static_cast<size_t>(n) * bytes > kMostBytes) return {};
    runs_.resize(static_cast<size_t>(n));
    for (int k = 0; k < n; ++k)
      runs_[k] = reinterpret_cast<const char*>(column(candidates_->indices(candidate)[k]) +
                                               node_->rows[0]);
    return {runs_.data(), n, 0, bytes};
  }

  // Valid until the next call.
  Projection direction(size_t candidate, const NodeView& node, const Candidates& candidates) {
    const int nnz = candidates.n_nonzeros(candidate);
    const int32_t* index = candidates.indices(candidate);
    columns_.resize(static_cast<size_t>(nnz));
    fill_.resize(static_cast<size_t>(nnz));
    bool fill = false;
    for (int k = 0; k < nnz; ++k) {
      columns_[k] = node.columns[index[k]];
      const bool original = index[k] < data_.n_features;
      fill_[k] = original ? data_.medians[index[k]] : 0.0f;
      fill |= original && data_.has_nan[index[k]];
    }
    return {columns_.data(), candidates.weights(candidate),
            fill && nnz > 1 ? fill_.data() : nullptr, nnz};
  }
  // Marks the rows of a large node that fill a good part of their span: reading whole lines of a
  // column and keeping what is wanted is then faster than picking rows from a list.
  void find_span() {
    constexpr size_t kSparsest = 8;
    span_ = 0;
    const size_t n = node_->n;
    const size_t span = node_->rows[n - 1] - node_->rows[0] + 1;
    if (n < kMinSpanRows || span == n || span > kSparsest * n || candidates_->size() < 4) return;
    member_.assign(span, 0);
    for (size_t i = 0; i < n; ++i) member_[node_->rows[i] - node_->rows[0]] = 1;
    span_ = span;
  }
  bool fits_network() const {
    return node_->n <= kNetworkRows && (!kPacked || task_->weight() <= kMaxNetworkWeight);
  }

  void search_sorted(size_t candidate) {
    const auto& keys = sorter_.sort(project(candidate), node_->n);
    Accumulator left(*task_);
    left.begin();
    scan_sorted(keys, task_->payload(), left, 0, context(candidate));
  }

  // Two rows: a direction tells them apart or it does not, and there are two ways to do it.
  void search_two_rows() {
    double score[2], weight[2];
    for (size_t left_row : {0, 1}) {
      Accumulator left(*task_);
      left.begin();
      left.add(task_->payload()[left_row]);
      score[left_row] = left.score();
      weight[left_row] = left.weight();
    }
    const bool alike = score[0] == score[1];
    for (int32_t c : plain_) {
      // Nothing later can beat a cut that has the better score of the two.
      if (alike && found_->cut.found() && found_->cut.candidate < c &&
          found_->cut.score >= score[0])
        return;
      const float* v = project(c);
      if (v[0] == v[1]) continue;
      const size_t left_row = v[0] < v[1] ? 0 : 1;
      context(c).offer(score[left_row], 1, weight[left_row], v[left_row], v[1 - left_row]);
    }
  }

  void search_histogram() {
    if constexpr (std::is_same_v<Histogram, NoHistogram>) {
      for (int32_t c : plain_) search_sorted(c);
    } else {
      const bool approximate = options_.split_search == SplitSearch::histogram;
      histogram_.begin_node(*task_, node_->n);
      if constexpr (kClassHistogram) {
        histogram_.count_rows(limits_.min_rows > 1);
        if (!histogram_.worthwhile()) {
          for (int32_t c : plain_) search_sorted(c);
          return;
        }
      }
      bool screened = false;
      if constexpr (kPairHistogram) {
        screened = node_->codes && !approximate && screening_.pays(node_->n);
        if (screened) search_screened();
      }
      for (size_t i = 0; !screened && i < plain_.size() && !is_settled(plain_[i]); ++i) {
        project(plain_[i]);
        Upcoming next = i + 1 < plain_.size() ? upcoming(plain_[i + 1]) : Upcoming{};
        histogram_.coarse(values_.data(), node_->n, context(plain_[i]), approximate, next);
      }
      histogram_.refine(node_->n, context(0), [this](int32_t c) { return project(c); });
    }
  }

  // Neither this candidate nor a later one can beat a cut that leaves both sides pure; what an
  // earlier one may hide is on the list of pending bins.
  bool is_settled(int32_t candidate) const {
    return found_->cut.score >= task_->perfect_score() && found_->cut.candidate < candidate;
  }

  // A glance at all candidates through the codes of their columns; then those that may win, the
  // most promising first.
  void search_screened() {
    glances_.clear();
    size_t n_kept = 0;
    for (size_t i = 0; i < plain_.size() && !is_settled(plain_[i]); ++i) {
      Upcoming next = i + 1 < plain_.size() ? upcoming_codes(plain_[i + 1]) : Upcoming{};
      glances_.push_back(glance_at(plain_[i], next));
      // Perhaps nothing more needs to be looked at.
      if (glances_.back().guess >= task_->perfect_score())
        n_kept += search_again(glances_.size() - 1);
    }
    const size_t n_seen = glances_.size();
    std::sort(glances_.begin(), glances_.end(), [](const Glance& a, const Glance& b) {
      return a.guess != b.guess ? a.guess > b.guess : a.candidate < b.candidate;
    });
    for (size_t i = 0; i < n_seen; ++i) n_kept += search_again(i);
    screening_.add(node_->n, n_seen, n_kept);
  }

  // By its values, if the candidate may win; true if that was necessary.
  bool search_again(size_t which) {
    Glance& glance = glances_[which];
    if (!may_win(glance)) return false;
    project(glance.candidate);
    Upcoming next;
    for (size_t i = which + 1; i < glances_.size() && next.end == 0; ++i)
      if (may_win(glances_[i])) next = upcoming(glances_[i].candidate);
    histogram_.coarse(values_.data(), node_->n, context(glance.candidate), false, next);
    glance.bound = kNoScore;  // done
    return true;
  }
  bool may_win(const Glance& glance) const {
    return glance.bound > kNoScore && glance.bound >= found_->cut.score &&
           !is_settled(glance.candidate);
  }
  Glance glance_at(int32_t candidate, Upcoming& next) {
    Glance glance;
    if (candidates_->n_nonzeros(candidate) <= kMostCodedColumns) {
      const CodedDirection coded = coded_(*node_->codes, *candidates_, candidate);
      glance = histogram_.glance(sum_codes(coded, next), node_->n);
    }
    glance.candidate = candidate;
    return glance;
  }
  CodedValues sum_codes(const CodedDirection& coded, Upcoming& next) {
    const uint32_t* rows = node_->rows;
    const bool is_run = rows[node_->n - 1] - rows[0] + 1 == node_->n;
    const size_t n = is_run || span_ == 0 ? node_->n : span_;
    sums_.resize(std::max(sums_.size(), n));
    CodedValues result{{sums_.data(), n}, {}, coded.width, {}};
    if (is_run || span_ > 0) {
      result.range = kernels_.sum_codes_span(coded.projection, rows[0], n,
                                             is_run ? nullptr : member_.data(), next, sums_.data());
      if (!is_run) result.rows = {rows, rows[0]};
    } else {
      result.range = kernels_.sum_codes(coded.projection, rows, n, sums_.data());
    }
    return result;
  }

  // Small nodes: kLanes candidates at a time through a sorting network, one lane each. A value is a
  // float made double; its low 29 bits are free and carry what must travel with it.
  void search_network() {
    const size_t n = node_->n;
    const auto& network = sorting_network(n);
    const double perfect = task_->perfect_score();
    const LaneScan scan = fill_payload(n);
    for (size_t start = 0; start < plain_.size(); start += kLanes) {
      if (found_->cut.score >= perfect && found_->cut.candidate < plain_[start]) return;
      const size_t n_lanes = std::min<size_t>(kLanes, plain_.size() - start);
      for (size_t lane = 0; lane < n_lanes; ++lane)
        project(plain_[start + lane], &lane_values_[lane * kMaxNetworkRows]);
      kernels_.pack_lanes(lane_values_.data(), kMaxNetworkRows, n, lane_payload_.data(),
                          scan == LaneScan::counts ? 0 : kPayloadMask, lanes_);
      std::fill(lanes_ + n * kLanes, lanes_ + network_length(n) * kLanes,
                std::numeric_limits<double>::infinity());
      kernels_.sort_lanes(lanes_, network.data(), network.size());
      scan_network(&plain_[start], n_lanes, scan);
    }
  }

  static constexpr uint64_t kPayloadMask = (uint64_t{1} << 29) - 1;

  // What travels with a value through the network: weight and class; the position of the row, for
  // lanes that can be scanned together; or the same for lanes that must be scanned one by one.
  enum class LaneScan { counts, pairs, single };

  LaneScan fill_payload(size_t n) {
    if constexpr (kPacked) {
      for (size_t i = 0; i < n; ++i) {
        const uint64_t payload = task_->payload()[i];
        lane_payload_[i] = (payload >> 32) << 1 | (payload & 0xffffffffULL ? 1 : 0);
      }
      return LaneScan::counts;
    }
    if constexpr (kClassHistogram) {
      if (task_->n_present() <= kMaxLaneClasses && task_->weight() <= kMaxClassLaneWeight) {
        for (size_t i = 0; i < n; ++i)
          lane_payload_[i] = uint64_t{task_->payload()[i].weight} << 4 | task_->payload()[i].label;
        return LaneScan::counts;
      }
    }
    std::iota(lane_payload_.begin(), lane_payload_.begin() + static_cast<ptrdiff_t>(n), 0);
    return fill_pairs(n) ? LaneScan::pairs : LaneScan::single;
  }

  // False when some partial sum might not be a whole double.
  bool fill_pairs(size_t n) {
    if constexpr (std::is_same_v<Task, WideTask>) {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      double sizes = 0.0;
      for (size_t i = 0; i < n; ++i) {
        lane_weight_[i] = static_cast<double>(task_->payload()[i].weight);
        lane_sum_[i] = static_cast<double>(task_->payload()[i].sum);
        sizes += std::fabs(lane_sum_[i]);
      }
      return sizes < kExact && task_->weight() < kExact;
    }
    return false;
  }

  // Equal values sort by position, as they do in Sorter: below zero larger bits come first, so
  // there the bits of the position are flipped. What is summed in floating point (entropy, real
  // weights) depends on the order among equals.
  static uint64_t position(uint64_t bits) { return (bits >> 63 ? ~bits : bits) & kPayloadMask; }

  float lane_value(size_t i, size_t lane) const {
    const auto bits = std::bit_cast<uint64_t>(lanes_[i * kLanes + lane]);
    return static_cast<float>(std::bit_cast<double>(bits & ~kPayloadMask));
  }

  void scan_network(const int32_t* candidates, size_t n_lanes, LaneScan scan) {
    const size_t n = node_->n;
    const size_t min_rows = limits_.min_rows;
    if (scan == LaneScan::single) {
      Accumulator left(*task_);
      for (size_t lane = 0; lane < n_lanes; ++lane) scan_lane(candidates[lane], lane, left);
      return;
    }
    LaneBest best;
    if constexpr (kPacked)
      kernels_.scan_lanes(lanes_, min_rows - 1, n - min_rows, kPayloadMask, task_->totals(),
                          limits_.min_weight, &best);
    if constexpr (kClassHistogram)
      kernels_.scan_class_lanes(lanes_, min_rows - 1, n - min_rows, kPayloadMask,
                                task_->counts().data(), static_cast<int>(task_->n_present()),
                                limits_.min_weight, &best);
    if constexpr (std::is_same_v<Task, WideTask>)
      kernels_.scan_pair_lanes(lanes_, min_rows - 1, n - min_rows, kPayloadMask,
                               lane_weight_.data(), lane_sum_.data(), task_->totals(),
                               limits_.min_weight, &best);
    for (size_t lane = 0; lane < n_lanes; ++lane) {
      if (best.position[lane] < 0) continue;
      const auto i = static_cast<size_t>(best.position[lane]);
      context(candidates[lane])
          .offer(best.numerator[lane] / best.denominator[lane], i + 1, best.weight_left[lane],
                 lane_value(i, lane), lane_value(i + 1, lane));
    }
  }

  void scan_lane(size_t candidate, size_t lane, Accumulator& left) {
    const SearchContext c = context(candidate);
    const Payload* payload = task_->payload();
    left.begin();
    auto bits = std::bit_cast<uint64_t>(lanes_[lane]);
    for (size_t i = 0; i + 1 < node_->n; ++i) {
      left.add(payload[position(bits)]);
      const auto next = std::bit_cast<uint64_t>(lanes_[(i + 1) * kLanes + lane]);
      if ((bits & ~kPayloadMask) != (next & ~kPayloadMask) && left.may_reach(c.best->score)) {
        const double score = left.score();
        if (score >= c.best->score)
          c.offer(score, i + 1, left.weight(), lane_value(i, lane), lane_value(i + 1, lane));
      }
      bits = next;
    }
  }

  // A single feature with missing values: they go all to the right, or all to the left, whichever
  // is better; or they are told apart from all others.
  void search_with_missing(size_t candidate) {
    const float* values = project(candidate);
    present_.clear();
    present_values_.clear();
    missing_.clear();
    const Payload* payload = task_->payload();
    for (size_t i = 0; i < node_->n; ++i) {
      if (values[i] == values[i]) {
        present_values_.push_back(values[i]);
        present_.push_back(payload[i]);
      } else {
        missing_.push_back(payload[i]);
      }
    }
    if (present_.empty()) return;
    SearchContext c = context(candidate);
    c.saw_missing = !missing_.empty();
    if (options_.threshold != ThresholdRule::best) return random_with_missing(c);
    const auto& keys = sorter_.sort(present_values_.data(), present_values_.size());
    for (const bool missing_left : {false, true}) {
      if (missing_left && missing_.empty()) break;
      c.missing_left = missing_left;
      Accumulator left(*task_);
      left.begin();
      if (missing_left)
        for (const Payload& p : missing_) left.add(p);
      scan_sorted(keys, present_.data(), left, missing_left ? missing_.size() : 0, c);
    }
    if (!missing_.empty()) {
      Accumulator left(*task_);
      left.begin();
      for (const Payload& p : present_) left.add(p);
      c.missing_left = false;
      const float highest = from_sortable(static_cast<uint32_t>(keys.back() >> 32));
      c.offer(left.score(), present_.size(), left.weight(), highest, highest);
    }
  }

  // Uniform cuts between the smallest and the largest value, n_thresholds of them.
  void search_random(size_t candidate) {
    const float* values = project(candidate);
    random_cuts(values, task_->payload(), node_->n, nullptr, context(candidate));
  }
  void random_with_missing(SearchContext c) {
    random_cuts(present_values_.data(), present_.data(), present_.size(), &missing_, c);
  }
  void random_cuts(const float* values, const Payload* payload, size_t n,
                   const std::vector<Payload>* missing, SearchContext c) {
    const ValueRange range = kernels_.range(values, n);
    if (!(range.low < range.high)) return;
    Stream stream(mix(node_->key + static_cast<uint64_t>(c.candidate)), Purpose::thresholds);
    Accumulator left(*task_);
    const bool has_missing = missing && !missing->empty();
    for (int32_t t = 0; t < options_.n_thresholds; ++t) {
      auto cut = static_cast<float>(range.low + stream.uniform() *
                                                    (static_cast<double>(range.high) - range.low));
      if (!(cut < range.high)) cut = range.low;
      // Purely random cuts look at nothing: a coin sends the missing rows.
      const bool coin = stream.next() & 1;
      for (const bool missing_left : {false, true}) {
        if (missing_left && !has_missing) break;
        if (options_.threshold == ThresholdRule::purely_random && has_missing &&
            missing_left != coin)
          continue;
        left.begin();
        size_t rows_left = 0;
        for (size_t i = 0; i < n; ++i) {
          if (!(values[i] <= cut)) continue;
          left.add(payload[i]);
          ++rows_left;
        }
        if (missing_left)
          for (const Payload& p : *missing) left.add(p);
        c.missing_left = missing_left;
        c.offer(left.score(), rows_left + (missing_left ? missing->size() : 0), left.weight(), cut,
                cut);
      }
    }
  }

  const Options& options_;
  const DatasetView& data_;
  const Kernels& kernels_;
  Sorter sorter_;
  Histogram histogram_;
  CategorySearch<Task> category_;
  std::vector<double> lanes_storage_;
  std::vector<float> lane_values_;      // kMaxNetworkRows of each lane
  std::vector<uint64_t> lane_payload_;  // low bits of each row
  std::vector<double> lane_weight_, lane_sum_;
  double* lanes_;

  // The node being searched.
  const NodeView* node_ = nullptr;
  const Task* task_ = nullptr;
  const Candidates* candidates_ = nullptr;
  Limits limits_;
  Found* found_ = nullptr;

  size_t span_ = 0;  // rows from the node's first to its last; 0: picked from the list
  std::vector<uint8_t> member_;
  std::vector<int32_t> plain_;
  std::vector<float> values_;
  std::vector<const float*> columns_;
  std::vector<const char*> runs_;
  CodedDirections coded_;
  std::vector<Glance> glances_;
  ScreeningRecord screening_;
  std::vector<uint16_t> sums_;
  std::vector<float> fill_;
  std::vector<Payload> present_, missing_;
  std::vector<float> present_values_;
};

}  // namespace bevel
