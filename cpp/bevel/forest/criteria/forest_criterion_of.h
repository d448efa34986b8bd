// A criterion behind the interface of forests, for the sources of this folder. `Maker` says how the
// criterion is made for a training set, and how rows become what they carry:
//
//   using Criterion
//   static Criterion criterion(const CriterionData& data)
//   static CarriedStats<Criterion> stats(const CriterionData& data, size_t row, RowWeight w)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "bevel/forest/criteria/forest_criterion.h"
#include "bevel/tree/node_criterion_of.h"

namespace bevel {

template <class Maker>
class ForestCriterionOf final : public ForestCriterion {
 public:
  using Criterion = typename Maker::Criterion;
  static_assert(SplitCriterion<Criterion>,
                "criterion_concept.h says what a criterion has to offer");

  explicit ForestCriterionOf(const CriterionData& data) : data_(data) {}

  std::unique_ptr<NodeCriterion> make(const ProjectionBound& bound,
                                      const Kernels& kernels) const override {
    return std::make_unique<NodeCriterionOf<Criterion>>(data_.options, data_.training.data, bound,
                                                        kernels, Maker::criterion(data_));
  }
  std::unique_ptr<TreeStats> stats(std::span<const uint32_t> rows,
                                   const TrainingRowData& row_data) const override {
    auto result = std::make_unique<TreeStatsOf<CarriedStats<Criterion>>>();
    result->values.reserve(rows.size());
    for (const uint32_t row : rows) {
      RowWeight w{0, row_data.weight(row)};
      if (data_.scales.whole) w.whole = static_cast<int64_t>(w.real);
      result->values.push_back(Maker::stats(data_, row, w));
    }
    return result;
  }

 private:
  const CriterionData& data_;
};

template <class Maker>
std::unique_ptr<ForestCriterion> forest_criterion(const CriterionData& data) {
  return std::make_unique<ForestCriterionOf<Maker>>(data);
}

}  // namespace bevel
