#include <utility>

#include "bevel/projection/family.h"
#include "bevel/projection/samplers/column_samplers.h"

namespace bevel {
namespace {

class SourceSampler : public Sampler {
 public:
  SourceSampler(std::shared_ptr<const DirectionSource> source, const DatasetView& data)
      : source_(std::move(source)), data_(data) {}

  void sample(const NodeRows& node, Stream& stream, SamplerScratch&,
              Candidates& out) const override {
    const size_t first = out.index.size();
    source_->propose(node, data_, stream.next(), out);
    for (size_t e = first; e < out.index.size(); ++e) out.index[e] = data_.numeric[out.index[e]];
  }
  // Called once per node: the user's function decides the number of directions.
  bool can_redraw() const override { return false; }

 private:
  std::shared_ptr<const DirectionSource> source_;
  const DatasetView& data_;
};

// User-defined directions: a function that is called at every node, or a pool to draw from.
class CustomFamily : public Family {
 public:
  CustomFamily(const FamilySize& size, FamilySettings& settings) : Family(size) {
    settings.read("source", &source_);
    settings.read("pool", &pool_);
  }

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    if (source_) return std::make_unique<SourceSampler>(source_, input.data);
    Candidates pool = *pool_;
    for (int32_t& feature : pool.index) feature = input.data.numeric[feature];
    return make_pool_sampler(std::move(pool), n_draws);
  }
  UnderConstraints under_constraints() const override { return UnderConstraints::removes; }

 private:
  std::shared_ptr<const DirectionSource> source_;
  std::shared_ptr<const Candidates> pool_;
};

}  // namespace

std::shared_ptr<const Family> make_custom(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<CustomFamily>(size, settings);
}

}  // namespace bevel
