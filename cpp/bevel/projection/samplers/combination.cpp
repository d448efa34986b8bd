#include <algorithm>
#include <utility>

#include "bevel/projection/samplers/samplers.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

class CombinationSampler : public Sampler {
 public:
  CombinationSampler(std::vector<int32_t> features, int32_t n_draws, int64_t n_features)
      : features_(std::move(features)),
        n_draws_(n_draws),
        n_features_(std::min<int64_t>(n_features, static_cast<int64_t>(features_.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(features_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) {
      poll_cancellation_at(static_cast<size_t>(i), 16 * static_cast<size_t>(n_features_));
      for (int64_t k = 0; k < n_features_; ++k) {
        const int32_t feature = features_[scratch.subset.draw(stream)];
        out.add_entry(feature, static_cast<float>(2.0 * stream.uniform() - 1.0));
      }
      scratch.subset.reset();
      out.close();
    }
  }

 private:
  std::vector<int32_t> features_;
  int32_t n_draws_;
  int64_t n_features_;
};

}  // namespace

std::unique_ptr<Sampler> make_combination_sampler(const Family& family, const DatasetView& data) {
  return std::make_unique<CombinationSampler>(data.numeric, family.n_draws, family.n_nonzeros);
}

}  // namespace bevel
