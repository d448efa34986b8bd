#include <utility>

#include "bevel/projection/family.h"
#include "bevel/projection/haar.h"
#include "bevel/projection/samplers/column_samplers.h"

namespace bevel {
namespace {

// Blaser 3.2: d distinct ones of the features and the axes of n_rotations - 1 Haar rotations, which
// are drawn from a stream of the forest and are common to all trees.
class MultiRotationFamily : public Family {
 public:
  MultiRotationFamily(const FamilySize& size, FamilySettings& settings)
      : Family(size), draw_{size.n_nonzeros} {
    settings.read("flip", &draw_.flip);
    settings.read("n_rotations", &n_rotations_);
  }

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    Candidates pool;
    append_forest_axes(input.data, input.forest, pool);
    return make_pool_sampler(std::move(pool), n_draws);
  }
  void append_forest_axes(const DatasetView& data, Stream& forest,
                          Candidates& axes) const override {
    for (int32_t feature : data.numeric) axes.add_axis(feature);
    for (int32_t rotation = 1; rotation < n_rotations_; ++rotation)
      append_rotation(data.numeric, draw_, forest, axes);
  }

 private:
  RotationDraw draw_;
  int32_t n_rotations_ = 1;  // the identity counts as one
};

}  // namespace

std::shared_ptr<const Family> make_multirotation(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<MultiRotationFamily>(size, settings);
}

}  // namespace bevel
