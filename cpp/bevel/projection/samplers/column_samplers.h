// Samplers that several families use: they draw from directions that exist already.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bevel/projection/sampler.h"

namespace bevel {

// d distinct columns of a list: features, axes of a tree, or nominal columns.
std::unique_ptr<Sampler> make_list_sampler(std::vector<int32_t> columns, int32_t n_draws);
// d distinct directions of a pool that is common to all trees.
std::unique_ptr<Sampler> make_pool_sampler(Candidates pool, int32_t n_draws);

}  // namespace bevel
