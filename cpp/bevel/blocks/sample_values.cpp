#include "bevel/blocks/sample_values.h"

#include "bevel/split/kernels/kernels.h"

namespace bevel {

std::vector<float> values_of_sample(const DatasetView& sample, const Candidates& directions,
                                    size_t direction, std::span<const uint32_t> rows) {
  const int n = directions.n_nonzeros(direction);
  std::vector<const float*> columns(static_cast<size_t>(n));
  std::vector<float> fill(static_cast<size_t>(n));
  for (int k = 0; k < n; ++k) {
    const int32_t feature = directions.indices(direction)[k];
    columns[k] = sample.column(feature);
    fill[k] = sample.medians[feature];
  }
  std::vector<float> values(rows.size());
  const Projection projection{columns.data(), directions.weights(direction),
                              n > 1 ? fill.data() : nullptr, n};
  kernels("auto").project(projection, rows.data(), rows.size(), values.data());
  return values;
}

}  // namespace bevel
