#include "bevel/projection/samplers/samplers.h"

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

}  // namespace

std::unique_ptr<Sampler> make_custom_sampler(const Family& family, const DatasetView& data) {
  if (family.source) return std::make_unique<SourceSampler>(family.source, data);
  Candidates pool = *family.pool;
  for (int32_t& feature : pool.index) feature = data.numeric[feature];
  return make_pool_sampler(std::move(pool), family.n_draws);
}

}  // namespace bevel
