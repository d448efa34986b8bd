// One block of rows: neighbouring rows of the table, encoded, with their targets and weights.
#pragma once

#include <cstdint>

#include "bevel/data/dataset_view.h"

namespace bevel {

struct BlockView {
  const DatasetView& data;
  const int32_t* labels = nullptr;  // classification
  const double* targets = nullptr;  // regression
  const double* weights = nullptr;  // null: all 1
  uint64_t first_row = 0;           // number of its first row in the table
};

}  // namespace bevel
