// Supervised families: a model of the node's rows in a random subspace of the features gives the
// directions. Model samplers read the rows; node models, one per thread, fit the models.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bevel/models/node_sample.h"
#include "bevel/projection/family.h"
#include "bevel/random/stream.h"

namespace bevel {

// Input of a node model.
struct ModelInput {
  const NodeSample& sample;  // the node's rows of the bag
  const NodeSample&
      out_of_bag;  // rows that reach the node but are not in the bag, if the family needs them
  Stream& stream;
  int32_t& inherited;  // left by the parent's model for its children, -1: nothing; then by its own
};

class NodeModel {
 public:
  virtual ~NodeModel() = default;
  // Sets the directions; none if the model fails. p_values: null, or an array for one number per
  // coefficient, filled by models that have them.
  virtual void fit(const ModelInput& input, ModelDirections& out,
                   std::vector<double>* p_values) = 0;
};

class ModelFamily : public Family {
 public:
  using Family::Family;

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const final;
  // One per thread; the family must outlive it.
  virtual std::unique_ptr<NodeModel> make_model() const = 0;
  bool records_p_values() const { return records_p_values_; }

 protected:
  bool records_p_values_ = false;  // of coefficients
};

}  // namespace bevel
