#include <algorithm>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/projection/haar.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

bool is_rotated(int32_t n_rotated, int32_t n_left, Stream& stream) {
  return stream.below(static_cast<uint64_t>(n_left)) < static_cast<uint64_t>(n_rotated);
}

// Axes of a fresh rotation at every node: its first d columns, dense in the chosen features.
class NodeRotationSampler : public Sampler {
 public:
  NodeRotationSampler(std::vector<int32_t> features, int32_t n_draws, const RotationDraw& draw)
      : features_(std::move(features)), n_draws_(n_draws), draw_(draw) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(features_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    const auto m = static_cast<int32_t>(
        std::min<int64_t>(draw_.max_features, static_cast<int64_t>(features_.size())));
    std::vector<int32_t> chosen(static_cast<size_t>(m));
    for (auto& f : chosen) f = features_[scratch.subset.draw(stream)];
    // A random number of the axes are features that the rotation leaves unchanged.
    const auto n_features = static_cast<int32_t>(features_.size());
    int32_t d = 0;
    for (int32_t k = 0; k < std::min(n_draws_, n_features); ++k) {
      if (m == n_features || is_rotated(m - d, n_features - k, stream))
        ++d;
      else
        out.add_axis(features_[scratch.subset.draw(stream)]);
    }
    scratch.subset.reset();
    std::sort(chosen.begin(),
              chosen.end());  // a permutation might turn a rotation into a reflection
    const std::vector<double> q = draw_.columns(m, d, stream);
    for (int32_t axis = 0; axis < d; ++axis) {
      for (int32_t k = 0; k < m; ++k)
        out.add_entry(chosen[k], static_cast<float>(q[static_cast<size_t>(axis) * m + k]));
      out.close();
    }
  }

 private:
  std::vector<int32_t> features_;
  int32_t n_draws_;
  RotationDraw draw_;
};

// RR-RF (Blaser 1.4 and 1.5): the axes of a random rotation of each tree or of each node, or of
// given rotations of the trees.
class RotationFamily : public Family {
 public:
  RotationFamily(const FamilySize& size, FamilySettings& settings)
      : Family(size), draw_{size.n_nonzeros} {
    settings.read("flip", &draw_.flip);
    settings.read("direct", &draw_.direct);
    settings.read("per_node", &per_node_);
    settings.read("given_axes", &given_axes_);
    settings.read("rotation_of_tree", &rotation_of_tree_);
  }

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return std::make_unique<NodeRotationSampler>(input.data.numeric, n_draws, draw_);
  }
  bool per_tree() const override { return !per_node_; }
  void append_tree_axes(const DatasetView& data, const TreeRows& tree, bool, Stream& stream,
                        Candidates& axes) const override {
    if (given_axes_) return append_given(data, tree.row_data.tree, axes);
    // Features beyond the limit of a rotation are not rotated, and remain axes (Blaser 1.5).
    const auto rest = append_rotation(data.numeric, draw_, stream, axes);
    for (int32_t feature : rest) axes.add_axis(feature);
  }

  // Given rotations have an axis for each numeric feature, and each tree has one of them.
  void check(const DatasetView& data, std::span<const uint64_t> trees) const override {
    if (!given_axes_) return;
    const size_t n_axes = data.numeric.size();
    require(n_axes > 0 && given_axes_->size() % n_axes == 0 && !per_node_,
            "[train] axes of given rotations");
    for (int32_t feature : given_axes_->index)
      require(0 <= feature && static_cast<size_t>(feature) < n_axes,
              "[train] feature of a given rotation");
    for (uint64_t tree : trees) {
      require(tree < rotation_of_tree_.size(), "[train] a tree without a rotation");
      const int32_t rotation = rotation_of_tree_[tree];
      require(0 <= rotation && static_cast<size_t>(rotation) < given_axes_->size() / n_axes,
              "[train] rotation of a tree");
    }
  }

 private:
  void append_given(const DatasetView& data, uint64_t tree, Candidates& axes) const {
    const size_t n_axes = data.numeric.size();
    const size_t first = static_cast<size_t>(rotation_of_tree_[tree]) * n_axes;
    for (size_t axis = first; axis < first + n_axes; ++axis) {
      poll_cancellation(static_cast<size_t>(given_axes_->n_nonzeros(axis)));
      for (int k = 0; k < given_axes_->n_nonzeros(axis); ++k)
        axes.add_entry(data.numeric[given_axes_->indices(axis)[k]], given_axes_->weights(axis)[k]);
      axes.close();
    }
  }

  RotationDraw draw_;
  bool per_node_ = false;  // a fresh one at every node
  // Axes of given rotations, back to back, over the numeric features counted from 0; null: drawn.
  std::shared_ptr<const Candidates> given_axes_;
  std::vector<int32_t> rotation_of_tree_;  // which of the given ones, by tree number
};

}  // namespace

std::shared_ptr<const Family> make_rotation(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<RotationFamily>(size, settings);
}

}  // namespace bevel
