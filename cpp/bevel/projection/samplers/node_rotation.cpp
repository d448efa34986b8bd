#include <algorithm>
#include <utility>

#include "bevel/projection/haar.h"
#include "bevel/projection/samplers/samplers.h"

namespace bevel {
namespace {

bool is_rotated(int32_t n_rotated, int32_t n_left, Stream& stream) {
  return stream.below(static_cast<uint64_t>(n_left)) < static_cast<uint64_t>(n_rotated);
}

class NodeRotationSampler : public Sampler {
 public:
  NodeRotationSampler(std::vector<int32_t> features, const Family& family)
      : features_(std::move(features)), family_(family) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(features_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    const auto m = static_cast<int32_t>(
        std::min<int64_t>(family_.n_nonzeros, static_cast<int64_t>(features_.size())));
    std::vector<int32_t> chosen(static_cast<size_t>(m));
    for (auto& f : chosen) f = features_[scratch.subset.draw(stream)];
    // A random number of the axes are features that the rotation leaves unchanged.
    const auto n_features = static_cast<int32_t>(features_.size());
    int32_t d = 0;
    for (int32_t k = 0; k < std::min(family_.n_draws, n_features); ++k) {
      if (m == n_features || is_rotated(m - d, n_features - k, stream))
        ++d;
      else
        out.add_axis(features_[scratch.subset.draw(stream)]);
    }
    scratch.subset.reset();
    std::sort(chosen.begin(),
              chosen.end());  // a permutation might turn a rotation into a reflection
    const std::vector<double> q = rotation_draw(family_).columns(m, d, stream);
    for (int32_t axis = 0; axis < d; ++axis) {
      for (int32_t k = 0; k < m; ++k)
        out.add_entry(chosen[k], static_cast<float>(q[static_cast<size_t>(axis) * m + k]));
      out.close();
    }
  }

 private:
  std::vector<int32_t> features_;
  Family family_;
};

}  // namespace

std::unique_ptr<Sampler> make_node_rotation_sampler(const Family& family, const DatasetView& data) {
  return std::make_unique<NodeRotationSampler>(data.numeric, family);
}

}  // namespace bevel
