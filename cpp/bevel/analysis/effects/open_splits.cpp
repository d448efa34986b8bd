#include "bevel/analysis/effects/open_splits.h"

#include <cmath>
#include <type_traits>

#include "bevel/predict/packed_walk.h"

namespace bevel {
namespace {

// Coefficients of the open features in a term of a split, a feature or an axis.
struct Term {
  int n_read[2] = {0, 0};
  double slope[2] = {0.0, 0.0};
  double reach = 0.0;  // sum of the sizes of coefficients
  int n_terms = 0;

  void add(const Term& term, double weight) {
    for (int i = 0; i < 2; ++i) {
      n_read[i] += term.n_read[i];
      slope[i] += weight * term.slope[i];
    }
    reach += std::fabs(weight) * term.reach;
    n_terms += term.n_terms + 1;
  }
};

template <class Node>
class OpenSplits {
 public:
  OpenSplits(const PackedForest& forest, const Node* nodes, std::span<const int32_t> open,
             float largest)
      : forest_(forest), walk_(forest, nodes), largest_(largest) {
    of_place_.resize(static_cast<size_t>(forest.layout.n_positive()));
    for (int32_t f = 0; f < forest.layout.n_features; ++f)
      of_place_[static_cast<size_t>(f)] = one();
    for (size_t i = 0; i < open.size(); ++i) {
      const size_t which = open.size() == 2 ? i : 0;
      Term& term = of_place_[static_cast<size_t>(open[i])];
      term.n_read[which] = 1;
      term.slope[which] = 1.0;
      // Level terms have no slope, so that their splits are evaluated at each level.
      for (int32_t f = forest.layout.n_columns; f < forest.layout.n_features; ++f)
        if (forest.feature_at(f) == open[i]) of_place_[static_cast<size_t>(f)].n_read[which] = 1;
    }
  }

  void read_tree(size_t tree, std::vector<OpenSplit>& splits) {
    if (!forest_.axes.empty()) read_axes(forest_.axes[tree]);
    for (size_t s = forest_.first_split[tree]; s < forest_.first_split[tree + 1]; ++s)
      splits[s] = read_split(static_cast<Child>(s));
  }

 private:
  static Term one() {
    Term term;
    term.reach = 1.0;
    return term;
  }

  void read_axes(const TreeAxesProduct& axes) {
    for (size_t a = 0; a < axes.n_axes(); ++a) {
      Term& axis = of_place_[static_cast<size_t>(forest_.layout.axis(static_cast<int32_t>(a)))];
      axis = Term{};
      const auto features = axes.features(a);
      for (size_t k = 0; k < features.size(); ++k)
        axis.add(of_place_[static_cast<size_t>(features[k])], axes.weight(a, k));
    }
  }

  OpenSplit read_split(Child split) const {
    const auto n_positive = static_cast<uint32_t>(forest_.layout.n_positive());
    Term sum;
    walk_.over_terms(split, [&](uint32_t place, float weight) {
      if (place < n_positive)
        sum.add(of_place_[place], weight);
      else
        sum.add(of_place_[place - n_positive], -weight);
    });
    OpenSplit found;
    if (sum.n_read[0] > 0) found.flags |= OpenSplit::kFirst;
    if (sum.n_read[1] > 0) found.flags |= OpenSplit::kSecond;
    if (found.flags == 0) return found;
    const double size = sum.reach * largest_;
    if (sum.n_read[0] > 1 || sum.n_read[1] > 1 || !(size <= kMaxSum) || walk_.is_category(split))
      found.flags |= OpenSplit::kErratic;
    else if (sum.n_terms == 1 && !walk_.is_general(split))
      found.flags |= OpenSplit::kAlone;
    for (int i = 0; i < 2; ++i) {
      found.slope[i] = static_cast<float>(sum.slope[i]);
      if (sum.n_read[i] > 0 && found.slope[i] == 0.0f) found.flags |= OpenSplit::kErratic;
    }
    // Each of the terms is rounded twice, by at most 2^-24 of a partial sum; twice that for a value
    // that is taken from the one at another point. The rest is for the slope, for steps along the
    // grid in float32, and for denormals.
    found.slack = static_cast<float>(size * std::ldexp(4.0 * (sum.n_terms + 8), -24) + 1e-37);
    return found;
  }

  static constexpr double kMaxSum = 1e37;

  const PackedForest& forest_;
  const PackedWalk<Node, false> walk_;
  const double largest_;
  std::vector<Term> of_place_;  // terms of the features, the zero and the axes of the tree
};

}  // namespace

std::vector<OpenSplit> find_open_splits(const PackedForest& forest, std::span<const int32_t> open,
                                        float largest) {
  std::vector<OpenSplit> splits(forest.first_split.back());
  std::visit(
      [&](const auto& nodes) {
        using Node = std::remove_cvref_t<decltype(nodes[0])>;
        OpenSplits<Node> reader(forest, nodes.data(), open, largest);
        for (size_t tree = 0; tree < forest.n_trees(); ++tree) reader.read_tree(tree, splits);
      },
      forest.nodes);
  return splits;
}

}  // namespace bevel
