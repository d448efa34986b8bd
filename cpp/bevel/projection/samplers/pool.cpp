#include <utility>

#include "bevel/projection/samplers/column_samplers.h"

namespace bevel {
namespace {

// Draws d distinct directions from a pool that is common to all trees.
class PoolSampler : public Sampler {
 public:
  PoolSampler(Candidates pool, int32_t n_draws) : pool_(std::move(pool)), n_draws_(n_draws) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.features.resize(static_cast<int32_t>(pool_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_ && !scratch.features.empty(); ++i) draw(stream, scratch, out);
  }
  bool sample_more(Stream& stream, SamplerScratch& scratch, Candidates& out) const override {
    if (scratch.features.empty()) return false;
    draw(stream, scratch, out);
    return true;
  }
  void end_node(SamplerScratch& scratch) const override { scratch.features.reset(); }
  bool can_redraw() const override { return false; }

 private:
  void draw(Stream& stream, SamplerScratch& scratch, Candidates& out) const {
    const auto direction = static_cast<size_t>(scratch.features.draw(stream));
    for (int k = 0; k < pool_.n_nonzeros(direction); ++k)
      out.add_entry(pool_.indices(direction)[k], pool_.weights(direction)[k]);
    out.close();
  }

  const Candidates pool_;
  const int32_t n_draws_;
};

}  // namespace

std::unique_ptr<Sampler> make_pool_sampler(Candidates pool, int32_t n_draws) {
  return std::make_unique<PoolSampler>(std::move(pool), n_draws);
}

}  // namespace bevel
