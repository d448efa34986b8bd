"""Growth over blocks of rows: the table is never in one place.

A *block* is some neighbouring rows of the table, encoded in float32, with targets and weights
(`Block`). It may be in memory, in a file, or at a worker of a cluster. The coordinator
(`growing.grow_over_blocks`) has no rows. It talks to the blocks through `Blocks`, which has two
methods with arrays in and arrays out:

- `histograms(request, n_numbers)`: sums over the rows of all blocks, in whole numbers, for the
  nodes and candidates that the request names. The request is bytes. A block answers by
  `block.add_histograms`; answers of blocks are added in any order.
- `subtrees(request, nodes, task)`: the subtrees of nodes that have become small. A block finds its
  rows of these nodes by `block.rows_of_nodes`; rows of a node from all blocks, in the order of the
  blocks, are joined by `block.join_rows`, and `block.grow_subtree` grows its subtree, anywhere.

These four functions are pure: they depend on their arguments alone, and any block may be asked
again. Nothing is remembered at a block between two requests: a request holds the trees as far as
they are grown. A worker that is lost costs time only.

What must be known of the table before is in `BlockedTable`: the encoding, totals, and a sample of
rows chosen by their number. The forest depends on the rows and their order, the options and the
seed; never on the number of blocks, their sizes, threads, workers or memory.
"""
