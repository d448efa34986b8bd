#include "bevel/models/cox.h"

#include "bevel/projection/samplers/node_model.h"

namespace bevel {
namespace {

class CoxNodeModel : public NodeModel {
 public:
  CoxNodeModel(double alpha, int32_t n_steps) : alpha_(alpha), n_steps_(n_steps) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>*) override {
    model_.directions(input.sample, alpha_, static_cast<size_t>(n_steps_), out);
  }

 private:
  const double alpha_;
  const int32_t n_steps_;
  CoxModel model_;
};

class CoxFamily : public ModelFamily {
 public:
  CoxFamily(const FamilySize& size, FamilySettings& settings) : ModelFamily(size) {
    settings.read("alpha", &alpha_);
    settings.read("n_steps", &n_steps_);
  }

  std::unique_ptr<NodeModel> make_model() const override {
    return std::make_unique<CoxNodeModel>(alpha_, n_steps_);
  }

 private:
  double alpha_ = 0.0;
  int32_t n_steps_ = 0;  // Newton steps
};

}  // namespace

std::shared_ptr<const Family> make_cox(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<CoxFamily>(size, settings);
}

}  // namespace bevel
