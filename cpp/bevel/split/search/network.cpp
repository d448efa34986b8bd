#include "bevel/split/search/network.h"

#include <array>

namespace bevel {
namespace {

// Batcher's network for the next power of two without the comparators that reach beyond n: the
// values there would be larger than all others and never move.
std::vector<Comparator> batcher(size_t n) {
  std::vector<Comparator> list;
  for (size_t p = 1; p < n; p *= 2)
    for (size_t k = p; k >= 1; k /= 2)
      for (size_t j = k % p; j + k < n; j += 2 * k)
        for (size_t i = 0; i < k && i + j + k < n; ++i)
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p))
            list.push_back({static_cast<uint16_t>(i + j), static_cast<uint16_t>(i + j + k)});
  return list;
}

}  // namespace

const std::vector<Comparator>& sorting_network(size_t n) {
  static const auto networks = [] {
    std::array<std::vector<Comparator>, kMaxNetworkRows + 1> all;
    for (size_t n = 1; n <= kMaxNetworkRows; ++n)
      if (network_length(n) == n) all[n] = batcher(n);
    return all;
  }();
  return networks[network_length(n)];
}

}  // namespace bevel
