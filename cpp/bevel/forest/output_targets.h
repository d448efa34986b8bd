// Targets of several outputs, as criteria read them.
#pragma once

#include "bevel/forest/forest_trainer.h"
#include "bevel/split/output_criteria.h"

namespace bevel {

// A view of the targets as given.
OutputTargets read_outputs(const TrainingSet& training);

// Fills `standard`: targets less the mean of their output, divided by its standard deviation over
// the training rows (by weight), so that units do not decide which output a split is made for.
// They are multiplied by a power of two, which is returned, such that sums over a bag of this
// weight are whole numbers below 2^51. With whole weights the targets themselves are whole numbers.
double standardise(const TrainingSet& training, double largest_weight, bool whole_weights,
                   OutputTargets& targets);

}  // namespace bevel
