// Random draws without replacement.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bevel/random/stream.h"

namespace bevel {

// Draws from {0, ..., n - 1} by the first steps of a Fisher-Yates shuffle. reset() undoes the
// swaps, so that k draws cost O(k) and the next node starts from the same order.
class SampleWithoutReplacement {
 public:
  void resize(int32_t n) {
    order_.resize(static_cast<size_t>(n));
    for (int32_t i = 0; i < n; ++i) order_[i] = i;
    swaps_.clear();
  }
  int32_t size() const { return static_cast<int32_t>(order_.size()); }
  int32_t n_drawn() const { return static_cast<int32_t>(swaps_.size()); }
  bool empty() const { return n_drawn() == size(); }
  int32_t draw(Stream& stream) {
    const int32_t i = n_drawn();
    const auto j = i + static_cast<int32_t>(stream.below(static_cast<uint64_t>(size() - i)));
    std::swap(order_[i], order_[j]);
    swaps_.push_back(j);
    return order_[i];
  }
  void reset() {
    for (int32_t i = n_drawn(); i-- > 0;) std::swap(order_[i], order_[swaps_[i]]);
    swaps_.clear();
  }

 private:
  std::vector<int32_t> order_;
  std::vector<int32_t> swaps_;
};

}  // namespace bevel
