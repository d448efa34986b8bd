#include <algorithm>
#include <utility>

#include "bevel/projection/samplers/samplers.h"

namespace bevel {
namespace {

class ListSampler : public Sampler {
 public:
  ListSampler(std::vector<int32_t> columns, int32_t n_draws)
      : columns_(std::move(columns)),
        n_draws_(std::min<int32_t>(n_draws, static_cast<int32_t>(columns_.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.features.resize(static_cast<int32_t>(columns_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) out.add_axis(columns_[scratch.features.draw(stream)]);
  }
  bool sample_more(Stream& stream, SamplerScratch& scratch, Candidates& out) const override {
    if (scratch.features.empty()) return false;
    out.add_axis(columns_[scratch.features.draw(stream)]);
    return true;
  }
  void end_node(SamplerScratch& scratch) const override { scratch.features.reset(); }
  bool can_redraw() const override { return false; }

 private:
  std::vector<int32_t> columns_;
  int32_t n_draws_;
};

}  // namespace

std::unique_ptr<Sampler> make_list_sampler(std::vector<int32_t> columns, int32_t n_draws) {
  return std::make_unique<ListSampler>(std::move(columns), n_draws);
}

}  // namespace bevel
