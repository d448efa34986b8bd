#include "bevel/analysis/error_increase.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "bevel/analysis/path_changes.h"
#include "bevel/support/arithmetic/grid_scale.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// The work space of one thread.
struct ErrorScratch {
  PerturbedBlock block;
  PathChanges path_changes;
  std::vector<uint32_t> rows, donors, chosen;
  std::vector<int64_t> sums, changes;
  std::vector<int32_t> n_trees_of_row;
};

std::vector<std::unique_ptr<ErrorScratch>> make_scratches(const PackedForest& forest,
                                                          const Perturbation& perturbation,
                                                          int n_threads) {
  const bool plain = is_plain(perturbation, forest);
  std::vector<std::unique_ptr<ErrorScratch>> places;
  for (int w = 0; w < n_threads; ++w)
    places.push_back(std::make_unique<ErrorScratch>(
        ErrorScratch{PerturbedBlock(perturbation, forest, plain), {}, {}, {}, {}, {}, {}, {}}));
  return places;
}

// Error of one tree that sends a row to a leaf.
double leaf_error(const PackedForest& forest, const EvaluatedRows& rows, size_t row, int32_t leaf) {
  if (forest.n_classes == 0) {
    const double error = rows.targets[row] - forest.leaf_value[static_cast<size_t>(leaf)];
    return error * error;
  }
  return forest.vote_of(leaf) == rows.labels[row] ? 0.0 : 1.0;
}

// One tree on the rows it is evaluated on.
class TreeJob {
 public:
  TreeJob(const PackedForest& forest, const Perturbation& perturbation, const EvaluatedRows& rows,
          TreeErrors& errors)
      : forest_(forest), perturbation_(perturbation), rows_(rows), errors_(errors) {}

  void run(size_t tree, ErrorScratch& place) {
    const size_t n_variants = perturbation_.n_variants();
    double* increase = &errors_.increase[tree * n_variants];
    const double weight = find_rows(tree, place);
    if (!(weight > 0.0)) {
      errors_.error[tree] = std::numeric_limits<double>::quiet_NaN();
      std::fill(increase, increase + n_variants, std::numeric_limits<double>::quiet_NaN());
      return;
    }
    if (perturbation_.permutes) draw_donors(tree, place);
    const size_t n_block = PerturbedBlock::good_size(perturbation_, forest_.layout);
    for (size_t first = 0; first < place.rows.size(); first += n_block) {
      poll_cancellation();
      const size_t n = std::min(n_block, place.rows.size() - first);
      read_block(place, first, n);
      find_path_changes(forest_, tree, place.chosen, place.block, place.path_changes);
      add_errors(place, first, n, errors_.error[tree], increase);
    }
    errors_.error[tree] /= weight;
    for (size_t v = 0; v < n_variants; ++v) increase[v] /= weight;
  }

 private:
  // Finds the rows that the tree is evaluated on; returns their weight.
  double find_rows(size_t tree, ErrorScratch& place) const {
    double weight = 0.0;
    place.rows.clear();
    for (size_t row = 0; row < perturbation_.n_rows; ++row) {
      if (rows_.is_evaluated && !rows_.is_evaluated[row * forest_.n_trees() + tree]) continue;
      place.rows.push_back(static_cast<uint32_t>(row));
      weight += rows_.weight(row);
    }
    return weight;
  }

  void draw_donors(size_t tree, ErrorScratch& place) const {
    const size_t m = place.rows.size();
    place.donors.resize(perturbation_.n_variants() * m);
    std::vector<int32_t> strata;
    for (size_t g = 0; g < perturbation_.n_groups(); ++g) {
      if (const auto of_all = perturbation_.strata_of(g); !of_all.empty()) {
        strata.resize(m);
        for (size_t i = 0; i < m; ++i) strata[i] = of_all[place.rows[i]];
      }
      for (size_t r = 0; r < perturbation_.n_repeats; ++r) {
        poll_cancellation(m);
        draw_permutation(perturbation_.seed, tree, perturbation_.key[g], r, strata,
                         {&place.donors[perturbation_.variant(g, r) * m], m});
      }
    }
  }

  void read_block(ErrorScratch& place, size_t first, size_t n) const {
    const size_t m = place.rows.size();
    const uint32_t* donors = place.donors.data();
    place.block.read({&place.rows[first], n}, [&](size_t variant, size_t i) {
      return perturbation_.permutes ? place.rows[donors[variant * m + first + i]]
                                    : place.rows[first + i];
    });
    place.chosen.resize(n);
    std::iota(place.chosen.begin(), place.chosen.end(), 0u);
  }

  void add_errors(ErrorScratch& place, size_t first, size_t n, double& error,
                  double* increase) const {
    const PathChanges& path_changes = place.path_changes;
    for (size_t i = 0; i < n; ++i) {
      const size_t row = place.rows[first + i];
      error += rows_.weight(row) * leaf_error(forest_, rows_, row, path_changes.own_leaf[i]);
    }
    for (const PathChange& d : path_changes.found) {
      const int32_t own = path_changes.own_leaf[d.row];
      if (d.leaf == own) continue;
      const size_t row = place.rows[first + d.row];
      increase[perturbation_.variant(static_cast<size_t>(d.group), d.repeat)] +=
          rows_.weight(row) *
          (leaf_error(forest_, rows_, row, d.leaf) - leaf_error(forest_, rows_, row, own));
    }
  }

  const PackedForest& forest_;
  const Perturbation& perturbation_;
  const EvaluatedRows& rows_;
  TreeErrors& errors_;
};

// Adds leaf values to the sums of their rows, in whole units: a change of leaf is exact, and
// additions can be undone.
class WholeLeaves {
 public:
  WholeLeaves(const PackedForest& forest, bool hard) : forest_(forest), hard_(hard) {
    double largest = forest.n_classes > 0 ? 1.0 : 0.0;
    for (double value : forest.leaf_value) largest = std::max(largest, std::fabs(value));
    scale_ = grid_scale(largest * static_cast<double>(forest.n_trees()), 60);
    one_ = std::llround(scale_);
    for (float share : forest.share) share_.push_back(std::llround(share * scale_));
    for (double value : forest.leaf_value) value_.push_back(std::llround(value * scale_));
  }

  size_t width() const { return static_cast<size_t>(std::max(1, forest_.n_classes)); }

  // sign: 1 to add, -1 to subtract
  void add(int32_t leaf, int64_t sign, int64_t* sums) const {
    if (forest_.n_classes == 0) {
      sums[0] += sign * value_[static_cast<size_t>(leaf)];
    } else if (hard_ || leaf < forest_.n_classes) {
      sums[forest_.vote_of(leaf)] += sign * one_;
    } else {
      const auto i = static_cast<size_t>(leaf - forest_.n_classes);
      for (uint32_t e = forest_.share_offset[i]; e < forest_.share_offset[i + 1]; ++e)
        sums[forest_.share_class[e]] += sign * share_[e];
    }
  }

  // Error of the mean over n trees of sums and changes.
  double error(const EvaluatedRows& rows, size_t row, const int64_t* sums, const int64_t* changes,
               int32_t n) const {
    auto mean = [&](size_t k) {
      return static_cast<double>(sums[k] + (changes ? changes[k] : 0)) / scale_ / n;
    };
    if (forest_.n_classes == 0) {
      const double error = rows.targets[row] - mean(0);
      return error * error;
    }
    size_t best = 0;  // the first of the largest, as in prediction
    for (size_t k = 1; k < width(); ++k)
      if (mean(k) > mean(best)) best = k;
    return static_cast<int32_t>(best) == rows.labels[row] ? 0.0 : 1.0;
  }

 private:
  const PackedForest& forest_;
  const bool hard_;
  double scale_ = 1.0;
  int64_t one_ = 1;
  std::vector<int64_t> share_, value_;
};

// Sums over rows, for the mean increase and its standard error.
struct BlockErrors {
  double error = 0.0, weight = 0.0, weight_squared = 0.0;
  std::vector<double> increase;            // n_groups x n_repeats
  std::vector<double> mean, mean_squared;  // n_groups: of weight^2 times increase, over repeats

  explicit BlockErrors(const Perturbation& d)
      : increase(d.n_variants()), mean(d.n_groups()), mean_squared(d.n_groups()) {}

  void operator+=(const BlockErrors& other) {
    error += other.error;
    weight += other.weight;
    weight_squared += other.weight_squared;
    for (size_t v = 0; v < increase.size(); ++v) increase[v] += other.increase[v];
    for (size_t g = 0; g < mean.size(); ++g) {
      mean[g] += other.mean[g];
      mean_squared[g] += other.mean_squared[g];
    }
  }
};

// Some rows and all the trees that are evaluated on them.
class ForestJob {
 public:
  ForestJob(const PackedForest& forest, const Perturbation& perturbation, const EvaluatedRows& rows,
            const WholeLeaves& leaves, const std::vector<uint32_t>& donors)
      : forest_(forest),
        perturbation_(perturbation),
        rows_(rows),
        leaves_(leaves),
        lenders_(donors) {}

  BlockErrors run(size_t first, size_t last, ErrorScratch& place) const {
    read_block(first, last, place);
    const size_t k = leaves_.width();
    place.sums.assign((last - first) * k, 0);
    place.changes.assign((last - first) * perturbation_.n_variants() * k, 0);
    place.n_trees_of_row.assign(last - first, 0);
    for (size_t tree = 0; tree < forest_.n_trees(); ++tree) {
      poll_cancellation();
      choose_rows(tree, first, last, place);
      if (place.chosen.empty()) continue;
      find_path_changes(forest_, tree, place.chosen, place.block, place.path_changes);
      add_tree(place);
    }
    BlockErrors errors(perturbation_);
    for (size_t i = 0; i < last - first; ++i)
      if (place.n_trees_of_row[i] > 0) add_row(first + i, i, place, errors);
    return errors;
  }

 private:
  void read_block(size_t first, size_t last, ErrorScratch& place) const {
    place.rows.resize(last - first);
    std::iota(place.rows.begin(), place.rows.end(), static_cast<uint32_t>(first));
    const size_t n = perturbation_.n_rows;
    place.block.read(place.rows, [&](size_t variant, size_t i) {
      return perturbation_.permutes ? lenders_[variant * n + first + i]
                                    : static_cast<uint32_t>(first + i);
    });
  }

  void choose_rows(size_t tree, size_t first, size_t last, ErrorScratch& place) const {
    place.chosen.clear();
    for (size_t row = first; row < last; ++row)
      if (!rows_.is_evaluated || rows_.is_evaluated[row * forest_.n_trees() + tree])
        place.chosen.push_back(static_cast<uint32_t>(row - first));
  }

  void add_tree(ErrorScratch& place) const {
    const size_t k = leaves_.width();
    const PathChanges& path_changes = place.path_changes;
    for (uint32_t i : place.chosen) {
      leaves_.add(path_changes.own_leaf[i], 1, &place.sums[i * k]);
      ++place.n_trees_of_row[i];
    }
    for (const PathChange& d : path_changes.found) {
      const int32_t own = path_changes.own_leaf[d.row];
      if (d.leaf == own) continue;
      int64_t* changes = changes_of(place, d.row, static_cast<size_t>(d.group), d.repeat);
      leaves_.add(d.leaf, 1, changes);
      leaves_.add(own, -1, changes);
    }
  }

  int64_t* changes_of(ErrorScratch& place, size_t i, size_t group, size_t repeat) const {
    const size_t variant = i * perturbation_.n_variants() + perturbation_.variant(group, repeat);
    return &place.changes[variant * leaves_.width()];
  }

  void add_row(size_t row, size_t i, ErrorScratch& place, BlockErrors& errors) const {
    const int64_t* sums = &place.sums[i * leaves_.width()];
    const int32_t n = place.n_trees_of_row[i];
    const double weight = rows_.weight(row);
    const double own = leaves_.error(rows_, row, sums, nullptr, n);
    errors.error += weight * own;
    errors.weight += weight;
    errors.weight_squared += weight * weight;
    for (size_t g = 0; g < perturbation_.n_groups(); ++g) {
      double total = 0.0;
      for (size_t r = 0; r < perturbation_.n_repeats; ++r) {
        const int64_t* changes = changes_of(place, i, g, r);
        const double increase = leaves_.error(rows_, row, sums, changes, n) - own;
        errors.increase[perturbation_.variant(g, r)] += weight * increase;
        total += increase;
      }
      const double mean = weight * total / static_cast<double>(perturbation_.n_repeats);
      errors.mean[g] += weight * mean;
      errors.mean_squared[g] += mean * mean;
    }
  }

  const PackedForest& forest_;
  const Perturbation& perturbation_;
  const EvaluatedRows& rows_;
  const WholeLeaves& leaves_;
  const std::vector<uint32_t>& lenders_;
};

// Permutations of all rows, one for each group and repeat; none where rows are not permuted.
std::vector<uint32_t> draw_donors(const Perturbation& perturbation, int n_threads,
                                  const ErrorProgress& progress) {
  if (!perturbation.permutes) return {};
  const size_t n = perturbation.n_rows, n_repeats = perturbation.n_repeats;
  std::vector<uint32_t> donors(perturbation.n_variants() * n);
  ThreadPool pool(n_threads, perturbation.n_variants(), [&](int, size_t variant) {
    const size_t group = variant / n_repeats;
    draw_permutation(perturbation.seed, 0, perturbation.key[group], variant % n_repeats,
                     perturbation.strata_of(group), {&donors[variant * n], n});
  });
  pool.run([&](size_t) { return progress(0); });
  return donors;
}

// Rows that are processed together, for any number of threads.
size_t rows_of_block(const PackedForest& forest, const Perturbation& perturbation, size_t width) {
  constexpr size_t kMaxSums = 1 << 22;
  const size_t fit = kMaxSums / std::max<size_t>(1, perturbation.n_variants() * width);
  return std::clamp<size_t>(fit, 16, PerturbedBlock::good_size(perturbation, forest.layout));
}

ForestErrors summarise(const BlockErrors& sums, const Perturbation& perturbation) {
  ForestErrors result;
  result.error = sums.error / sums.weight;
  for (double increase : sums.increase) result.increase.push_back(increase / sums.weight);
  for (size_t g = 0; g < perturbation.n_groups(); ++g) {
    double mean = 0.0;
    for (size_t r = 0; r < perturbation.n_repeats; ++r)
      mean += result.increase[perturbation.variant(g, r)];
    mean /= static_cast<double>(perturbation.n_repeats);
    // Sum over rows of (weight (increase - mean))^2, expanded.
    const double scatter =
        sums.mean_squared[g] - 2.0 * mean * sums.mean[g] + mean * mean * sums.weight_squared;
    result.standard_error.push_back(std::sqrt(std::max(0.0, scatter)) / sums.weight);
  }
  return result;
}

}  // namespace

TreeErrors tree_errors(const PackedForest& forest, const Perturbation& perturbation,
                       const EvaluatedRows& rows, int n_threads, const ErrorProgress& progress) {
  const size_t n_trees = forest.n_trees();
  TreeErrors errors{std::vector<double>(n_trees, 0.0),
                    std::vector<double>(n_trees * perturbation.n_variants(), 0.0)};
  n_threads = useful_threads(n_threads, n_trees);
  const auto places = make_scratches(forest, perturbation, n_threads);
  TreeJob job(forest, perturbation, rows, errors);
  ThreadPool pool(n_threads, n_trees,
                  [&](int w, size_t tree) { job.run(tree, *places[static_cast<size_t>(w)]); });
  pool.run(progress);
  return errors;
}

ForestErrors forest_errors(const PackedForest& forest, const Perturbation& perturbation,
                           const EvaluatedRows& rows, bool hard, int n_threads,
                           const ErrorProgress& progress) {
  const WholeLeaves leaves(forest, hard);
  const std::vector<uint32_t> donors = draw_donors(perturbation, n_threads, progress);
  const ForestJob job(forest, perturbation, rows, leaves, donors);
  const size_t n = perturbation.n_rows;
  const size_t n_block = rows_of_block(forest, perturbation, leaves.width());
  std::vector<BlockErrors> of_block((n + n_block - 1) / n_block, BlockErrors(perturbation));
  n_threads = useful_threads(n_threads, of_block.size());
  const auto places = make_scratches(forest, perturbation, n_threads);
  ThreadPool pool(n_threads, of_block.size(), [&](int w, size_t b) {
    of_block[b] =
        job.run(b * n_block, std::min(n, (b + 1) * n_block), *places[static_cast<size_t>(w)]);
  });
  pool.run([&](size_t n_done) { return progress(std::min(n, n_done * n_block)); });
  BlockErrors sums(perturbation);
  for (const BlockErrors& block : of_block) sums += block;
  return summarise(sums, perturbation);
}

}  // namespace bevel
