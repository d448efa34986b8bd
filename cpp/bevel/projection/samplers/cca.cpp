#include "bevel/models/cca.h"

#include <algorithm>
#include <vector>

#include "bevel/projection/samplers/node_model.h"

namespace bevel {
namespace {

// Rainforth & Wood 2015: the correlation is computed on a bootstrap of the node's rows, or on all
// of them if it has a single point or class. Rows of exactly two distinct points are separated
// along their difference.
class CcaNodeModel : public NodeModel {
 public:
  explicit CcaNodeModel(bool bootstrap) : bootstrap_(bootstrap) {}

  void fit(const ModelInput& input, ModelDirections& out, std::vector<double>*) override {
    out.clear(input.sample.m);
    if (two_points(input.sample, out)) return;
    if (bootstrap_) {
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

  const bool bootstrap_;
  CanonicalCorrelation model_;
  NodeSample drawn_;
  std::vector<double> times_;
  std::vector<int32_t> renumbered_;
};

class CcaFamily : public ModelFamily {
 public:
  CcaFamily(const FamilySize& size, FamilySettings& settings) : ModelFamily(size) {
    settings.read("bootstrap", &bootstrap_);
  }

  std::unique_ptr<NodeModel> make_model() const override {
    return std::make_unique<CcaNodeModel>(bootstrap_);
  }

 private:
  bool bootstrap_ = false;  // of the node's rows
};

}  // namespace

std::shared_ptr<const Family> make_cca(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<CcaFamily>(size, settings);
}

}  // namespace bevel
