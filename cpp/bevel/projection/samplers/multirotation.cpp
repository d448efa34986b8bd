#include <utility>

#include "bevel/projection/haar.h"
#include "bevel/projection/samplers/samplers.h"

namespace bevel {

void append_multirotation(const Family& family, const DatasetView& data, Stream& forest,
                          Candidates& pool) {
  for (int32_t feature : data.numeric) pool.add_axis(feature);
  for (int32_t rotation = 1; rotation < family.n_rotations; ++rotation)
    append_rotation(data.numeric, rotation_draw(family), forest, pool);
}

std::unique_ptr<Sampler> make_multirotation_sampler(const Family& family, const DatasetView& data,
                                                    Stream& forest) {
  Candidates pool;
  append_multirotation(family, data, forest, pool);
  return make_pool_sampler(std::move(pool), family.n_draws);
}

}  // namespace bevel
