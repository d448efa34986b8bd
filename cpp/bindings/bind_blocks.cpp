#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays.h"
#include "bevel/blocks/block_histograms.h"
#include "bevel/blocks/block_request.h"
#include "bevel/blocks/block_rows.h"
#include "bevel/blocks/top_grower.h"
#include "bevel/forest/forest_trainer.h"
#include "bevel/predict/reference_predictor.h"
#include "bevel/support/check.h"
#include "bevel/support/memory.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

nb::bytes as_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
BlockRequest read_request(const nb::bytes& bytes) {
  return BlockRequest::from_bytes({bytes.c_str(), bytes.size()});
}

// The arrays of a block, kept alive and checked against each other.
class BlockArrays {
 public:
  BlockArrays(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians, nb::object target,
              std::optional<Vector<double>> weights, uint64_t first_row)
      : X_(X),
        levels_(levels),
        medians_(medians),
        weights_(weights),
        first_row_(first_row),
        data_(X.data(), X.shape(0), static_cast<int32_t>(X.shape(1)), levels.data(), medians.data(),
              nullptr) {
    const size_t n = X.shape(0);
    require(levels.shape(0) == X.shape(1) && medians.shape(0) == X.shape(1),
            "[blocks] levels and medians need one entry per feature");
    if (Vector<int32_t> labels; nb::try_cast(target, labels, false))
      labels_ = labels;
    else
      targets_ = nb::cast<Vector<double>>(target, false);
    require((labels_ ? labels_->shape(0) : targets_->shape(0)) == n, "[blocks] length of target");
    require(!weights || weights->shape(0) == n, "[blocks] length of weights");
  }

  const DatasetView& data() const { return data_; }
  BlockView view() const {
    BlockView view{data_};
    view.labels = labels_ ? labels_->data() : nullptr;
    view.targets = targets_ ? targets_->data() : nullptr;
    view.weights = weights_ ? weights_->data() : nullptr;
    view.first_row = first_row_;
    return view;
  }
  // Labels, levels and directions within the bounds of what they index.
  void check(const BlockRequest& request) const {
    const int32_t n_classes = request.grid.n_classes;
    require((n_classes > 0) == labels_.has_value(), "[blocks] kind of target");
    if (labels_)
      for (const int32_t label : as_span(*labels_))
        require(0 <= label && label < n_classes, "[blocks] label out of range");
    for (int32_t f : data_.categorical)
      for (size_t i = 0; i < data_.n_rows; ++i)
        require(
            data_.column(f)[i] >= 0.0f && data_.column(f)[i] < static_cast<float>(data_.levels[f]),
            "[blocks] level out of range");
    for (const Candidates* directions : {&request.trees.directions, &request.bins.candidates})
      for (const int32_t feature : directions->index)
        require(0 <= feature && feature < data_.n_features, "[blocks] feature out of range");
  }

 private:
  ColumnMatrix X_;
  Vector<int32_t> levels_;
  Vector<float> medians_;
  std::optional<Vector<int32_t>> labels_;
  std::optional<Vector<double>> targets_;
  std::optional<Vector<double>> weights_;
  uint64_t first_row_;
  DatasetView data_;
};

using Cells = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void add_block_histograms(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians,
                          nb::object target, std::optional<Vector<double>> weights,
                          uint64_t first_row, const nb::bytes& request, Cells cells,
                          int n_threads) {
  const BlockArrays block(X, levels, medians, std::move(target), weights, first_row);
  const BlockRequest asked = read_request(request);
  require(cells.shape(0) == asked.bins.n_cells * asked.grid.cell_size(),
          "[blocks] length of histograms");
  run_cancellable([&] {
    block.check(asked);
    add_histograms(block.view(), asked, n_threads, cells.data());
  });
}

nb::tuple find_block_rows(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians,
                          nb::object target, std::optional<Vector<double>> weights,
                          uint64_t first_row, const nb::bytes& request, size_t n_nodes,
                          int n_threads) {
  const BlockArrays block(X, levels, medians, std::move(target), weights, first_row);
  const BlockRequest asked = read_request(request);
  for (const int32_t slot : asked.trees.slot)
    require(slot < static_cast<int64_t>(n_nodes), "[blocks] number of nodes");
  BlockRows found;
  run_cancellable([&] {
    block.check(asked);
    found = find_rows(block.view(), asked, n_nodes, n_threads);
  });
  return nb::make_tuple(to_numpy(std::move(found.offset)), to_numpy(std::move(found.row)),
                        to_numpy(std::move(found.draws)));
}

// The grower with the sample that it reads.
class Grower {
 public:
  Grower(const Options& options, Vector<uint64_t> trees, uint64_t n_rows, int32_t n_classes,
         bool whole_weights, double largest_weight, double low, double high, ColumnMatrix sample,
         Vector<int32_t> levels, Vector<float> medians, int64_t gather_rows)
      : sample_(sample), levels_(levels), medians_(medians) {
    require(sample.shape(0) > 0 && levels.shape(0) == sample.shape(1) &&
                medians.shape(0) == sample.shape(1),
            "[blocks] shape of the sample");
    const DatasetView data(sample.data(), sample.shape(0), static_cast<int32_t>(sample.shape(1)),
                           levels.data(), medians.data(), nullptr);
    TableTotals table{n_rows, n_classes, whole_weights, largest_weight, low, high};
    grower_ = std::make_unique<TopGrower>(options, table, data, as_span(trees), gather_rows);
  }

  nb::tuple histogram_request(uint64_t most_numbers, int n_threads) {
    std::string request;
    run_cancellable([&] { request = grower_->histogram_request(most_numbers, n_threads); });
    return nb::make_tuple(as_bytes(request), grower_->n_numbers());
  }
  void take_histograms(Vector<int64_t> cells) {
    run_cancellable([&] { grower_->take_histograms(as_span(cells)); });
  }
  nb::tuple rows_request(int64_t most_rows) {
    std::vector<SmallNode> nodes;
    const std::string request = grower_->rows_request(most_rows, nodes);
    nb::list described;
    for (const SmallNode& node : nodes)
      described.append(nb::make_tuple(node.tree, node.node, node.tree_number, node.key, node.depth,
                                      node.n_rows, node.tree_weight));
    return nb::make_tuple(as_bytes(request), described);
  }
  void put_subtree(size_t tree, size_t node, const nb::dict& arrays) {
    NodeStore nodes;
    read(arrays, "right", nodes.right);
    read(arrays, "threshold", nodes.threshold);
    read(arrays, "flags", nodes.flags);
    read(arrays, "gain", nodes.gain);
    read(arrays, "weight", nodes.weight);
    read(arrays, "entry_offset", nodes.entry_offset);
    read(arrays, "entry_index", nodes.entry_index);
    read(arrays, "entry_weight", nodes.entry_weight);
    read(arrays, "leaf_value", nodes.leaf_value);
    read(arrays, "bits_index", nodes.bits_index);
    read(arrays, "bits_offset", nodes.bits_offset);
    read(arrays, "bits", nodes.bits);
    if (nodes.bits_index.empty()) nodes.bits_index.assign(nodes.right.size(), -1);
    grower_->put_subtree(tree, node, std::move(nodes));
  }
  void take_all_rows(size_t tree) { grower_->take_all_rows(tree); }
  size_t n_trees_done() const { return grower_->n_trees_done(); }
  bool takes_all(size_t tree) const { return grower_->takes_all(tree); }
  double gain_unit() const { return grower_->gain_unit(); }
  nb::dict finish() {
    FlatForest forest;
    run_cancellable([&] { forest = grower_->finish(); });
    nb::dict arrays;
    for_each_array(forest, [&](const ForestField& field, auto& array) {
      arrays[field.name] = to_numpy(std::move(array));
    });
    return arrays;
  }

 private:
  template <class T>
  static void read(const nb::dict& arrays, const char* name, std::vector<T>& out) {
    const auto array = nb::cast<Vector<T>>(arrays[name], false);
    out.assign(array.data(), array.data() + array.shape(0));
  }

  ColumnMatrix sample_;
  Vector<int32_t> levels_;
  Vector<float> medians_;
  std::unique_ptr<TopGrower> grower_;
};

// How often rows first_row, first_row + 1, ... are in the bag of a tree.
std::vector<int32_t> draw_rows(const RowDraws& draws, uint64_t seed, uint64_t tree,
                               uint64_t first_row, size_t n) {
  std::vector<int32_t> times(n);
  const NodeKey root = root_key(seed, tree);
  for (size_t i = 0; i < n; ++i) times[i] = draws(root, first_row + i);
  return times;
}

nb::tuple out_of_bag_of_block(const ForestView& view, ColumnMatrix X, const Options& options,
                              uint64_t n_rows, uint64_t first_row, Vector<uint8_t> takes_all,
                              bool hard, int n_threads) {
  const ForestArrays& forest = view.arrays();
  require(static_cast<int32_t>(X.shape(1)) == forest.n_features &&
              takes_all.shape(0) == forest.n_trees(),
          "[blocks] shape of a block");
  const size_t n = X.shape(0);
  const auto k = static_cast<size_t>(std::max(1, forest.n_classes));
  auto sums = allocate<double>(n * k, "out-of-bag sums for each row and class");
  std::vector<int32_t> counts(n);
  const RowDraws draws = row_draws(options, n_rows);
  const BagOfTree bag = [&](size_t tree) {
    if (takes_all.data()[tree]) return std::vector<int32_t>(n, 1);
    return draw_rows(draws, options.seed, tree, first_row, n);
  };
  run_cancellable([&] {
    out_of_bag(forest, {X.data(), n, 1, n}, bag, {0, forest.n_trees()}, n_threads, hard,
               sums.data(), counts.data());
  });
  return nb::make_tuple(to_numpy(std::move(sums), {n, k}), to_numpy(std::move(counts)));
}

// The nodes and candidates of a request for histograms, for tests and for those who look.
nb::dict describe_request(const nb::bytes& bytes) {
  BlockRequest request = read_request(bytes);
  CandidateBins& bins = request.bins;
  nb::dict described;
  described["cell_size"] = request.grid.cell_size();
  described["n_cells"] = bins.n_cells;
  described["first"] = to_numpy(std::move(bins.first));
  described["offset"] = to_numpy(std::move(bins.candidates.offset));
  described["index"] = to_numpy(std::move(bins.candidates.index));
  described["weight"] = to_numpy(std::move(bins.candidates.weight));
  described["is_nominal"] = to_numpy(std::move(bins.is_nominal));
  described["edge_offset"] = to_numpy(std::move(bins.edge_offset));
  described["edges"] = to_numpy(std::move(bins.edges));
  described["node_cell"] = to_numpy(std::move(bins.node_cell));
  described["cell"] = to_numpy(std::move(bins.cell));
  return described;
}

nb::dict grow_block_subtree(ColumnMatrix X, Vector<int32_t> levels, Vector<float> medians,
                            Vector<uint8_t> has_nan, nb::object target, int32_t n_classes,
                            std::optional<Vector<double>> weights, Vector<int32_t> draws,
                            const Options& options, uint64_t tree, uint64_t key, int32_t depth,
                            double tree_weight, double gain_unit, int n_threads) {
  const BlockArrays rows(X, levels, medians, std::move(target), weights, 0);
  require(X.shape(0) > 0 && draws.shape(0) == X.shape(0) && has_nan.shape(0) == X.shape(1),
          "[blocks] rows of a node");
  const DatasetView data(X.data(), X.shape(0), static_cast<int32_t>(X.shape(1)), levels.data(),
                         medians.data(), has_nan.data());
  TrainingSet training{data};
  training.labels = rows.view().labels;
  training.targets = rows.view().targets;
  training.n_classes = n_classes;
  training.weights = rows.view().weights;
  SubtreeStart start;
  start.tree = tree;
  start.key = key;
  start.multiplicity = draws.data();
  start.tree_weight = tree_weight;
  start.gain_unit = gain_unit;
  Options own = options;
  if (own.max_depth >= 0) own.max_depth -= depth;
  FlatForest forest;
  run_cancellable([&] { forest = grow_subtree(training, own, start, n_threads); });
  nb::dict arrays;
  for_each_array(forest, [&](const ForestField& field, auto& array) {
    arrays[field.name] = to_numpy(std::move(array));
  });
  return arrays;
}

}  // namespace

void bind_blocks(nb::module_& m) {
  nb::class_<Grower>(m, "BlockGrower")
      .def(nb::init<const Options&, Vector<uint64_t>, uint64_t, int32_t, bool, double, double,
                    double, ColumnMatrix, Vector<int32_t>, Vector<float>, int64_t>(),
           nb::arg("options"), nb::arg("trees").noconvert(), nb::arg("n_rows"),
           nb::arg("n_classes"), nb::arg("whole_weights"), nb::arg("largest_weight"),
           nb::arg("low"), nb::arg("high"), nb::arg("sample").noconvert(),
           nb::arg("levels").noconvert(), nb::arg("medians").noconvert(), nb::arg("gather_rows"))
      .def("histogram_request", &Grower::histogram_request, nb::arg("most_numbers"),
           nb::arg("n_threads"))
      .def("take_histograms", &Grower::take_histograms, nb::arg("cells").noconvert())
      .def("rows_request", &Grower::rows_request, nb::arg("most_rows"))
      .def("put_subtree", &Grower::put_subtree, nb::arg("tree"), nb::arg("node"), nb::arg("arrays"))
      .def("take_all_rows", &Grower::take_all_rows, nb::arg("tree"))
      .def_prop_ro("n_trees_done", &Grower::n_trees_done)
      .def("takes_all", &Grower::takes_all, nb::arg("tree"))
      .def_prop_ro("gain_unit", &Grower::gain_unit)
      .def("finish", &Grower::finish);
  m.def(
      "block_bag",
      [](const Options& options, uint64_t n_rows, uint64_t tree, uint64_t first_row, size_t n) {
        const RowDraws draws = row_draws(options, n_rows);
        return to_numpy(draw_rows(draws, options.seed, tree, first_row, n));
      },
      nb::arg("options"), nb::arg("n_rows"), nb::arg("tree"), nb::arg("first_row"), nb::arg("n"));
  m.def("block_out_of_bag", &out_of_bag_of_block, nb::arg("view"), nb::arg("X").noconvert(),
        nb::arg("options"), nb::arg("n_rows"), nb::arg("first_row"),
        nb::arg("takes_all").noconvert(), nb::arg("hard"), nb::arg("n_threads"));
  m.def("describe_block_request", &describe_request, nb::arg("request"));
  m.def("add_block_histograms", &add_block_histograms, nb::arg("X").noconvert(),
        nb::arg("levels").noconvert(), nb::arg("medians").noconvert(), nb::arg("target"),
        nb::arg("weights").noconvert().none(), nb::arg("first_row"), nb::arg("request"),
        nb::arg("cells").noconvert(), nb::arg("n_threads"));
  m.def("find_block_rows", &find_block_rows, nb::arg("X").noconvert(),
        nb::arg("levels").noconvert(), nb::arg("medians").noconvert(), nb::arg("target"),
        nb::arg("weights").noconvert().none(), nb::arg("first_row"), nb::arg("request"),
        nb::arg("n_nodes"), nb::arg("n_threads"));
  m.def("grow_block_subtree", &grow_block_subtree, nb::arg("X").noconvert(),
        nb::arg("levels").noconvert(), nb::arg("medians").noconvert(),
        nb::arg("has_nan").noconvert(), nb::arg("target"), nb::arg("n_classes"),
        nb::arg("weights").noconvert().none(), nb::arg("draws").noconvert(), nb::arg("options"),
        nb::arg("tree"), nb::arg("key"), nb::arg("depth"), nb::arg("tree_weight"),
        nb::arg("gain_unit"), nb::arg("n_threads"));
}
