#include <algorithm>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/projection/principal_axes.h"
#include "bevel/projection/principal_components.h"

namespace bevel {
namespace {

class PrincipalSampler : public Sampler {
 public:
  PrincipalSampler(const DatasetView& data, int32_t n_draws, int64_t group_size)
      : data_(data),
        n_draws_(std::min<int32_t>(n_draws, static_cast<int32_t>(data.numeric.size()))),
        group_size_(group_size) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(data_.numeric.size()));
  }
  void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    scratch.weights.resize(node.rows.size());
    for (size_t i = 0; i < node.rows.size(); ++i)
      scratch.weights[i] = node.row_data->weight(node.data_row(i));
    const WeightedRows rows{node.columns, node.rows, scratch.weights};
    size_t wanted = static_cast<size_t>(n_draws_);
    while (wanted > 0 && !scratch.subset.empty()) {
      const PrincipalComponents components =
          principal_components(deal_group(stream, scratch), rows, data_.medians);
      wanted -= append_some(components, wanted, stream, out);
    }
    scratch.subset.reset();
  }

 private:
  std::vector<int32_t> deal_group(Stream& stream, SamplerScratch& scratch) const {
    std::vector<int32_t> group;
    while (static_cast<int64_t>(group.size()) < group_size_ && !scratch.subset.empty())
      group.push_back(data_.numeric[static_cast<size_t>(scratch.subset.draw(stream))]);
    std::sort(group.begin(), group.end());
    return group;
  }
  // Appends all nonzero components, or a uniform random subset if they are more than needed.
  static size_t append_some(const PrincipalComponents& components, size_t wanted, Stream& stream,
                            Candidates& out) {
    size_t left = 0, taken = 0;
    for (size_t c = 0; c < components.size(); ++c) left += components.is_nonzero(c);
    const bool take_all = left <= wanted;
    for (size_t c = 0; c < components.size(); ++c) {
      if (!components.is_nonzero(c)) continue;
      if (take_all || stream.below(left) < wanted - taken) {
        components.append_to(out, c);
        ++taken;
      }
      --left;
    }
    return taken;
  }

  const DatasetView& data_;
  int32_t n_draws_;
  int64_t group_size_;
};

// Rotation Forest: principal components of random groups of features, per tree; or, as in Tomita's
// thesis, Table 3.1, on the rows of each node, where those of eigenvalue zero are not candidates.
class PrincipalFamily : public Family {
 public:
  PrincipalFamily(const FamilySize& size, FamilySettings& settings) : Family(size) {
    settings.read("per_node", &per_node_);
    settings.read("share", &share_);
  }

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return std::make_unique<PrincipalSampler>(input.data, n_draws, n_nonzeros);
  }
  bool per_tree() const override { return !per_node_; }
  void append_tree_axes(const DatasetView& data, const TreeRows& tree, bool by_class,
                        Stream& stream, Candidates& axes) const override {
    append_principal_axes({n_nonzeros, share_, by_class}, data, tree, stream, axes);
  }

 private:
  bool per_node_ = false;
  double share_ = 1.0;  // per tree: share of the rows that a group learns from
};

}  // namespace

std::shared_ptr<const Family> make_principal(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<PrincipalFamily>(size, settings);
}

}  // namespace bevel
