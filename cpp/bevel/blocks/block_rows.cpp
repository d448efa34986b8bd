#include "bevel/blocks/block_rows.h"

#include "bevel/blocks/block_walk.h"
#include "bevel/support/thread_pool.h"

namespace bevel {

BlockRows find_rows(const BlockView& block, const BlockRequest& request, size_t n_nodes,
                    int n_threads) {
  std::vector<std::vector<uint32_t>> rows(n_nodes);
  std::vector<std::vector<int32_t>> draws(n_nodes);
  ThreadPool pool(n_threads, request.trees.n_trees(), [&](int, size_t tree) {
    BlockWalk walk(block, request);
    walk.walk(tree, [&](const BlockNode& node) {
      rows[node.slot].assign(node.rows.begin(), node.rows.end());
      draws[node.slot].assign(node.draws.begin(), node.draws.end());
    });
  });
  pool.run();
  BlockRows result;
  result.offset.push_back(0);
  for (size_t node = 0; node < n_nodes; ++node) {
    result.row.insert(result.row.end(), rows[node].begin(), rows[node].end());
    result.draws.insert(result.draws.end(), draws[node].begin(), draws[node].end());
    result.offset.push_back(static_cast<int64_t>(result.row.size()));
  }
  return result;
}

}  // namespace bevel
