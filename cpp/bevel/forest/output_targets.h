// Targets of several outputs in the form for criteria.
#pragma once

#include "bevel/forest/forest_trainer.h"
#include "bevel/split/output_criteria.h"

namespace bevel {

// A view of the unscaled targets.
OutputTargets read_outputs(const TrainingSet& training);

// Fills `standard`: targets minus the mean of their output, divided by its standard deviation over
// the training rows (by weight), so that splits do not depend on the units of the outputs.
// They are multiplied by a power of two, which is returned, such that sums over a bag of this
// weight are whole numbers below 2^51. With whole weights the targets themselves are whole numbers.
double standardise(const TrainingSet& training, double largest_weight, bool whole_weights,
                   OutputTargets& targets);

}  // namespace bevel
