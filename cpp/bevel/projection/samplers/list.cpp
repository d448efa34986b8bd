#include <algorithm>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/projection/samplers/column_samplers.h"

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

// Breiman's forest: d distinct features.
class AxisFamily : public Family {
 public:
  AxisFamily(const FamilySize& size, FamilySettings&) : Family(size) {}

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return make_list_sampler(input.data.numeric, n_draws);
  }
  size_t features_per_node() const override { return static_cast<size_t>(n_draws); }
  bool needs_no_values() const override { return true; }
};

// d distinct nominal columns, which are split by sets of levels.
class CategoricalFamily : public Family {
 public:
  CategoricalFamily(const FamilySize& size, FamilySettings&) : Family(size) {}

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return make_list_sampler(input.data.categorical, n_draws);
  }
  size_t features_per_node() const override { return static_cast<size_t>(n_draws); }
  bool is_nominal() const override { return true; }
};

}  // namespace

std::shared_ptr<const Family> make_axis(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<AxisFamily>(size, settings);
}

std::shared_ptr<const Family> make_categorical(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<CategoricalFamily>(size, settings);
}

std::unique_ptr<Sampler> make_list_sampler(std::vector<int32_t> columns, int32_t n_draws) {
  return std::make_unique<ListSampler>(std::move(columns), n_draws);
}

}  // namespace bevel
