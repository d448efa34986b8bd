#include "bevel/predict/packed_predictor.h"

#include <algorithm>
#include <numeric>

#include "bevel/predict/packed_walk.h"
#include "bevel/predict/top_levels/top_levels.h"
#include "bevel/predict/tree_prefetch.h"
#include "bevel/support/arithmetic/float_environment.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Bytes of a block of rows, which shares the second-level cache with the current tree.
constexpr size_t kBlockBytes = 256 * 1024;
constexpr size_t kLeastRows = 16, kMaxRows = 4096;
// Bytes of the sums of a block, of which every thread has one: many classes make blocks smaller.
constexpr size_t kSumsBytes = 4 * 1024 * 1024;
// Below this many walks a thread costs more to start than it saves.
constexpr size_t kLeastWalks = 20000;
// Blocks of at most this many rows are walked through all trees at once, row by row.
constexpr size_t kFewRows = 8;
// All rows of a block pass the top levels while at least one in this many is undecided.
constexpr size_t kRowsPerChosen = 4;
// Trees between two checks of which rows are decided.
constexpr size_t kTreesBetweenLooks = 16;

struct Scratch : BlockScratch {
  TopLevelRows top_levels;
};

// Calls use(walk) with the walk that fits the forest's nodes and the block's rows.
template <class Use>
void with_walk(const PackedForest& forest, const RowBlock& block, Use use) {
  std::visit(
      [&](const auto& nodes) {
        using Node = std::remove_cvref_t<decltype(nodes[0])>;
        if (block.is_plain)
          use(PackedWalk<Node, false>(forest, nodes.data()));
        else
          use(PackedWalk<Node, true>(forest, nodes.data()));
      },
      forest.nodes);
}

// Writes the values of the tree's axes after each row.
void add_axes(const PackedForest& forest, size_t tree, const RowBlock& block, Scratch& scratch) {
  for (size_t i = 0; i < block.n; ++i)
    write_axes(forest, tree, block.is_plain, scratch.rows.data() + i * block.stride,
               scratch.complete);
}

// Leaves of the rows `chosen` of a block in one tree.
template <class Walk>
void walk_tree(const PackedForest& forest, const Walk& walk, size_t tree, const RowBlock& block,
               std::span<const int32_t> chosen, Scratch& scratch) {
  if (!forest.axes.empty()) add_axes(forest, tree, block, scratch);
  const Child root = forest.roots[tree];
  const bool has_top_levels =
      !scratch.top_levels.empty() && chosen.size() * kRowsPerChosen >= block.n;
  const Child* below = has_top_levels ? scratch.top_levels.pass(forest, tree) : nullptr;
  int32_t* leaf = scratch.leaf.data();
  TreePrefetch ahead(walk.splits(tree + 1), chosen.size());
  walk.template run<false>(
      chosen.size(),
      [&](size_t i) {
        ahead.fetch_some();
        const auto row = static_cast<size_t>(chosen[i]);
        return WalkStart<>{below ? below[row] : root, block.row(row)};
      },
      [&](size_t i, int32_t reached) { leaf[i] = reached; });
}

// Leaves of a row in trees [first, last).
template <class Walk>
void walk_trees(const PackedForest& forest, const Walk& walk, size_t first, size_t last,
                const float* row, std::vector<int32_t>& leaf) {
  std::vector<size_t> walked;
  for (size_t t = first; !forest.repeats.empty() && t < last; ++t)
    if (t == first || !forest.repeats[t]) walked.push_back(t);
  const bool all = forest.repeats.empty();
  walk.template run<true>(
      all ? last - first : walked.size(),
      [&](size_t i) { return WalkStart<>{forest.roots[all ? first + i : walked[i]], row}; },
      [&](size_t i, int32_t reached) { leaf[all ? i : walked[i] - first] = reached; });
  for (size_t t = first + 1; !all && t < last; ++t)
    if (forest.repeats[t]) leaf[t - first] = leaf[t - first - 1] + forest.leaves_before(t);
}

// Adds the shares of leaves to the sums of their rows.
class SoftVotes {
 public:
  explicit SoftVotes(const PackedForest& forest) : forest_(forest) {}
  size_t width() const { return static_cast<size_t>(forest_.n_classes); }
  void add(int32_t leaf, size_t, const float*, double* sums) const {
    if (leaf < forest_.n_classes) {
      sums[leaf] += 1.0;
      return;
    }
    const auto i = static_cast<size_t>(leaf - forest_.n_classes);
    for (uint32_t e = forest_.share_offset[i]; e < forest_.share_offset[i + 1]; ++e)
      sums[forest_.share_class[e]] += forest_.share[e];
  }

 private:
  const PackedForest& forest_;
};

class HardVotes {
 public:
  explicit HardVotes(const PackedForest& forest) : forest_(forest) {}
  size_t width() const { return static_cast<size_t>(forest_.n_classes); }
  void add(int32_t leaf, size_t, const float*, double* sums) const {
    sums[forest_.vote_of(leaf)] += 1.0;
  }

 private:
  const PackedForest& forest_;
};

// Votes of several outputs.
class OutputVotes {
 public:
  explicit OutputVotes(const PackedForest& forest) : forest_(forest) {}
  size_t width() const { return static_cast<size_t>(forest_.n_classes); }
  void add(int32_t leaf, size_t, const float*, double* sums) const {
    const size_t first = static_cast<size_t>(leaf - forest_.n_classes) * forest_.n_outputs;
    for (size_t k = 0; k < forest_.n_outputs; ++k) sums[forest_.vote[first + k]] += 1.0;
  }

 private:
  const PackedForest& forest_;
};

class Values {
 public:
  explicit Values(const PackedForest& forest) : forest_(forest) {}
  size_t width() const { return 1; }
  void add(int32_t leaf, size_t, const float* row, double* sums) const {
    sums[0] += forest_.value_of(leaf, row);
  }

 private:
  const PackedForest& forest_;
};

// Leaves with a value for each of several outputs.
class LeafVectors {
 public:
  explicit LeafVectors(const PackedForest& forest) : forest_(forest) {}
  size_t width() const { return forest_.n_outputs; }
  void add(int32_t leaf, size_t, const float*, double* sums) const {
    const double* values = &forest_.output_value[static_cast<size_t>(leaf) * forest_.n_outputs];
    for (size_t k = 0; k < forest_.n_outputs; ++k) sums[k] += values[k];
  }

 private:
  const PackedForest& forest_;
};

// Leaf values of trees that belong to several outputs in turn.
class OutputValues {
 public:
  OutputValues(const PackedForest& forest, size_t n_outputs)
      : forest_(forest), n_outputs_(n_outputs) {}
  size_t width() const { return n_outputs_; }
  void add(int32_t leaf, size_t tree, const float* row, double* sums) const {
    sums[tree % n_outputs_] += forest_.value_of(leaf, row);
  }

 private:
  const PackedForest& forest_;
  const size_t n_outputs_;
};

// Rough work of a tree on the rows of a block, including the projection on its axes.
size_t work_of_tree(const PackedForest& forest, const RowBlock& block, size_t n_chosen) {
  constexpr size_t kWorkOfWalk = 64;
  const auto n_axes = static_cast<size_t>(forest.layout.n_axes);
  return n_chosen * kWorkOfWalk + block.n * n_axes * static_cast<size_t>(forest.layout.n_features);
}

// The end of some symmetric trees that begin with `first`: as many as stay in the innermost cache
// while groups of rows pass them.
size_t end_of_symmetric(const PackedForest& forest, size_t first, size_t last) {
  constexpr size_t kTogether = 16;
  size_t end = first + 1;
  while (end < last && end - first < kTogether && forest.symmetric.has(end)) ++end;
  return end;
}

// Adds trees [first, last) to the sums of the chosen rows. All rows are chosen in forests of
// values.
template <class Walk, class Leaves>
void add_trees(const PackedForest& forest, const Walk& walk, const Leaves& leaves, size_t first,
               size_t last, const RowBlock& block, std::span<const int32_t> chosen,
               Scratch& scratch, double* sums) {
  const size_t width = leaves.width();
  if (chosen.size() <= kFewRows && forest.axes.empty()) {
    scratch.leaf.resize(std::max(scratch.leaf.size(), last - first));
    for (int32_t row : chosen) {
      walk_trees(forest, walk, first, last, block.row(static_cast<size_t>(row)), scratch.leaf);
      for (size_t t = 0; t < last - first; ++t)
        leaves.add(scratch.leaf[t], first + t, block.row(static_cast<size_t>(row)),
                   sums + static_cast<size_t>(row) * width);
    }
    return;
  }
  scratch.leaf.resize(std::max(scratch.leaf.size(), chosen.size()));
  bool walked = false;  // whether the leaves are those of the tree before
  for (size_t tree = first; tree < last; ++tree) {
    poll_cancellation(work_of_tree(forest, block, chosen.size()));
    if (!scratch.top_levels.empty() && forest.symmetric.has(tree)) {
      const TreeRange some{tree, end_of_symmetric(forest, tree, last)};
      scratch.top_levels.add_symmetric(forest, some, width, sums);
      tree = some.end - 1;
      walked = false;
      continue;
    }
    if (tree > first && forest.is_repeated(tree) && walked)
      for (size_t i = 0; i < chosen.size(); ++i) scratch.leaf[i] += forest.leaves_before(tree);
    else
      walk_tree(forest, walk, tree, block, chosen, scratch);
    walked = true;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const auto row = static_cast<size_t>(chosen[i]);
      leaves.add(scratch.leaf[i], tree, block.row(row), sums + row * width);
    }
  }
}

std::vector<int32_t> all_rows(size_t n) {
  std::vector<int32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Runs work(first, last, scratch) over blocks of rows; threads only where there is enough to do.
// most_rows: of a block.
template <class Work>
void over_blocks(const PackedForest& forest, size_t n_rows, int n_threads, Work work,
                 size_t most_rows = kMaxRows) {
  const size_t row_bytes = static_cast<size_t>(forest.layout.width()) * sizeof(float);
  const size_t least_rows = std::min(kLeastRows, most_rows);
  size_t n_block = std::clamp(kBlockBytes / row_bytes, least_rows, most_rows);
  if (n_rows < 2 * kLeastRows || n_rows * forest.n_trees() < kLeastWalks) n_threads = 1;
  if (n_threads > 1) n_threads = useful_threads(n_threads, n_rows / kLeastRows);
  if (n_threads <= 1) {
    const PlainArithmetic arithmetic;
    Scratch scratch;
    for (size_t first = 0; first < n_rows; first += n_block)
      work(first, std::min(n_rows, first + n_block), scratch);
    return;
  }
  // Equal blocks, and equally many for every thread.
  const size_t n_shares = static_cast<size_t>(n_threads) * 2;
  const size_t n_rounds = (n_rows + n_block * n_shares - 1) / (n_block * n_shares);
  n_block = std::max(least_rows, (n_rows + n_rounds * n_shares - 1) / (n_rounds * n_shares));
  const size_t n_blocks = (n_rows + n_block - 1) / n_block;
  std::vector<Scratch> scratches(static_cast<size_t>(n_threads));
  ThreadPool pool(n_threads, n_blocks, [&](int worker, size_t b) {
    work(b * n_block, std::min(n_rows, (b + 1) * n_block), scratches[static_cast<size_t>(worker)]);
  });
  pool.run();
}

// Means over the trees of leaf contributions; out: n_rows x leaves.width().
template <class Leaves>
void predict_means(const PackedForest& forest, const RowSource& rows, const Leaves& leaves,
                   int n_threads, double* out) {
  const size_t width = leaves.width();
  over_blocks(forest, rows.n_rows(), n_threads, [&](size_t first, size_t last, Scratch& scratch) {
    const RowBlock block = rows.read(first, last, forest, scratch);
    scratch.top_levels.read(forest, block);
    const std::vector<int32_t> chosen = all_rows(block.n);
    double* sums = out + first * width;
    std::fill(sums, sums + block.n * width, 0.0);
    with_walk(forest, block, [&](const auto& walk) {
      add_trees(forest, walk, leaves, 0, forest.n_trees(), block, chosen, scratch, sums);
    });
    const auto n_trees = static_cast<double>(forest.n_trees());
    for (size_t i = 0; i < block.n * width; ++i) sums[i] /= n_trees;
  });
}

// Whether the remaining trees cannot change the first of the highest sums. A tree adds at most
// one to a class; sums are rounded, by far less than the margin.
bool is_decided(const double* sums, size_t n_classes, size_t n_left) {
  constexpr double kMargin = 1e-3;
  double best = sums[0], second = -1.0;
  for (size_t k = 1; k < n_classes; ++k) {
    second = std::max(second, std::min(best, sums[k]));
    best = std::max(best, sums[k]);
  }
  return best - second > static_cast<double>(n_left) + kMargin;
}

template <class Votes>
void predict_classes(const PackedForest& forest, const RowSource& rows, const Votes& votes,
                     int n_threads, int32_t* out) {
  const size_t k = votes.width();
  const auto predict_block = [&](size_t first, size_t last, Scratch& scratch) {
    const RowBlock block = rows.read(first, last, forest, scratch);
    scratch.top_levels.read(forest, block);
    std::vector<int32_t> open = all_rows(block.n);
    std::vector<double> sums(block.n * k, 0.0);
    with_walk(forest, block, [&](const auto& walk) {
      for (size_t tree = 0; tree < forest.n_trees() && !open.empty();) {
        const size_t next = std::min(forest.n_trees(), tree + kTreesBetweenLooks);
        add_trees(forest, walk, votes, tree, next, block, open, scratch, sums.data());
        tree = next;
        std::erase_if(open, [&](int32_t i) {
          return is_decided(&sums[static_cast<size_t>(i) * k], k, forest.n_trees() - tree);
        });
      }
    });
    // Compares probabilities, whose rounding may turn different sums into ties.
    const auto n_trees = static_cast<double>(forest.n_trees());
    for (double& sum : sums) sum /= n_trees;
    for (size_t i = 0; i < block.n; ++i) {
      const auto own = sums.begin() + static_cast<int64_t>(i * k);
      out[first + i] =
          static_cast<int32_t>(std::max_element(own, own + static_cast<int64_t>(k)) - own);
    }
  };
  const size_t most_rows = std::clamp<size_t>(kSumsBytes / sizeof(double) / k, 1, kMaxRows);
  over_blocks(forest, rows.n_rows(), n_threads, predict_block, most_rows);
}

}  // namespace

void predict_proba(const PackedForest& forest, const RowSource& rows, Voting voting, int n_threads,
                   double* out) {
  if (voting == Voting::hard && forest.n_outputs > 0)
    predict_means(forest, rows, OutputVotes(forest), n_threads, out);
  else if (voting == Voting::hard)
    predict_means(forest, rows, HardVotes(forest), n_threads, out);
  else
    predict_means(forest, rows, SoftVotes(forest), n_threads, out);
}

void predict_class(const PackedForest& forest, const RowSource& rows, Voting voting, int n_threads,
                   int32_t* out) {
  if (voting == Voting::hard)
    predict_classes(forest, rows, HardVotes(forest), n_threads, out);
  else
    predict_classes(forest, rows, SoftVotes(forest), n_threads, out);
}

void predict_value(const PackedForest& forest, const RowSource& rows, int n_threads, double* out) {
  if (forest.n_outputs > 0) return predict_means(forest, rows, LeafVectors(forest), n_threads, out);
  predict_means(forest, rows, Values(forest), n_threads, out);
}

void add_values(const PackedForest& forest, const RowSource& rows, TreeRange trees,
                size_t n_outputs, int n_threads, double* out) {
  const OutputValues leaves(forest, n_outputs);
  over_blocks(forest, rows.n_rows(), n_threads, [&](size_t first, size_t last, Scratch& scratch) {
    const RowBlock block = rows.read(first, last, forest, scratch);
    scratch.top_levels.read(forest, block);
    const std::vector<int32_t> chosen = all_rows(block.n);
    with_walk(forest, block, [&](const auto& walk) {
      add_trees(forest, walk, leaves, trees.begin, trees.end, block, chosen, scratch,
                out + first * n_outputs);
    });
  });
}

}  // namespace bevel
