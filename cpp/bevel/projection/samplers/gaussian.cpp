#include <algorithm>
#include <cmath>

#include "bevel/projection/family.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

// Dividing the weight by the node's standard deviation standardises; the mean only shifts
// thresholds.
class GaussianSampler : public Sampler {
 public:
  GaussianSampler(const DatasetView& data, int32_t n_draws, int64_t n_features)
      : data_(data),
        n_draws_(n_draws),
        n_features_(std::min<int64_t>(n_features, static_cast<int64_t>(data.numeric.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(data_.numeric.size()));
  }
  void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) {
      for (int64_t k = 0; k < n_features_; ++k) {
        const int32_t feature = data_.numeric[scratch.subset.draw(stream)];
        const double weight = stream.normal();
        const double stretched = weight / standard_deviation(node, feature);
        poll_cancellation(kWorkOfDraw + 2 * node.rows.size());
        // Skips constant features, and those whose weight would overflow a float.
        if (std::fabs(stretched) < kMaxWeight)
          out.add_entry(feature, static_cast<float>(stretched));
      }
      scratch.subset.reset();
      if (out.index.size() > out.offset.back()) out.close();
    }
  }

 private:
  static constexpr double kMaxWeight = 1e30;
  static constexpr size_t kWorkOfDraw = 32;

  double standard_deviation(const NodeRows& node, int32_t feature) const {
    const float* x = node.columns[feature];
    const float median = data_.medians[feature];
    auto value = [&](uint32_t row) {
      return static_cast<double>(x[row] == x[row] ? x[row] : median);
    };
    double mean = 0.0;
    for (uint32_t row : node.rows) mean += value(row);
    mean /= static_cast<double>(node.rows.size());
    double squares = 0.0;
    for (uint32_t row : node.rows) {
      const double difference = value(row) - mean;
      squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>(node.rows.size()));
  }

  const DatasetView& data_;
  int32_t n_draws_;
  int64_t n_features_;
};

// oRF-rnd (Menze et al. 2011, section 2): mtry features standardised in the node, weights N(0, 1).
class GaussianFamily : public Family {
 public:
  GaussianFamily(const FamilySize& size, FamilySettings&) : Family(size) {}

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return std::make_unique<GaussianSampler>(input.data, n_draws, n_nonzeros);
  }
};

}  // namespace

std::shared_ptr<const Family> make_gaussian(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<GaussianFamily>(size, settings);
}

}  // namespace bevel
