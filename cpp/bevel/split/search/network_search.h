// Small nodes: kLanes candidates at a time through a sorting network, one lane each. A value is a
// float converted to double; its low 29 bits are free for the data that is sorted with it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "bevel/split/criterion.h"
#include "bevel/split/entropy_terms.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/node_projector.h"
#include "bevel/split/search/network.h"
#include "bevel/split/search/node_search.h"

namespace bevel {

template <class Criterion>
class NetworkSearch {
 public:
  explicit NetworkSearch(const Kernels& kernels)
      : kernels_(kernels),
        lanes_storage_(kMaxNetworkRows * kLanes + kLanes),
        values_(kMaxNetworkRows * kLanes + NodeProjector::kSpare),
        stats_(kMaxNetworkRows),
        weight_(kMaxNetworkRows),
        sum_(kMaxNetworkRows) {
    // Registers are loaded whole: start on a cache line.
    auto address = reinterpret_cast<uintptr_t>(lanes_storage_.data());
    lanes_ = reinterpret_cast<double*>((address + 63) & ~uintptr_t{63});
  }

  static bool fits(const NodeView& node, const Criterion& criterion) {
    return node.n <= kMaxRows && (!kPackedGini || criterion.weight() <= kMaxNetworkWeight);
  }

  void search(const NodeSearch<Criterion>& search, std::span<const int32_t> candidates,
              NodeProjector& projector) {
    search_ = &search;
    const size_t n = search.node->n;
    const auto& network = sorting_network(n);
    const LaneScan scan = fill_stats(n);
    for (size_t start = 0; start < candidates.size(); start += kLanes) {
      if (search.is_decided(candidates[start])) return;
      const auto in_lanes =
          candidates.subspan(start, std::min<size_t>(kLanes, candidates.size() - start));
      for (size_t lane = 0; lane < in_lanes.size(); ++lane)
        projector.project(static_cast<size_t>(in_lanes[lane]), &values_[lane * kMaxNetworkRows]);
      kernels_.pack_lanes(values_.data(), kMaxNetworkRows, n, stats_.data(),
                          scan == LaneScan::counts || scan == LaneScan::terms ? 0 : kStatsMask,
                          lanes_);
      std::fill(lanes_ + n * kLanes, lanes_ + network_length(n) * kLanes,
                std::numeric_limits<double>::infinity());
      kernels_.sort_lanes(lanes_, network.data(), network.size());
      scan_lanes(in_lanes, scan);
    }
  }

 private:
  using RowStats = typename Criterion::RowStats;
  using Accumulator = typename Criterion::Accumulator;
  static constexpr bool kPacked = std::is_same_v<RowStats, uint64_t>;
  static constexpr bool kPackedGini = std::is_same_v<Criterion, PackedCriterion>;
  static constexpr bool kClasses = std::is_same_v<Criterion, CountCriterion>;
  static constexpr bool kWide = Criterion::kIsPair && std::is_base_of_v<WideCriterion, Criterion>;
  static constexpr bool kWholeEntropy = std::is_same_v<Criterion, PackedEntropyCriterion> ||
                                        std::is_same_v<Criterion, CountEntropyCriterion>;
  // The histogram takes over where it is faster: at 64 rows with one add per row, later for others.
  static constexpr size_t kMaxRows = kPacked ? 64 : Criterion::kIsPair ? 192 : 512;
  static constexpr size_t kMaxTermsPerRow = 16;
  static constexpr uint64_t kStatsMask = (uint64_t{1} << 29) - 1;

  // Data sorted with a value: weight and class, whose counts or terms of the entropy are added; the
  // position of the row, for lanes that can be scanned together; or the position for lanes that
  // must be scanned one by one.
  enum class LaneScan { counts, terms, pairs, single };

  const Criterion& criterion() const { return *search_->criterion; }

  LaneScan fill_stats(size_t n) {
    if constexpr (kWholeEntropy)
      if (fill_terms(n)) return LaneScan::terms;
    if constexpr (kPackedGini) {
      for (size_t i = 0; i < n; ++i) {
        const uint64_t stats = criterion().stats()[i];
        stats_[i] = (stats >> 32) << 1 | (stats & 0xffffffffULL ? 1 : 0);
      }
      return LaneScan::counts;
    }
    if constexpr (kClasses) {
      if (criterion().n_present() <= kMaxLaneClasses &&
          criterion().weight() <= kMaxClassLaneWeight) {
        for (size_t i = 0; i < n; ++i)
          stats_[i] = uint64_t{criterion().stats()[i].weight} << 4 | criterion().stats()[i].label;
        return LaneScan::counts;
      }
    }
    std::iota(stats_.begin(), stats_.begin() + static_cast<ptrdiff_t>(n), 0);
    return fill_pairs(n) ? LaneScan::pairs : LaneScan::single;
  }

  // Entropy: contribution of each class to the score by its weight on the left, one table after
  // another, and the term of the total weight. False when tables are too long for the number of
  // rows.
  bool fill_terms(size_t n) {
    if (criterion().weight() > static_cast<double>(kMaxTermsPerRow * n)) return false;
    if constexpr (Criterion::kIsPair) {
      const WidePair total = criterion().score().total();
      const double counts[] = {static_cast<double>(total.weight - total.sum),
                               static_cast<double>(total.sum)};
      terms_.fill(criterion().score().table(), counts, search_->limits.min_weight);
      for (size_t i = 0; i < n; ++i) {
        const uint64_t stats = criterion().stats()[i];
        stats_[i] = (stats >> 32) << kLaneClassBits | (stats & 0xffffffffULL ? 1 : 0);
      }
    } else {
      if (criterion().n_present() > kMaxTermClasses) return false;
      terms_.fill(criterion().table(), criterion().counts(), search_->limits.min_weight);
      for (size_t i = 0; i < n; ++i)
        stats_[i] = uint64_t{criterion().stats()[i].weight} << kLaneClassBits |
                    criterion().stats()[i].label;
    }
    return true;
  }

  // False when some partial sum might not be exact in a double.
  bool fill_pairs(size_t n) {
    if constexpr (kWide) {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      double sizes = 0.0;
      for (size_t i = 0; i < n; ++i) {
        weight_[i] = static_cast<double>(criterion().stats()[i].weight);
        sum_[i] = static_cast<double>(criterion().stats()[i].sum);
        sizes += std::fabs(sum_[i]);
      }
      return sizes < kExact && criterion().weight() < kExact;
    }
    return false;
  }

  // Equal values sort by position, as they do in Sorter: below zero larger bits come first, so
  // there the bits of the position are flipped. Floating-point sums (entropy, real weights) depend
  // on the order of equal values.
  static uint64_t position(uint64_t bits) { return (bits >> 63 ? ~bits : bits) & kStatsMask; }

  float lane_value(size_t i, size_t lane) const {
    const auto bits = std::bit_cast<uint64_t>(lanes_[i * kLanes + lane]);
    return static_cast<float>(std::bit_cast<double>(bits & ~kStatsMask));
  }

  void scan_lanes(std::span<const int32_t> candidates, LaneScan scan) {
    if (scan == LaneScan::single) {
      Accumulator left(criterion());
      for (size_t lane = 0; lane < candidates.size(); ++lane)
        scan_lane(static_cast<size_t>(candidates[lane]), lane, left);
      return;
    }
    const LaneBest best = best_of_lanes(scan);
    for (size_t lane = 0; lane < candidates.size(); ++lane) {
      if (best.position[lane] < 0) continue;
      const auto i = static_cast<size_t>(best.position[lane]);
      search_->context(static_cast<size_t>(candidates[lane]))
          .offer(best.numerator[lane] / best.denominator[lane], i + 1, best.weight_left[lane],
                 lane_value(i, lane), lane_value(i + 1, lane));
    }
  }

  LaneBest best_of_lanes(LaneScan scan) const {
    const Limits& limits = search_->limits;
    const size_t first = limits.min_rows - 1, last = search_->node->n - limits.min_rows;
    LaneBest best;
    if constexpr (kWholeEntropy)
      if (scan == LaneScan::terms)
        kernels_.scan_entropy_lanes(lanes_, first, last, kStatsMask, terms_.view(), &best);
    if constexpr (kPackedGini)
      kernels_.scan_lanes(lanes_, first, last, kStatsMask, criterion().totals(), limits.min_weight,
                          &best);
    if constexpr (kClasses)
      kernels_.scan_class_lanes(lanes_, first, last, kStatsMask, criterion().counts().data(),
                                static_cast<int>(criterion().n_present()), limits.min_weight,
                                &best);
    if constexpr (kWide)
      kernels_.scan_pair_lanes(lanes_, first, last, kStatsMask, weight_.data(), sum_.data(),
                               criterion().totals(), limits.min_weight, &best);
    return best;
  }

  void scan_lane(size_t candidate, size_t lane, Accumulator& left) {
    const SearchContext c = search_->context(candidate);
    const RowStats* stats = criterion().stats();
    left.begin();
    auto bits = std::bit_cast<uint64_t>(lanes_[lane]);
    for (size_t i = 0; i + 1 < search_->node->n; ++i) {
      left.add(stats[position(bits)]);
      const auto next = std::bit_cast<uint64_t>(lanes_[(i + 1) * kLanes + lane]);
      if ((bits & ~kStatsMask) != (next & ~kStatsMask) && left.may_reach(c.best->score)) {
        const double score = left.score();
        if (score >= c.best->score)
          c.offer(score, i + 1, left.weight(), lane_value(i, lane), lane_value(i + 1, lane));
      }
      bits = next;
    }
  }

  const Kernels& kernels_;
  const NodeSearch<Criterion>* search_ = nullptr;
  std::vector<double> lanes_storage_;
  double* lanes_;
  std::vector<float> values_;    // kMaxNetworkRows of each lane
  std::vector<uint64_t> stats_;  // low bits of each row
  std::vector<double> weight_, sum_;
  EntropyTerms terms_;
};

}  // namespace bevel
