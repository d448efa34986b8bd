// A sparse matrix in row-major order.
#pragma once

#include <cstdint>
#include <vector>

namespace bevel {

// Row r has the entries offset[r] to offset[r + 1] - 1; columns ascend within a row.
struct SparseRows {
  std::vector<int64_t> offset;
  std::vector<int32_t> column;
  std::vector<double> value;
};

}  // namespace bevel
