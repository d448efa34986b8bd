// Values of directions on rows of the sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/projection/candidates.h"

namespace bevel {

std::vector<float> values_of_sample(const DatasetView& sample, const Candidates& directions,
                                    size_t direction, std::span<const uint32_t> rows);

}  // namespace bevel
