// Cards dealt without replacement.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bevel/random/stream.h"

namespace bevel {

// A permutation of {0, ..., n - 1} that is dealt from the top and put back in order afterwards, so
// that dealing k cards costs O(k) and leaves no trace for the next node.
class SampleWithoutReplacement {
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

}  // namespace bevel
