// Edges of bins for the values of a direction, from a sample of the rows of a node.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bevel {

// About equally many values lie between two edges. An edge lies in the middle between two
// neighbouring values; none where all values are equal. Sorts the values; those that are not finite
// are left out.
std::vector<float> find_edges(std::vector<float>& values, size_t most_edges);

}  // namespace bevel
