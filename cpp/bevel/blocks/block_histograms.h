// Histograms of a block for the candidates of a request: sums of its rows, bin by bin.
#pragma once

#include <cstdint>

#include "bevel/blocks/block_request.h"
#include "bevel/blocks/block_view.h"

namespace bevel {

// Adds the sums over the rows of a block to `cells`, request.bins.n_cells cells of
// request.grid.cell_size() numbers.
void add_histograms(const BlockView& block, const BlockRequest& request, int n_threads,
                    int64_t* cells);

}  // namespace bevel
