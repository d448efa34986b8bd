#include "bevel/projection/samplers/node_model.h"

#include <algorithm>
#include <stdexcept>

#include "bevel/models/cca.h"
#include "bevel/models/cox.h"
#include "bevel/models/linear_model.h"
#include "bevel/models/logistic.h"
#include "bevel/models/pls.h"
#include "bevel/projection/samplers/ridge_choice.h"

namespace bevel {
namespace {

// oRF-ridge (Menze et al. 2011, section 2): the penalty is fixed, or chosen at the node.
class RidgeNodeModel : public NodeModel {
 public:
  explicit RidgeNodeModel(const ModelSettings& settings) : settings_(settings) {}

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
  const ModelSettings& settings_;
  LinearModel model_;
  RidgeChoice choice_;
  std::vector<ModelDirections> path_;
  std::vector<double> score_;
};

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

class LogisticNodeModel : public NodeModel {
 public:
  explicit LogisticNodeModel(const ModelSettings& settings) : settings_(settings) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>* p_values) override {
    model_.directions(input.sample, settings_.alphas[0], static_cast<size_t>(settings_.n_steps),
                      out, p_values);
  }

 private:
  const ModelSettings& settings_;
  LogisticModel model_;
};

class CoxNodeModel : public NodeModel {
 public:
  explicit CoxNodeModel(const ModelSettings& settings) : settings_(settings) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>*) override {
    model_.directions(input.sample, settings_.alphas[0], static_cast<size_t>(settings_.n_steps),
                      out);
  }

 private:
  const ModelSettings& settings_;
  CoxModel model_;
};

class PlsNodeModel : public NodeModel {
 public:
  explicit PlsNodeModel(const ModelSettings& settings) : settings_(settings) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>*) override {
    model_.directions(input.sample, static_cast<size_t>(settings_.n_components), out);
  }

 private:
  const ModelSettings& settings_;
  PartialLeastSquares model_;
};

// Rainforth & Wood 2015: the correlation is computed on a bootstrap of the node's rows, or on all
// of them if it has a single point or class. Rows of exactly two distinct points are separated
// along their difference.
class CcaNodeModel : public NodeModel {
 public:
  explicit CcaNodeModel(const ModelSettings& settings) : settings_(settings) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>*) override {
    out.clear(input.sample.m);
    if (two_points(input.sample, out)) return;
    if (settings_.bootstrap) {
      draw(input.sample, input.stream);
      model_.directions(drawn_, out);
      if (out.count() > 0) return;
    }
    model_.directions(input.sample, out);
  }

 private:
  // Adds the direction from the first point to the only other one; false when there are more.
  static bool two_points(const NodeSample& s, ModelDirections& out) {
    auto same = [&](size_t a, size_t b) { return std::equal(s.row(a), s.row(a) + s.m, s.row(b)); };
    size_t other = 0;
    for (size_t i = 1; i < s.n; ++i) {
      if (same(i, 0)) continue;
      if (other == 0)
        other = i;
      else if (!same(i, other))
        return false;
    }
    if (other == 0) return true;  // one point: nothing to separate
    for (size_t j = 0; j < s.m; ++j) out.coefficient.push_back(s.row(other)[j] - s.row(0)[j]);
    out.close();
    return true;
  }

  void draw(const NodeSample& s, Stream& stream) {
    times_.assign(s.n, 0.0);
    for (size_t i = 0; i < s.n; ++i) times_[stream.below(s.n)] += 1.0;
    const auto n_drawn = static_cast<size_t>(
        std::count_if(times_.begin(), times_.end(), [](double t) { return t > 0.0; }));
    drawn_.resize(n_drawn, s.m);
    drawn_.n_classes = s.n_classes;
    drawn_.label.resize(s.n_classes > 0 ? n_drawn : 0);
    drawn_.target.resize(s.n_classes > 0 ? 0 : n_drawn);
    size_t k = 0;
    for (size_t i = 0; i < s.n; ++i) {
      if (times_[i] == 0.0) continue;
      std::copy_n(s.row(i), s.m, drawn_.row(k));
      drawn_.weight[k] = times_[i] * s.weight[i];
      if (s.n_classes > 0)
        drawn_.label[k] = s.label[i];
      else
        drawn_.target[k] = s.target[i];
      ++k;
    }
    drop_empty_classes();
  }

  // The model needs rows of every class.
  void drop_empty_classes() {
    if (drawn_.n_classes == 0) return;
    renumbered_.assign(static_cast<size_t>(drawn_.n_classes), -1);
    int32_t n_classes = 0;
    for (int32_t& label : drawn_.label) {
      int32_t& id = renumbered_[label];
      if (id < 0) id = n_classes++;
      label = id;
    }
    drawn_.n_classes = n_classes;
  }

  const ModelSettings& settings_;
  CanonicalCorrelation model_;
  NodeSample drawn_;
  std::vector<double> times_;
  std::vector<int32_t> renumbered_;
};

}  // namespace

std::unique_ptr<NodeModel> make_node_model(const Family& family) {
  switch (family.kind) {
    case FamilyKind::ridge:
      return std::make_unique<RidgeNodeModel>(family.model);
    case FamilyKind::lda:
      return std::make_unique<LdaNodeModel>();
    case FamilyKind::logistic:
      return std::make_unique<LogisticNodeModel>(family.model);
    case FamilyKind::pls:
      return std::make_unique<PlsNodeModel>(family.model);
    case FamilyKind::cca:
      return std::make_unique<CcaNodeModel>(family.model);
    case FamilyKind::cox:
      return std::make_unique<CoxNodeModel>(family.model);
    default:
      throw std::logic_error("[make_node_model] not a family of node models");
  }
}

}  // namespace bevel
