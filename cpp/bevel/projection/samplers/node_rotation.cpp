#include <algorithm>
#include <utility>

#include "bevel/projection/haar.h"
#include "bevel/projection/samplers/samplers.h"

namespace bevel {
namespace {

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
    scratch.subset.reset();
    std::sort(chosen.begin(),
              chosen.end());  // a permutation might turn a rotation into a reflection
    const int32_t d = std::min(family_.n_draws, m);
    const std::vector<double> q = haar_columns(m, d, family_.flip, stream);
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
