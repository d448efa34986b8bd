// Weights of the features of a box {S : A within S, B outside S} in the game that is worth 1 for
// the coalitions S of the box and 0 for others:
//
//   a feature of A gets  (|A|-1)! |B|! / (|A|+|B|)!,   one of B  -|A|! (|B|-1)! / (|A|+|B|)!,
//
// others nothing. The interaction of two features is, with n = |A|+|B|-1,
//
//   (|A|-2)! |B|! / n!  of two of A,   |A|! (|B|-2)! / n!  of two of B,
//   -(|A|-1)! (|B|-1)! / n!  of one of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bevel {

// Most features that may be decided on a path; for more, factorials lose precision.
constexpr size_t kMaxDecided = 256;

// Table of weights, computed once for all threads; one more feature may be that of a leaf's model.
class BoxWeights {
 public:
  explicit BoxWeights(size_t n_features)
      : width_(std::min(n_features, kMaxDecided) + 2), table_(width_ * width_, 0.0) {
    // w(a, 0) = 1 / a, w(a, b) = w(a, b-1) b / (a+b).
    for (size_t a = 1; a < width_; ++a) {
      double weight = 1.0 / static_cast<double>(a);
      table_[a * width_] = weight;
      for (size_t b = 1; b < width_; ++b) {
        weight *= static_cast<double>(b) / static_cast<double>(a + b);
        table_[a * width_ + b] = weight;
      }
    }
  }

  // (a-1)! b! / (a+b)!; 0 for a = 0.
  double of_row(size_t a, size_t b) const { return table_[a * width_ + b]; }
  // a! (b-1)! / (a+b)!; 0 for b = 0.
  double of_background(size_t a, size_t b) const { return table_[b * width_ + a]; }
  // Weight of a pair of features, n_of_row of which are in A.
  double of_pair(size_t n_of_row, size_t a, size_t b) const {
    if (n_of_row == 2) return of_row(a - 1, b);
    return n_of_row == 1 ? -of_row(a, b - 1) : of_row(b - 1, a);
  }
  size_t most() const { return width_ - 2; }

 private:
  size_t width_;
  std::vector<double> table_;
};

}  // namespace bevel
