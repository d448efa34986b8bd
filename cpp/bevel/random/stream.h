// Random numbers derived from their purpose: (seed, tree, node, purpose), never from a thread or
// the order in which nodes are grown. SplitMix64 (Steele, Lea, Flood 2014) as a counter generator.
#pragma once

#include <cmath>
#include <cstdint>

#include "bevel/support/arithmetic/logarithm.h"

namespace bevel {

enum class Purpose : uint64_t {
  bag = 1,
  candidates = 2,
  thresholds = 3,
  rotation = 4,
  leaf = 5,
  forest_rotations = 6,  // not of a tree: drawn with the key of tree 0
  orders = 7,            // of features, for sampled Shapley values
  permutation = 8,       // of rows, for importance
  bag_parts = 9,         // of honest trees
};

inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// High half of a 64 x 64 bit product.
inline uint64_t multiply_high(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#else
  const uint64_t a_lo = a & 0xffffffffULL, a_hi = a >> 32, b_lo = b & 0xffffffffULL, b_hi = b >> 32;
  const uint64_t mid = a_hi * b_lo + ((a_lo * b_lo) >> 32);
  return a_hi * b_hi + (mid >> 32) + ((a_lo * b_hi + (mid & 0xffffffffULL)) >> 32);
#endif
}

// Key of a node that does not depend on when it is grown: the path from the root.
using NodeKey = uint64_t;

inline NodeKey root_key(uint64_t seed, uint64_t tree) {
  return mix(mix(seed + 0x9e3779b97f4a7c15ULL) ^ (tree * 0xd1342543de82ef95ULL + 1));
}
inline NodeKey child_key(NodeKey parent, bool right) {
  return mix(parent + (right ? 0xa0761d6478bd642fULL : 0xe7037ed1a0b428dbULL));
}

class Stream {
 public:
  Stream(NodeKey node, Purpose purpose)
      : state_(mix(node ^ (static_cast<uint64_t>(purpose) * 0x9e3779b97f4a7c15ULL))) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }
  // Uniform in {0, ..., n - 1}; its bias is below n / 2^64.
  uint64_t below(uint64_t n) { return multiply_high(next(), n); }
  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Standard normal by Marsaglia's polar method.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u, v, s;
    do {
      u = 2.0 * uniform() - 1.0;
      v = 2.0 * uniform() - 1.0;
      s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    const double scale = std::sqrt(-2.0 * fixed_log(s) / s);
    spare_ = v * scale;
    has_spare_ = true;
    return u * scale;
  }

 private:
  uint64_t state_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace bevel
