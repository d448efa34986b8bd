#include "bevel/blocks/top_grower.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "bevel/blocks/bin_edges.h"
#include "bevel/blocks/cut_choice.h"
#include "bevel/blocks/sample_values.h"
#include "bevel/blocks/value_bins.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"
#include "bevel/support/thread_pool.h"

namespace bevel {
namespace {

// Number of sample values that determine edges.
constexpr size_t kEdgeRows = 2048;
// Trees that grow together. Each holds the sample once, as lists of rows.
constexpr size_t kTreesAtOnce = 32;

}  // namespace

TopGrower::TopGrower(const Options& options, const TableTotals& table, const DatasetView& sample,
                     std::span<const uint64_t> trees, int64_t gather_rows)
    : options_(options),
      table_(table),
      sample_(sample),
      grid_(table),
      gather_rows_(gather_rows),
      samplers_(make_samplers(options_, sample_)),
      scratch_(samplers_.size()) {
  for (size_t f = 0; f < samplers_.size(); ++f) samplers_[f]->prepare(scratch_[f]);
  request_.grid = grid_;
  request_.draws = row_draws(options_, table_.n_rows);
  for (const uint64_t number : trees) {
    TopTree tree;
    tree.number = number;
    TopNode root;
    root.key = root_key(options_.seed, number);
    const bool is_small = table_.n_rows <= static_cast<uint64_t>(gather_rows_);
    root.state = is_small ? TopState::small : TopState::waiting;
    tree.nodes.push_back(std::move(root));
    trees_.push_back(std::move(tree));
  }
}

// Each attempt has a stream of its own. From the second on, families without replacement try
// everything they have.
void TopGrower::draw_candidates(const TopNode& node, Candidates& out) {
  const auto attempt = static_cast<uint64_t>(node.attempt);
  Stream stream(attempt == 0 ? node.key : mix(node.key + attempt), Purpose::candidates);
  const NodeRows no_rows{nullptr, {}};
  for (size_t f = 0; f < samplers_.size(); ++f) {
    samplers_[f]->sample(no_rows, stream, scratch_[f], out);
    if (node.attempt > 0 && !samplers_[f]->can_redraw())
      while (samplers_[f]->sample_more(stream, scratch_[f], out)) {
      }
    samplers_[f]->end_node(scratch_[f]);
  }
}

uint64_t TopGrower::most_numbers_of(const Candidates& drawn) const {
  uint64_t n_cells = 1;
  for (size_t c = 0; c < drawn.size(); ++c) {
    const int32_t n_levels = sample_.levels[*drawn.indices(c)];
    n_cells += n_levels > 0 ? static_cast<uint64_t>(n_levels) : kMaxEdges + 2;
  }
  return n_cells * grid_.cell_size();
}

std::vector<float> TopGrower::edges_of(const TopNode& node, const Candidates& drawn,
                                       size_t c) const {
  if (sample_.levels[*drawn.indices(c)] > 0) return {};
  const std::span<const uint32_t> rows(node.sample_rows.data(),
                                       std::min(node.sample_rows.size(), kEdgeRows));
  std::vector<float> values = values_of_sample(sample_, drawn, c, rows);
  return find_edges(values, kMaxEdges);
}

void TopGrower::add_bins(const Candidates& drawn, const std::vector<std::vector<float>>& edges,
                         CandidateBins& bins) const {
  bins.node_cell.push_back(bins.n_cells++);
  for (size_t c = 0; c < drawn.size(); ++c) {
    const int32_t* index = drawn.indices(c);
    const int32_t n_levels = sample_.levels[*index];
    for (int k = 0; k < drawn.n_nonzeros(c); ++k)
      bins.candidates.add_entry(index[k], drawn.weights(c)[k]);
    bins.candidates.close();
    bins.is_nominal.push_back(n_levels > 0);
    bins.cell.push_back(bins.n_cells);
    bins.edges.insert(bins.edges.end(), edges[c].begin(), edges[c].end());
    bins.edge_offset.push_back(static_cast<uint32_t>(bins.edges.size()));
    bins.n_cells += n_levels > 0 ? static_cast<uint64_t>(n_levels) : edges[c].size() + 2;
  }
  bins.first.push_back(static_cast<uint32_t>(bins.candidates.size()));
}

// The first trees that are not done.
std::vector<size_t> TopGrower::trees_at_once() const {
  std::vector<size_t> chosen;
  for (size_t t = 0; t < trees_.size() && chosen.size() < kTreesAtOnce; ++t)
    if (!trees_[t].is_done()) chosen.push_back(t);
  return chosen;
}

std::string TopGrower::histogram_request(uint64_t most_numbers, int n_threads) {
  request_.bins = CandidateBins();
  request_.trees = PartialTrees();
  asked_.clear();
  drawn_.clear();
  std::vector<Candidates> expanded;
  uint64_t n_numbers = 0;
  for (const size_t t : trees_at_once()) {
    trees_[t].rotation.draw(options_, sample_, trees_[t].number);
    for (size_t i = 0; i < trees_[t].nodes.size() && n_numbers < most_numbers; ++i) {
      TopNode& node = trees_[t].nodes[i];
      if (node.state != TopState::waiting) continue;
      if (i == 0 && node.sample_rows.empty()) {
        node.sample_rows.resize(sample_.n_rows);
        std::iota(node.sample_rows.begin(), node.sample_rows.end(), 0u);
      }
      Candidates drawn;
      draw_candidates(node, drawn);
      Candidates of_node = trees_[t].rotation.expand(drawn);
      n_numbers += most_numbers_of(of_node);
      if (n_numbers > most_numbers && !asked_.empty()) break;
      drawn_.push_back(std::move(drawn));
      expanded.push_back(std::move(of_node));
      asked_.push_back({t, i});
    }
  }
  if (asked_.empty()) return {};
  std::vector<std::vector<std::vector<float>>> edges(asked_.size());
  ThreadPool pool(n_threads, asked_.size(), [&](int, size_t slot) {
    const TopTree& tree = trees_[asked_[slot].tree];
    for (size_t c = 0; c < expanded[slot].size(); ++c) {
      poll_cancellation(kEdgeRows * 16);
      const bool flat = tree.rotation.is_flat(*drawn_[slot].indices(c));
      edges[slot].push_back(flat ? std::vector<float>()
                                 : edges_of(tree.nodes[asked_[slot].node], expanded[slot], c));
    }
  });
  pool.run();
  for (size_t slot = 0; slot < asked_.size(); ++slot)
    add_bins(expanded[slot], edges[slot], request_.bins);
  add_paths(asked_, request_.trees);
  return request_.to_bytes();
}

void TopGrower::add_paths(std::span<const TopPlace> places, PartialTrees& out) const {
  for (size_t first = 0; first < places.size();) {
    const TopTree& tree = trees_[places[first].tree];
    std::vector<int32_t> slots(tree.nodes.size(), -1);
    size_t last = first;
    for (; last < places.size() && places[last].tree == places[first].tree; ++last)
      slots[places[last].node] = static_cast<int32_t>(last);
    out.root.push_back(tree.nodes[0].key);
    out.takes_all.push_back(tree.takes_all);
    add_path(tree, 0, slots, out);
    out.first.push_back(static_cast<int32_t>(out.left.size()));
    first = last;
  }
}

int32_t TopGrower::add_path(const TopTree& tree, int32_t node, std::span<const int32_t> slots,
                            PartialTrees& out) const {
  const TopNode& from = tree.nodes[static_cast<size_t>(node)];
  const int32_t base = out.first.back();
  const auto place = static_cast<int32_t>(out.left.size());
  if (slots[static_cast<size_t>(node)] >= 0) {
    out.add_node(slots[static_cast<size_t>(node)]);
    return place - base;
  }
  if (from.state != TopState::split) return -1;
  const size_t n_nodes = out.left.size(), n_entries = out.directions.index.size(),
               n_bits = out.bits.size();
  out.add_node(tree.rotation.any() ? tree.rotation.expand(from.split) : from.split);
  const int32_t left = add_path(tree, from.left, slots, out);
  const int32_t right = add_path(tree, from.right, slots, out);
  if (left < 0 && right < 0) {  // nothing is asked for below: takes the node out again
    out.left.resize(n_nodes);
    out.right.resize(n_nodes);
    out.slot.resize(n_nodes);
    out.threshold.resize(n_nodes);
    out.flags.resize(n_nodes);
    out.directions.offset.resize(n_nodes + 1);
    out.directions.index.resize(n_entries);
    out.directions.weight.resize(n_entries);
    out.bits_offset.resize(n_nodes + 1);
    out.bits.resize(n_bits);
    return -1;
  }
  out.left[static_cast<size_t>(place)] = left;
  out.right[static_cast<size_t>(place)] = right;
  return place - base;
}

double TopGrower::weight_of(const std::vector<int64_t>& cell) const {
  if (grid_.n_classes == 0) return static_cast<double>(cell[1]);
  return static_cast<double>(std::accumulate(cell.begin() + 1, cell.end(), int64_t{0}));
}

TopState TopGrower::state_of(const TopTree& tree, const TopNode& node) const {
  const int64_t n_rows = node.totals[0];
  const int64_t min_side = std::max<int64_t>(1, options_.min_samples_leaf);
  const double min_weight = options_.min_weight_leaf * weight_of(tree.nodes[0].totals);
  bool may_split = n_rows >= std::max<int64_t>(2, options_.min_samples_split) &&
                   n_rows >= 2 * min_side && weight_of(node.totals) >= 2.0 * min_weight &&
                   (options_.max_depth < 0 || node.depth < options_.max_depth);
  if (grid_.n_classes > 0)
    may_split &= std::count_if(node.totals.begin() + 1, node.totals.end(),
                               [](int64_t w) { return w > 0; }) > 1;
  if (!may_split) return TopState::leaf;
  return n_rows <= gather_rows_ ? TopState::small : TopState::waiting;
}

void TopGrower::take_histograms(std::span<const int64_t> cells) {
  require(cells.size() == n_numbers(), "[blocks] length of histograms");
  const bool entropy = options_.criterion == CriterionKind::entropy;
  const double unit = grid_.weight;
  if (grid_.n_classes == 0)
    return choose_cuts(WideCriterion(unit / (grid_.target * grid_.target), true), cells);
  if (grid_.n_classes == 2 && entropy)
    return choose_cuts(WideEntropyCriterion(1.0 / unit, false, EntropyScore(&table_of_logarithms_)),
                       cells);
  if (grid_.n_classes == 2) return choose_cuts(WideCriterion(2.0 / unit, false), cells);
  if (entropy)
    return choose_cuts(WeightEntropyCriterion(grid_.n_classes, 1.0 / unit, &table_of_logarithms_),
                       cells);
  choose_cuts(WeightCriterion(grid_.n_classes, 1.0 / unit, &table_of_logarithms_), cells);
}

template <class Criterion>
void TopGrower::choose_cuts(Criterion criterion, std::span<const int64_t> cells) {
  CutChoice<Criterion> choice(sample_, grid_, std::move(criterion));
  const size_t size = grid_.cell_size();
  for (size_t slot = 0; slot < asked_.size(); ++slot) {
    TopTree& tree = trees_[asked_[slot].tree];
    TopNode& node = tree.nodes[asked_[slot].node];
    const int64_t* totals = cells.data() + request_.bins.node_cell[slot] * size;
    if (node.totals.empty()) {  // the root
      if (totals[0] == 0 && !tree.takes_all) {
        tree.takes_all = true;  // asked for again
        continue;
      }
      require(totals[0] > 0, "[blocks] no row has a weight");
      node.totals.assign(totals, totals + size);
      node.state = state_of(tree, node);
      if (node.state != TopState::waiting) continue;
    }
    Limits limits;
    limits.min_rows = static_cast<size_t>(std::max<int64_t>(1, options_.min_samples_leaf));
    limits.min_weight = options_.min_weight_leaf * weight_of(tree.nodes[0].totals);
    ChosenCut cut = choice.choose(request_.bins, slot, cells.data(), node.totals.data(), limits);
    if (cut.found)
      apply_cut(tree, asked_[slot].node, as_drawn(slot, cut));
    else
      retry(node);
  }
  asked_.clear();
}

// The cut in terms of what the sampler drew, which may be an axis of the tree's rotation.
ChosenCut& TopGrower::as_drawn(size_t slot, ChosenCut& cut) const {
  const Candidates& drawn = drawn_[slot];
  const size_t c = cut.candidate - request_.bins.first[slot];
  cut.split.index.assign(drawn.indices(c), drawn.indices(c) + drawn.n_nonzeros(c));
  cut.split.coefficient.assign(drawn.weights(c), drawn.weights(c) + drawn.n_nonzeros(c));
  return cut;
}

void TopGrower::retry(TopNode& node) const {
  const bool can_redraw = std::any_of(samplers_.begin(), samplers_.end(),
                                      [](const auto& sampler) { return sampler->can_redraw(); });
  // Families without replacement try all that is left at once.
  const int32_t usual = can_redraw ? kUsualRedraws : 1;
  const int32_t most = options_.max_redraws < 0 ? usual : options_.max_redraws;
  if (++node.attempt > most) node.state = TopState::leaf;
}

void TopGrower::apply_cut(TopTree& tree, size_t place, ChosenCut& cut) {
  constexpr double kSlack = 1e-12;  // a split that removes exactly the minimum is kept
  const double tree_weight = weight_of(tree.nodes[0].totals) / grid_.weight;
  if (!(cut.split.gain >= (options_.min_impurity_decrease - kSlack) * tree_weight)) {
    tree.nodes[place].state = TopState::leaf;
    return;
  }
  cut.split.gain *= grid_.gain;
  const auto first = static_cast<int32_t>(tree.nodes.size());
  tree.nodes.resize(tree.nodes.size() + 2);
  TopNode& node = tree.nodes[place];
  TopNode& left = tree.nodes[static_cast<size_t>(first)];
  TopNode& right = tree.nodes[static_cast<size_t>(first) + 1];
  node.split = std::move(cut.split);
  node.state = TopState::split;
  node.left = first;
  node.right = first + 1;
  left.key = child_key(node.key, false);
  right.key = child_key(node.key, true);
  left.depth = right.depth = node.depth + 1;
  left.totals = cut.left;
  right.totals.resize(cut.left.size());
  for (size_t k = 0; k < cut.left.size(); ++k) right.totals[k] = node.totals[k] - cut.left[k];
  left.state = state_of(tree, left);
  right.state = state_of(tree, right);
  split_sample(tree.rotation, node, left, right);
  std::vector<uint32_t>().swap(node.sample_rows);
}

void TopGrower::split_sample(const TreeRotation& rotation, const TopNode& node, TopNode& left,
                             TopNode& right) const {
  Candidates direction;
  rotation.expand(node.split.index.data(), node.split.coefficient.data(),
                  static_cast<int>(node.split.index.size()), direction);
  const std::vector<float> values = values_of_sample(sample_, direction, 0, node.sample_rows);
  for (size_t i = 0; i < values.size(); ++i) {
    bool goes_left;
    if (node.split.is_category()) {
      const auto level = static_cast<size_t>(values[i]);
      goes_left = (node.split.level_bits[level / 32] >> (level % 32)) & 1u;
    } else if (values[i] != values[i]) {
      goes_left = node.split.flags & kMissingLeft;
    } else {
      goes_left = values[i] <= node.split.threshold;
    }
    TopNode& child = goes_left ? left : right;
    if (child.state == TopState::waiting) child.sample_rows.push_back(node.sample_rows[i]);
  }
}

std::string TopGrower::rows_request(int64_t most_rows, std::vector<SmallNode>& nodes) {
  nodes.clear();
  std::vector<TopPlace> places;
  int64_t n_rows = 0;
  for (const size_t t : trees_at_once()) {
    for (size_t i = 0; i < trees_[t].nodes.size(); ++i) {
      const TopNode& node = trees_[t].nodes[i];
      if (node.state != TopState::small) continue;
      const auto table_rows = static_cast<int64_t>(table_.n_rows);
      const int64_t rows = node.totals.empty() ? table_rows : node.totals[0];
      if (!nodes.empty() && n_rows + rows > most_rows) goto full;
      n_rows += rows;
      const auto& root = trees_[t].nodes[0].totals;
      nodes.push_back({t, i, trees_[t].number, node.key, node.depth, rows,
                       root.empty() ? 0.0 : weight_of(root) / grid_.weight});
      places.push_back({t, i});
    }
  }
full:
  if (nodes.empty()) return {};
  BlockRequest request;
  request.grid = grid_;
  request.draws = request_.draws;
  add_paths(places, request.trees);
  return request.to_bytes();
}

void TopGrower::take_all_rows(size_t tree) {
  require(tree < trees_.size() && !trees_[tree].takes_all, "[blocks] no row has a weight");
  trees_[tree].takes_all = true;
}

void TopGrower::put_subtree(size_t tree, size_t node, NodeStore&& subtree) {
  require(tree < trees_.size() && node < trees_[tree].nodes.size() &&
              trees_[tree].nodes[node].state == TopState::small && subtree.size() > 0,
          "[blocks] a subtree for a node that waits for none");
  trees_[tree].nodes[node].subtree = std::move(subtree);
  trees_[tree].nodes[node].state = TopState::grown;
  if (trees_[tree].is_done()) trees_[tree].rotation.clear();  // drawn again in the end
}

size_t TopGrower::n_trees_done() const {
  return static_cast<size_t>(std::count_if(trees_.begin(), trees_.end(),
                                           [](const TopTree& tree) { return tree.is_done(); }));
}

void TopGrower::emit(const TopNode& node, NodeStore& out) const {
  const bool is_regression = grid_.n_classes == 0;
  const double weight = weight_of(node.totals);
  const int32_t place = out.open(finite_float(weight / grid_.weight), is_regression);
  if (node.state == TopState::split) return out.set_split(place, node.split);
  if (is_regression) {
    const double mean =
        static_cast<double>(node.totals[2]) / grid_.target / (weight / grid_.weight);
    out.leaf_value[static_cast<size_t>(place)] = grid_.centre + mean;
  } else {
    for (int32_t k = 0; k < grid_.n_classes; ++k)
      if (node.totals[static_cast<size_t>(k) + 1] > 0)
        out.add_entry(
            k, static_cast<float>(static_cast<double>(node.totals[static_cast<size_t>(k) + 1]) /
                                  weight));
  }
  out.close();
}

// In preorder, with every subtree in the place of its node.
NodeStore TopGrower::to_nodes(TopTree& tree) const {
  NodeStore trunk;
  std::vector<Graft> grafts;
  std::vector<std::pair<int32_t, int32_t>> stack{{0, -1}};  // node, whose right child it is
  while (!stack.empty()) {
    const auto [id, parent] = stack.back();
    stack.pop_back();
    const auto place = static_cast<int32_t>(trunk.size());
    if (parent >= 0) trunk.right[static_cast<size_t>(parent)] = place;
    TopNode& node = tree.nodes[static_cast<size_t>(id)];
    if (node.state == TopState::grown) {
      trunk.open(0.0f, grid_.n_classes == 0);
      trunk.close();
      grafts.push_back({place, std::move(node.subtree), {}});
      continue;
    }
    require(node.state == TopState::leaf || node.state == TopState::split,
            "[blocks] a tree that is not done");
    emit(node, trunk);
    if (node.state == TopState::leaf) continue;
    stack.emplace_back(node.right, place);
    stack.emplace_back(node.left, -1);
  }
  tree.nodes.clear();
  return assemble(std::move(trunk), std::move(grafts));
}

FlatForest TopGrower::finish() {
  std::vector<GrownTree> grown;
  for (TopTree& tree : trees_) {
    tree.rotation.draw(options_, sample_, tree.number);
    grown.push_back(with_used_axes(to_nodes(tree), tree.rotation.axes(), sample_.n_features));
    tree.rotation.clear();
    grown.back().nodes.shrink();
  }
  return flatten(grown, grid_.n_classes == 0);
}

}  // namespace bevel
