#include "bevel/analysis/path_changes.h"

#include <algorithm>
#include <type_traits>

#include "bevel/predict/packed_walk.h"
#include "bevel/predict/row_source.h"

namespace bevel {
namespace {

// The walks of a block down one tree.
template <class Node, bool kHasMissing>
class TreeWalks {
 public:
  TreeWalks(const PackedForest& forest, const Node* nodes, size_t tree, PerturbedBlock& block,
            PathChanges& path_changes)
      : forest_(forest),
        tree_(tree),
        block_(block),
        path_changes_(path_changes),
        n_repeats_(block.perturbation().n_repeats),
        plain_(forest, nodes),
        mixed_(forest, nodes) {}

  void run(std::span<const uint32_t> chosen) {
    for (uint32_t row : chosen) {
      begin_walk();
      if (forest_.axes.empty())
        follow<false>(row);
      else
        follow<true>(row);
    }
    if (forest_.axes.empty())
      walk_on_mixed();
    else
      walk_on_rotated();
  }

 private:
  void begin_walk() {
    if (++path_changes_.walk != 0) return;
    std::fill(path_changes_.diverged.begin(), path_changes_.diverged.end(), 0u);
    path_changes_.walk = 1;
  }

  // Sends a row down; at each split, tests whether the perturbed rows still go the same way.
  template <bool kHasAxes>
  void follow(uint32_t row) {
    float* own = block_.own(row);
    if constexpr (kHasAxes) write_axes(forest_, tree_, !kHasMissing, own, path_changes_.complete);
    Child at = forest_.roots[tree_];
    while (at >= 0) {
      const Child next = plain_.next(at, own);
      plain_.over_places(at, [&](uint32_t place) {
        if constexpr (kHasAxes)
          visit_axes(row, place, at);
        else
          visit_split(row, block_.group(place), at, next);
      });
      at = next;
    }
    path_changes_.own_leaf[row] = ~at;
  }

  void visit_split(uint32_t row, int32_t group, Child at, Child next) {
    if (group < 0) return;
    uint32_t* diverged = &path_changes_.diverged[static_cast<size_t>(group) * n_repeats_];
    for (uint32_t r = 0; r < n_repeats_; ++r) {
      if (diverged[r] == path_changes_.walk) continue;
      const Child child = mixed_.next(at, block_.mixed(row, group, r));
      if (child != next) diverge(row, group, r, child, diverged);
    }
  }

  // A replaced feature changes all axes that combine it: a new walk begins at the first split
  // that reads one of them.
  void visit_axes(uint32_t row, uint32_t place, Child at) {
    const RowLayout& layout = forest_.layout;
    auto positive = static_cast<int32_t>(place);
    if (positive >= layout.n_positive()) positive -= layout.n_positive();
    if (positive < layout.axis(0)) return diverge_once(row, block_.group(place), at);
    const auto axis = static_cast<size_t>(positive - layout.axis(0));
    for (int32_t feature : forest_.axes[tree_].features(axis))
      diverge_once(row, block_.group(static_cast<size_t>(feature)), at);
  }

  void diverge_once(uint32_t row, int32_t group, Child at) {
    if (group < 0) return;
    uint32_t* diverged = &path_changes_.diverged[static_cast<size_t>(group) * n_repeats_];
    if (diverged[0] == path_changes_.walk) return;
    for (uint32_t r = 0; r < n_repeats_; ++r) diverge(row, group, r, at, diverged);
  }

  void diverge(uint32_t row, int32_t group, uint32_t repeat, Child at, uint32_t* diverged) {
    diverged[repeat] = path_changes_.walk;
    path_changes_.found.push_back({row, group, repeat, at, 0});
  }

  void walk_on_mixed() {
    auto& found = path_changes_.found;
    mixed_.template run<false>(
        found.size(),
        [&](size_t i) {
          const PathChange& d = found[i];
          return WalkStart<MixedRow>{d.at, block_.mixed(d.row, d.group, d.repeat)};
        },
        [&](size_t i, int32_t leaf) { found[i].leaf = leaf; });
  }

  // Walks rows whose axes must be computed, a few at a time.
  void walk_on_rotated() {
    constexpr size_t kRows = 64;
    const auto width = static_cast<size_t>(forest_.layout.width());
    path_changes_.rows.resize(kRows * width);
    auto& found = path_changes_.found;
    for (size_t first = 0; first < found.size(); first += kRows) {
      const size_t n = std::min(kRows, found.size() - first);
      for (size_t i = 0; i < n; ++i) write_out(found[first + i], &path_changes_.rows[i * width]);
      plain_.template run<false>(
          n,
          [&](size_t i) {
            return WalkStart<>{found[first + i].at, &path_changes_.rows[i * width]};
          },
          [&](size_t i, int32_t leaf) { found[first + i].leaf = leaf; });
    }
  }

  void write_out(const PathChange& d, float* row) {
    const MixedRow mixed = block_.mixed(d.row, d.group, d.repeat);
    for (size_t f = 0; f < static_cast<size_t>(forest_.layout.n_features); ++f) row[f] = mixed[f];
    write_rest(forest_, row);
    write_axes(forest_, tree_, !kHasMissing, row, path_changes_.complete);
  }

  const PackedForest& forest_;
  const size_t tree_;
  PerturbedBlock& block_;
  PathChanges& path_changes_;
  const size_t n_repeats_;
  const PackedWalk<Node, kHasMissing> plain_;
  const PackedWalk<Node, kHasMissing, MixedRow> mixed_;
};

}  // namespace

void find_path_changes(const PackedForest& forest, size_t tree, std::span<const uint32_t> chosen,
                       PerturbedBlock& block, PathChanges& path_changes) {
  path_changes.found.clear();
  path_changes.diverged.resize(block.perturbation().n_variants(), 0u);
  for (uint32_t row : chosen)
    if (row >= path_changes.own_leaf.size()) path_changes.own_leaf.resize(row + 1);
  std::visit(
      [&](const auto& nodes) {
        using Node = std::remove_cvref_t<decltype(nodes[0])>;
        if (block.is_plain())
          TreeWalks<Node, false>(forest, nodes.data(), tree, block, path_changes).run(chosen);
        else
          TreeWalks<Node, true>(forest, nodes.data(), tree, block, path_changes).run(chosen);
      },
      forest.nodes);
}

}  // namespace bevel
