// Samplers propose directions for a node. The cost of a proposal is proportional to its non-zeros,
// never to p times d. They know nothing of labels or thresholds.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/random/stream.h"

namespace bevel {

// A permutation of {0, ..., n - 1} that is dealt from the top and put back in order afterwards, so
// that dealing k cards costs O(k) and leaves no trace for the next node.
class Deck {
 public:
  void resize(int32_t n) {
    order_.resize(static_cast<size_t>(n));
    for (int32_t i = 0; i < n; ++i) order_[i] = i;
    swaps_.clear();
  }
  int32_t size() const { return static_cast<int32_t>(order_.size()); }
  int32_t dealt() const { return static_cast<int32_t>(swaps_.size()); }
  bool empty() const { return dealt() == size(); }
  int32_t deal(Stream& stream) {
    const int32_t i = dealt();
    const auto j = i + static_cast<int32_t>(stream.below(static_cast<uint64_t>(size() - i)));
    std::swap(order_[i], order_[j]);
    swaps_.push_back(j);
    return order_[i];
  }
  void gather() {
    for (int32_t i = dealt(); i-- > 0;) std::swap(order_[i], order_[swaps_[i]]);
    swaps_.clear();
  }

 private:
  std::vector<int32_t> order_;
  std::vector<int32_t> swaps_;
};

// The node's rows, for samplers that look at the data: column(feature)[rows[i]].
struct NodeRows {
  const float* const* columns;  // one pointer per feature, then per axis of the tree's rotation
  std::span<const uint32_t> rows;
};

// Numbers below 2^40, each at most once. Emptying it costs nothing: entries carry the epoch.
class CellSet {
 public:
  void begin(size_t n_expected) {
    const size_t size = std::bit_ceil(4 * n_expected + 8);
    if (size > slots_.size()) slots_.assign(size, 0);
    if (++epoch_ == (uint64_t{1} << 24)) {
      std::fill(slots_.begin(), slots_.end(), 0);
      epoch_ = 1;
    }
  }
  bool contains(uint64_t cell) const { return slots_[find(cell)] == tag(cell); }
  // False when it was there already.
  bool insert(uint64_t cell) {
    const size_t slot = find(cell);
    if (slots_[slot] == tag(cell)) return false;
    slots_[slot] = tag(cell);
    return true;
  }

 private:
  uint64_t tag(uint64_t cell) const { return epoch_ << 40 | cell; }
  // Its slot, or the free one where it belongs.
  size_t find(uint64_t cell) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = (cell * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (slots_[slot] >> 40 == epoch_ && slots_[slot] != tag(cell)) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<uint64_t> slots_;
  uint64_t epoch_ = 0;
};

// What a sampler may scribble on; one per thread.
struct SamplerScratch {
  Deck features;  // over the sampler's features
  Deck subset;
  CellSet cells;
  std::vector<int32_t> column, row;  // of each entry thrown
  std::vector<uint32_t> next_entry;  // of each column
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Appends up to n_draws candidates.
  virtual void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
                      Candidates& out) const = 0;
  // Samplers without replacement: one more candidate after sample(), false when none is left.
  virtual bool sample_more(Stream& stream, SamplerScratch& scratch, Candidates& out) const;
  // Called when a node has its candidates.
  virtual void end_node(SamplerScratch& scratch) const;
  // Whether asking again can give other candidates than those seen.
  virtual bool can_redraw() const { return true; }
  virtual void prepare(SamplerScratch&) const {}
};

std::unique_ptr<Sampler> make_sampler(const Family& family, const DatasetView& data);

}  // namespace bevel
