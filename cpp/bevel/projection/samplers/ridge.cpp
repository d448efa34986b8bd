#include <array>
#include <utility>
#include <vector>

#include "bevel/models/linear_model.h"
#include "bevel/projection/samplers/node_model.h"
#include "bevel/projection/samplers/ridge_choice.h"

namespace bevel {
namespace {

enum class Tuning : uint8_t { cross_validation, out_of_bag };
constexpr std::array kTuningNames{"cross_validation", "out_of_bag"};

struct RidgeSettings {
  std::vector<double> alphas;              // ascending penalties
  Tuning tune = Tuning::cross_validation;  // how the penalty is chosen at a node
  bool parent_when_exhausted = false;      // without rows out of the bag: the parent's penalty
};

// oRF-ridge (Menze et al. 2011, section 2): the penalty is fixed, or chosen at the node.
class RidgeNodeModel : public NodeModel {
 public:
  explicit RidgeNodeModel(const RidgeSettings& settings) : settings_(settings) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>* p_values) override {
    out.clear(input.sample.m);
    const bool exhausted = settings_.tune == Tuning::out_of_bag && input.out_of_bag.n == 0;
    if (exhausted && (!settings_.parent_when_exhausted || input.inherited < 0)) return;
    model_.fit(input.sample);
    int32_t chosen = 0;
    if (exhausted) {
      chosen = input.inherited;
    } else if (settings_.tune == Tuning::out_of_bag) {
      model_.ridge_path(settings_.alphas, path_);
      chosen = choice_.choose(input.sample, input.out_of_bag, path_);
      if (chosen < 0) return;
    } else {
      chosen = static_cast<int32_t>(model_.gcv(settings_.alphas, score_));
    }
    input.inherited = chosen;
    if (p_values) {
      model_.p_values(settings_.alphas[chosen], out, *p_values);
    } else {
      model_.ridge_path({&settings_.alphas[chosen], 1}, path_);
      std::swap(out, path_[0]);
    }
  }

 private:
  const RidgeSettings& settings_;
  LinearModel model_;
  RidgeChoice choice_;
  std::vector<ModelDirections> path_;
  std::vector<double> score_;
};

class RidgeFamily : public ModelFamily {
 public:
  RidgeFamily(const FamilySize& size, FamilySettings& settings) : ModelFamily(size) {
    settings.read("alphas", &settings_.alphas);
    settings.read_name("tune", kTuningNames, settings_.tune);
    settings.read("parent_when_exhausted", &settings_.parent_when_exhausted);
    settings.read("record", &records_p_values_);
  }

  std::unique_ptr<NodeModel> make_model() const override {
    return std::make_unique<RidgeNodeModel>(settings_);
  }
  bool needs_out_of_bag() const override { return settings_.tune == Tuning::out_of_bag; }

 private:
  RidgeSettings settings_;
};

}  // namespace

std::shared_ptr<const Family> make_ridge(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<RidgeFamily>(size, settings);
}

}  // namespace bevel
