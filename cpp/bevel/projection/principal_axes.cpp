#include "bevel/projection/principal_axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "bevel/projection/principal_components.h"
#include "bevel/projection/sample_without_replacement.h"

namespace bevel {
namespace {

// The draws of the tree's bag, class by class, from which groups draw their own rows.
class Bootstrap {
 public:
  Bootstrap(const TreeRows& tree, bool by_class, double share) : tree_(tree), share_(share) {
    const TrainingRowData& row_data = tree.row_data;
    by_class_.resize(static_cast<size_t>(by_class ? row_data.n_classes : 1));
    for (size_t i = 0; i < tree.rows.size(); ++i) {
      const uint32_t row = tree.rows[i];
      auto& drawings = by_class_[by_class ? static_cast<size_t>(row_data.labels[row]) : 0];
      drawings.insert(drawings.end(), static_cast<size_t>(row_data.times_drawn(row)),
                      static_cast<uint32_t>(i));
    }
  }

  // Draws rows and weights of a new sample, valid until the next one.
  void draw(Stream& stream) {
    choose_classes(stream);
    std::vector<uint32_t> times(tree_.rows.size(), 0);
    const auto wanted = static_cast<uint64_t>(
        std::max(1.0, std::floor(share_ * static_cast<double>(pool_.size()) + 0.5)));
    for (uint64_t i = 0; i < wanted; ++i) ++times[pool_[stream.below(pool_.size())]];
    rows.clear();
    weights.clear();
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      const uint32_t row = tree_.rows[i];
      rows.push_back(row);
      weights.push_back(times[i] * (tree_.row_data.weight(row) / tree_.row_data.times_drawn(row)));
    }
  }

  std::vector<uint32_t> rows;
  std::vector<double> weights;

 private:
  // Chooses classes for the pool; every set of classes with rows is equally likely.
  void choose_classes(Stream& stream) {
    if (by_class_.size() == 1) {
      pool_ = by_class_[0];
      return;
    }
    pool_.clear();
    while (pool_.empty()) {
      uint64_t bits = 0;
      for (size_t c = 0; c < by_class_.size(); ++c) {
        if (c % 64 == 0) bits = stream.next();
        if (bits >> (c % 64) & 1)
          pool_.insert(pool_.end(), by_class_[c].begin(), by_class_[c].end());
      }
    }
  }

  const TreeRows& tree_;
  const double share_;
  std::vector<std::vector<uint32_t>> by_class_;  // positions in the tree's rows
  std::vector<uint32_t> pool_;
};

}  // namespace

void append_principal_axes(const PrincipalGroups& groups, const DatasetView& data,
                           const TreeRows& tree, Stream& stream, Candidates& axes) {
  std::vector<const float*> columns(static_cast<size_t>(data.n_features));
  for (int32_t f : data.numeric) columns[static_cast<size_t>(f)] = data.column(f);
  Bootstrap bootstrap(tree, groups.by_class, groups.share);
  SampleWithoutReplacement undrawn;
  undrawn.resize(static_cast<int32_t>(data.numeric.size()));
  while (!undrawn.empty()) {
    std::vector<int32_t> group;
    while (static_cast<int64_t>(group.size()) < groups.size && !undrawn.empty())
      group.push_back(data.numeric[static_cast<size_t>(undrawn.draw(stream))]);
    std::sort(group.begin(), group.end());
    bootstrap.draw(stream);
    const PrincipalComponents components = principal_components(
        std::move(group), {columns.data(), bootstrap.rows, bootstrap.weights}, data.medians);
    for (size_t c = 0; c < components.size(); ++c) components.append_to(axes, c);
  }
}

}  // namespace bevel
