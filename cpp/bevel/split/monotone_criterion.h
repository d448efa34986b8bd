// A criterion that rejects cuts whose sides are in the wrong order: where predictions must not fall
// along a direction, the left side's mean must not exceed the right one's.
#pragma once

#include "bevel/split/criterion.h"
#include "bevel/split/pair_score.h"

namespace bevel {

// Base: a PairCriterion of wide pairs. Cuts are found by sorting, since bins and their bounds
// ignore the order of means.
template <class Base>
class MonotoneCriterion : public Base {
 public:
  using RowStats = typename Base::RowStats;
  static constexpr bool kIsPair = false;
  static constexpr bool kRejectsCuts = true;

  explicit MonotoneCriterion(Base base) : Base(std::move(base)) {}

  // Sets the push of the candidates searched next; see DirectionConstraints::push.
  void set_push(int push) { push_ = push; }
  // Mean of the node, in units that rise with the mean target.
  double mean() const { return this->totals().sum / this->totals().weight; }

  class Accumulator : public Base::Accumulator {
   public:
    explicit Accumulator(const MonotoneCriterion& criterion)
        : Base::Accumulator(criterion), totals_(criterion.totals()), push_(criterion.push_) {}
    void begin() {
      Base::Accumulator::begin();
      left_ = {0, 0};
    }
    void add(RowStats stats) {
      Base::Accumulator::add(stats);
      left_ = left_ + widen(stats);
    }
    double score() const {
      const double excess = static_cast<double>(left_.sum) * totals_.weight -
                            static_cast<double>(left_.weight) * totals_.sum;
      return push_ * excess > 0.0 ? kNoScore : Base::Accumulator::score();
    }

   private:
    PairTotals totals_;
    int push_;
    WidePair left_{0, 0};
  };

 private:
  int push_ = 0;
};

}  // namespace bevel
