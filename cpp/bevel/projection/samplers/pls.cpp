#include "bevel/models/pls.h"

#include "bevel/projection/samplers/node_model.h"

namespace bevel {
namespace {

class PlsNodeModel : public NodeModel {
 public:
  explicit PlsNodeModel(int32_t n_components) : n_components_(n_components) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>*) override {
    model_.directions(input.sample, static_cast<size_t>(n_components_), out);
  }

 private:
  const int32_t n_components_;
  PartialLeastSquares model_;
};

class PlsFamily : public ModelFamily {
 public:
  PlsFamily(const FamilySize& size, FamilySettings& settings) : ModelFamily(size) {
    settings.read("n_components", &n_components_);
  }

  std::unique_ptr<NodeModel> make_model() const override {
    return std::make_unique<PlsNodeModel>(n_components_);
  }

 private:
  int32_t n_components_ = 0;
};

}  // namespace

std::shared_ptr<const Family> make_pls(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<PlsFamily>(size, settings);
}

}  // namespace bevel
