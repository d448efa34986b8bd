#include <algorithm>
#include <utility>

#include "bevel/projection/family.h"
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

// Forest-RC (Breiman 2001): L distinct features, weights uniform on (-1, 1).
class CombinationFamily : public Family {
 public:
  CombinationFamily(const FamilySize& size, FamilySettings&) : Family(size) {}

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return std::make_unique<CombinationSampler>(input.data.numeric, n_draws, n_nonzeros);
  }
  bool needs_no_values() const override { return true; }
  UnderConstraints under_constraints() const override { return UnderConstraints::redraws; }
};

}  // namespace

std::shared_ptr<const Family> make_combination(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<CombinationFamily>(size, settings);
}

}  // namespace bevel
