#include "bevel/models/linear_model.h"
#include "bevel/projection/samplers/node_model.h"

namespace bevel {
namespace {

class LdaNodeModel : public NodeModel {
 public:
  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>* p_values) override {
    out.clear(input.sample.m);
    model_.fit(input.sample);
    if (p_values)
      model_.p_values(0.0, out, *p_values);
    else
      model_.lda(out);
  }

 private:
  LinearModel model_;
};

class LdaFamily : public ModelFamily {
 public:
  LdaFamily(const FamilySize& size, FamilySettings& settings) : ModelFamily(size) {
    settings.read("record", &records_p_values_);
  }

  std::unique_ptr<NodeModel> make_model() const override {
    return std::make_unique<LdaNodeModel>();
  }
};

}  // namespace

std::shared_ptr<const Family> make_lda(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<LdaFamily>(size, settings);
}

}  // namespace bevel
