#include "bevel/analysis/effects/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bevel/analysis/effects/grid_walk.h"
#include "bevel/analysis/effects/line_walk.h"
#include "bevel/analysis/effects/open_splits.h"
#include "bevel/analysis/effects/open_walk.h"
#include "bevel/predict/tree_range.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/thread_pool.h"
#include "bevel/support/wide_loops.h"

namespace bevel {
namespace {

constexpr size_t kFewRows = 128, kManyRows = 512;  // of a block that fits in the cache
constexpr size_t kSumsOfBlock = 1 << 16;
constexpr size_t kWorkOfWalk = 256;  // rough work between polls for cancellation

struct Sizes {
  float largest = 0.0f;
  bool has_missing = false;

  void look_at(const float* values, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      if (std::fabs(values[i]) > largest) largest = std::fabs(values[i]);
      has_missing |= values[i] != values[i];
    }
  }
};

size_t n_variants_of(const Variants& variants) {
  return std::visit([](const auto& given) { return given.n_variants(); }, variants);
}

BEVEL_WIDE_LOOP void add_to_all(double amount, size_t n, double* sums) {
  for (size_t i = 0; i < n; ++i) sums[i] += amount;
}

// Adds the value of a leaf to k x n_variants sums: to each variant of its runs, or to the
// differences between each variant and the one before, which costs the same for runs of any length.
// `runs` calls use(first, last) with each run.
class LeafSums {
 public:
  LeafSums(const PackedForest& forest, const PlainRows& rows, const Variants& variants, bool hard)
      : forest_(forest),
        rows_(rows),
        variants_(variants),
        hard_(hard),
        n_variants_(n_variants_of(variants)) {}

  // Whether the value of a leaf depends on the variant.
  bool has_models() const { return !forest_.leaf_terms.empty(); }

  size_t n_columns() const { return static_cast<size_t>(std::max(1, forest_.n_classes)); }
  size_t width() const { return n_columns() * n_variants_; }

  template <class Runs>
  void add(int32_t leaf, size_t row, const Runs& runs, double* sums) const {
    if (has_models())
      return each_variant(leaf, row, runs, [&](size_t v, double value) { sums[v] += value; });
    each(leaf, [&](int32_t column, double amount) {
      double* of_column = sums + static_cast<size_t>(column) * n_variants_;
      runs.each(
          [&](size_t first, size_t last) { add_to_all(amount, last - first, of_column + first); });
    });
  }

  template <class Runs>
  void add_differences(int32_t leaf, size_t row, double weight, const Runs& runs,
                       double* differences) const {
    if (has_models())
      return each_variant(leaf, row, runs, [&](size_t v, double value) {
        differences[v] += weight * value;
        if (v + 1 < n_variants_) differences[v + 1] -= weight * value;
      });
    each(leaf, [&](int32_t column, double amount) {
      double* of_column = differences + static_cast<size_t>(column) * n_variants_;
      const double weighted = weight * amount;
      runs.each([&](size_t first, size_t last) {
        of_column[first] += weighted;
        if (last < n_variants_) of_column[last] -= weighted;
      });
    });
  }

  // Turns differences into sums.
  void add_up(double* differences) const {
    for (size_t i = 0; i < width(); ++i)
      if (i % n_variants_ != 0) differences[i] += differences[i - 1];
  }

  // Calls use(column, amount) with the prediction of a leaf.
  template <class Use>
  void each(int32_t leaf, Use use) const {
    if (forest_.n_classes == 0) return use(0, forest_.leaf_value[static_cast<size_t>(leaf)]);
    if (hard_ || leaf < forest_.n_classes) return use(forest_.vote_of(leaf), 1.0);
    const auto i = static_cast<size_t>(leaf - forest_.n_classes);
    for (uint32_t e = forest_.share_offset[i]; e < forest_.share_offset[i + 1]; ++e)
      use(forest_.share_class[e], static_cast<double>(forest_.share[e]));
  }

 private:
  // Calls use(variant, value) with the variants of a row in some runs, by the model of a leaf.
  template <class Runs, class Use>
  void each_variant(int32_t leaf, size_t row, const Runs& runs, Use use) const {
    runs.each([&](size_t first, size_t last) {
      for (size_t v = first; v < last; ++v)
        use(v, forest_.value_of(leaf, [&](size_t feature) { return value_at(row, v, feature); }));
    });
  }
  float value_at(size_t row, size_t variant, size_t feature) const {
    const auto changed = std::visit(
        [&](const auto& given) { return value_in(given, row, variant, feature); }, variants_);
    if (changed) return *changed;
    return rows_.values[row * static_cast<size_t>(forest_.layout.n_columns) + feature];
  }
  static std::optional<float> value_in(const FeatureGrid& grid, size_t, size_t variant,
                                       size_t feature) {
    const size_t place[] = {variant % grid.size(0), variant / grid.size(0)};
    for (int axis = 0; axis < grid.n_axes(); ++axis)
      if (static_cast<size_t>(grid.feature[axis]) == feature) return grid.values[axis][place[axis]];
    return {};
  }
  static std::optional<float> value_in(const RowVariants& given, size_t row, size_t variant,
                                       size_t feature) {
    for (size_t k = 0; k < given.features.size(); ++k)
      if (static_cast<size_t>(given.features[k]) == feature) return given.of(row, variant)[k];
    return {};
  }

  const PackedForest& forest_;
  const PlainRows& rows_;
  const Variants& variants_;
  const bool hard_;
  const size_t n_variants_;
};

// Boxes of a grid of two features change four numbers each: differences of differences between
// lines. Lines have one more entry after their last point.
class BoxSums {
 public:
  BoxSums(const LeafSums& leaf_sums, const FeatureGrid& grid, size_t n_groups)
      : leaf_sums_(leaf_sums),
        n_points_(grid.size(0)),
        n_lines_(grid.size(1)),
        sums_(n_groups * leaf_sums.n_columns() * (n_points_ + 1) * n_lines_, 0.0) {}

  void add(int32_t leaf, double weight, size_t group, GridPoint first, GridPoint last) {
    leaf_sums_.each(leaf, [&](int32_t column, double amount) {
      double* of_column = start(group, static_cast<size_t>(column));
      double* line = of_column + first[1] * (n_points_ + 1);
      line[first[0]] += weight * amount;
      line[last[0]] -= weight * amount;
      if (last[1] == n_lines_) return;
      line = of_column + last[1] * (n_points_ + 1);
      line[first[0]] -= weight * amount;
      line[last[0]] += weight * amount;
    });
  }

  // Adds the differences between neighbouring variants of a group to those of its other runs.
  void add_to(size_t group, double* differences) {
    for (size_t column = 0; column < leaf_sums_.n_columns(); ++column) {
      double* line = start(group, column);
      double* out = differences + column * n_points_ * n_lines_;
      for (size_t k = 0; k < n_lines_; ++k, line += n_points_ + 1, out += n_points_) {
        const bool is_last = k + 1 == n_lines_;
        for (size_t point = 0; point < n_points_ + !is_last; ++point) out[point] += line[point];
        if (!is_last)
          for (size_t point = 0; point <= n_points_; ++point)
            line[point + n_points_ + 1] += line[point];
      }
    }
  }

 private:
  double* start(size_t group, size_t column) {
    return &sums_[(group * leaf_sums_.n_columns() + column) * (n_points_ + 1) * n_lines_];
  }

  const LeafSums& leaf_sums_;
  const size_t n_points_, n_lines_;
  std::vector<double> sums_;
};

// Runs that are not boxes of a grid have no such sums.
struct NoBoxSums {
  void add_to(size_t, double*) {}
};

template <class Node, bool kHasMissing>
BoxSums box_sums(const GridWalk<Node, kHasMissing>& walk, const LeafSums& leaf_sums, size_t n) {
  return BoxSums(leaf_sums, walk.grid(), n);
}
template <class Walk>
NoBoxSums box_sums(const Walk&, const LeafSums&, size_t) {
  return {};
}

template <class Walk>
class Curves {
 public:
  Curves(const PackedForest& forest, const PlainRows& rows, const CurveOptions& options,
         const LeafSums& leaf_sums)
      : forest_(forest), rows_(rows), options_(options), leaf_sums_(leaf_sums) {}

  size_t width() const { return leaf_sums_.width(); }

  void predict_block(Walk& walk, size_t first, size_t last, double* out) const {
    std::fill(out + first * width(), out + last * width(), 0.0);
    std::vector<int32_t> n_trees(last - first, 0);
    std::vector<uint32_t> chosen;
    walk.read(rows_.values, first, last - first);
    for (size_t tree = 0; tree < forest_.n_trees(); ++tree) {
      choose(tree, first, last, [](size_t) { return true; }, chosen);
      for (const uint32_t i : chosen) ++n_trees[i];
      add_tree(walk, tree, first, chosen, nullptr, nullptr, out);
    }
    for (size_t row = first; row < last; ++row) {
      const int32_t n = n_trees[row - first];
      for (double* sum = out + row * width(); sum < out + (row + 1) * width(); ++sum)
        *sum = n > 0 ? *sum / static_cast<double>(n) : std::numeric_limits<double>::quiet_NaN();
    }
  }

  void add_trees(Walk& walk, TreeRange trees, const RowGroups& groups, double* out) const {
    std::fill(out, out + groups.n_groups * width(), 0.0);
    Boxes boxes = box_sums(walk, leaf_sums_, groups.n_groups);
    std::vector<uint32_t> chosen;
    for (size_t first = 0; first < rows_.n_rows; first += kManyRows) {
      const size_t last = std::min(rows_.n_rows, first + kManyRows);
      walk.read(rows_.values, first, last - first);
      for (size_t tree = trees.begin; tree < trees.end; ++tree) {
        choose(tree, first, last, [&](size_t row) { return groups.group[row] >= 0; }, chosen);
        add_tree(walk, tree, first, chosen, &groups, &boxes, out);
      }
    }
    for (size_t group = 0; group < groups.n_groups; ++group) {
      boxes.add_to(group, out + group * width());
      leaf_sums_.add_up(out + group * width());
    }
  }

 private:
  using Boxes = decltype(box_sums(std::declval<const Walk&>(), std::declval<const LeafSums&>(), 0));

  template <class Wanted>
  void choose(size_t tree, size_t first, size_t last, Wanted wanted,
              std::vector<uint32_t>& chosen) const {
    const uint8_t* is_evaluated = options_.is_evaluated;
    chosen.clear();
    for (size_t row = first; row < last; ++row)
      if ((!is_evaluated || is_evaluated[row * forest_.n_trees() + tree]) && wanted(row))
        chosen.push_back(static_cast<uint32_t>(row - first));
  }

  // Adds what a tree predicts for some rows of the block that begins at `first`: to the sums of
  // each row, or to the differences of its group. One function for both: walks are long to compile.
  void add_tree(Walk& walk, size_t tree, size_t first, std::span<const uint32_t> chosen,
                const RowGroups* groups, [[maybe_unused]] Boxes* boxes, double* out) const {
    poll_cancellation(chosen.size() * (kWorkOfWalk + width()));
    walk.run(tree, chosen, [&](uint32_t i, int32_t leaf, const auto& runs) {
      const size_t row = first + i;
      if (!groups) return leaf_sums_.add(leaf, row, runs, out + row * width());
      const auto group = static_cast<size_t>(groups->group[row]);
      const double weight = groups->weight.empty() ? 1.0 : groups->weight[row];
      if constexpr (std::is_same_v<Boxes, BoxSums>) {
        if (const auto* box = leaf_sums_.has_models() ? nullptr : runs.box())
          return boxes->add(leaf, weight, group, box->first, box->last);
      }
      leaf_sums_.add_differences(leaf, row, weight, runs, out + group * width());
    });
  }

  const PackedForest& forest_;
  const PlainRows& rows_;
  const CurveOptions& options_;
  const LeafSums& leaf_sums_;
};

// Calls use(walk) with the walk for the kind of variants.
template <class Node, bool kHasMissing, class Use>
void use_walk(const PackedForest& forest, const Node* nodes, std::vector<OpenSplit>& splits,
              const FeatureGrid& grid, Use use) {
  if (grid.n_axes() == 1) {
    LineWalk<Node, kHasMissing>::find_cuts(forest, nodes, grid, splits);
    use(LineWalk<Node, kHasMissing>(forest, nodes, splits, grid));
  } else {
    GridWalk<Node, kHasMissing>::find_cuts(forest, nodes, grid, splits);
    use(GridWalk<Node, kHasMissing>(forest, nodes, splits, grid));
  }
}
template <class Node, bool kHasMissing, class Use>
void use_walk(const PackedForest& forest, const Node* nodes, std::vector<OpenSplit>& splits,
              const RowVariants& variants, Use use) {
  use(VariantWalk<Node, kHasMissing>(forest, nodes, splits, variants));
}

std::span<const int32_t> features_of(const FeatureGrid& grid) {
  return {grid.feature.data(), static_cast<size_t>(grid.n_axes())};
}
std::span<const int32_t> features_of(const RowVariants& variants) { return variants.features; }

void look_at_values(const FeatureGrid& grid, size_t, Sizes& sizes) {
  for (const auto& values : grid.values) sizes.look_at(values.data(), values.size());
}
void look_at_values(const RowVariants& variants, size_t n_rows, Sizes& sizes) {
  sizes.look_at(variants.values, n_rows * variants.n_variants() * variants.features.size());
}

// Calls use(walk) with the walk for the kind of variants, nodes and values.
template <class Use>
void with_walk(const PackedForest& forest, const PlainRows& rows, const Variants& variants,
               Use use) {
  std::visit(
      [&](const auto& nodes, const auto& given) {
        using Node = std::remove_cvref_t<decltype(nodes[0])>;
        Sizes sizes;
        sizes.look_at(forest.medians.data(), static_cast<size_t>(forest.layout.n_features));
        sizes.look_at(rows.values, rows.n_rows * static_cast<size_t>(forest.layout.n_columns));
        const float one = 1.0f;  // of level terms
        sizes.look_at(&one, 1);
        look_at_values(given, rows.n_rows, sizes);
        auto splits = find_open_splits(forest, features_of(given), sizes.largest);
        if (sizes.has_missing || !(sizes.largest <= forest.largest_safe))
          use_walk<Node, true>(forest, nodes.data(), splits, given, use);
        else
          use_walk<Node, false>(forest, nodes.data(), splits, given, use);
      },
      forest.nodes, variants);
}

// The number of rows that share a read of each node, while their sums fit in the cache.
size_t rows_of_block(size_t n_rows_of_thread, size_t width) {
  const size_t most = std::clamp(kSumsOfBlock / width, kFewRows, kManyRows);
  return std::clamp(n_rows_of_thread, kFewRows, most);
}

// Runs work(walk, job) for all jobs, with a walk for each thread.
template <class Walk, class Work>
void run_jobs(const Walk& walk, size_t n_jobs, int n_threads, const CurveProgress& progress,
              Work work) {
  n_threads = useful_threads(n_threads, n_jobs);
  std::vector<Walk> walks(static_cast<size_t>(n_threads), walk);
  ThreadPool pool(n_threads, n_jobs,
                  [&](int worker, size_t job) { work(walks[static_cast<size_t>(worker)], job); });
  pool.run(progress);
}

}  // namespace

void row_curves(const PackedForest& forest, const PlainRows& rows, const Variants& variants,
                const CurveOptions& options, const CurveProgress& progress, double* out) {
  const LeafSums leaf_sums(forest, rows, variants, options.hard);
  with_walk(forest, rows, variants, [&](const auto& walk) {
    const Curves<std::remove_cvref_t<decltype(walk)>> curves(forest, rows, options, leaf_sums);
    const size_t n_threads = static_cast<size_t>(std::max(1, options.n_threads));
    const size_t size = rows_of_block(rows.n_rows / n_threads + 1, leaf_sums.width());
    const size_t n_blocks = (rows.n_rows + size - 1) / size;
    run_jobs(walk, n_blocks, options.n_threads, progress, [&](auto& own, size_t block) {
      const size_t first = block * size;
      curves.predict_block(own, first, std::min(rows.n_rows, first + size), out);
    });
  });
}

void tree_curves(const PackedForest& forest, const PlainRows& rows, const Variants& variants,
                 const RowGroups& groups, size_t n_parts, const CurveOptions& options,
                 const CurveProgress& progress, double* out) {
  const LeafSums leaf_sums(forest, rows, variants, options.hard);
  const auto first_tree = [&](size_t part) { return part * forest.n_trees() / n_parts; };
  with_walk(forest, rows, variants, [&](const auto& walk) {
    const Curves<std::remove_cvref_t<decltype(walk)>> curves(forest, rows, options, leaf_sums);
    run_jobs(walk, n_parts, options.n_threads, progress, [&](auto& own, size_t part) {
      curves.add_trees(own, {first_tree(part), first_tree(part + 1)}, groups,
                       out + part * groups.n_groups * curves.width());
    });
  });
}

}  // namespace bevel
