#include "bevel/models/logistic.h"

#include "bevel/projection/samplers/node_model.h"

namespace bevel {
namespace {

class LogisticNodeModel : public NodeModel {
 public:
  LogisticNodeModel(double alpha, int32_t n_steps) : alpha_(alpha), n_steps_(n_steps) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>* p_values) override {
    model_.directions(input.sample, alpha_, static_cast<size_t>(n_steps_), out, p_values);
  }

 private:
  const double alpha_;
  const int32_t n_steps_;
  LogisticModel model_;
};

class LogisticFamily : public ModelFamily {
 public:
  LogisticFamily(const FamilySize& size, FamilySettings& settings) : ModelFamily(size) {
    settings.read("alpha", &alpha_);
    settings.read("n_steps", &n_steps_);
    settings.read("record", &records_p_values_);
  }

  std::unique_ptr<NodeModel> make_model() const override {
    return std::make_unique<LogisticNodeModel>(alpha_, n_steps_);
  }

 private:
  double alpha_ = 0.0;
  int32_t n_steps_ = 0;  // Newton steps
};

}  // namespace

std::shared_ptr<const Family> make_logistic(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<LogisticFamily>(size, settings);
}

}  // namespace bevel
