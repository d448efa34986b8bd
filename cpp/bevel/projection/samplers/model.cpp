#include <algorithm>
#include <cmath>
#include <limits>

#include "bevel/models/node_sample.h"
#include "bevel/projection/samplers/node_model.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

struct ModelScratch : FamilyScratch {
  std::unique_ptr<NodeModel> model;
  std::vector<int32_t> features;
  NodeSample sample, out_of_bag;
  uint64_t n_nodes = 0;           // number of nodes so far
  size_t output = 0;              // output that models are fitted to
  std::vector<int32_t> class_id;  // class of the data -> class of the node, -1: not in the node
  RiskSets sets;
  ModelDirections directions;
  std::vector<double> p_values;
};

class ModelSampler : public Sampler {
 public:
  ModelSampler(const ModelFamily& family, const DatasetView& data, bool may_stop)
      : family_(family),
        data_(data),
        may_stop_(may_stop),
        n_features_(
            std::min<int64_t>(family.n_nonzeros, static_cast<int64_t>(data.combined.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(data_.combined.size()));
    auto own = std::make_unique<ModelScratch>();
    own->model = family_.make_model();
    scratch.family = std::move(own);
  }

  void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    auto& own = static_cast<ModelScratch&>(*scratch.family);
    int32_t nothing = -1;
    for (int32_t draw = 0; draw < family_.n_draws; ++draw) {
      draw_features(stream, scratch.subset, own.features);
      if (draw == 0 || node.row_data->n_outputs() > 1) read_targets(node, stream, own);
      read_values(node.columns, node.rows, own.features, own.sample);
      if (own.sample.n_classes == 1) return;
      own.out_of_bag.n = 0;
      if (family_.needs_out_of_bag()) read_out_of_bag(node, own);
      own.p_values.clear();
      own.model->fit(
          {own.sample, own.out_of_bag, stream, node.inherited ? *node.inherited : nothing},
          own.directions, family_.records_p_values() ? &own.p_values : nullptr);
      emit(own, out);
      if (may_stop_ && draw + 1 < family_.n_draws && separates(node, own)) return;
    }
  }

 private:
  void draw_features(Stream& stream, SampleWithoutReplacement& undrawn,
                     std::vector<int32_t>& features) const {
    features.clear();
    for (int64_t k = 0; k < n_features_; ++k)
      features.push_back(draw_term(data_.combined[undrawn.draw(stream)], stream));
    undrawn.reset();
    std::sort(features.begin(), features.end());
  }

  void read_values(const float* const* columns, std::span<const uint32_t> rows,
                   const std::vector<int32_t>& features, NodeSample& sample) const {
    sample.resize(rows.size(), features.size());
    size_t j = 0;
    for (; j + kBlock <= features.size(); j += kBlock)
      read_block<kBlock>(columns, rows, features.data() + j, sample.row(0) + j, sample.stride);
    for (; j < features.size(); ++j)
      read_block<1>(columns, rows, features.data() + j, sample.row(0) + j, sample.stride);
  }

  // W features side by side.
  template <size_t W>
  void read_block(const float* const* columns, std::span<const uint32_t> rows,
                  const int32_t* features, double* out, size_t stride) const {
    poll_cancellation(rows.size() * W);
    const float* x[W];
    float median[W];
    for (size_t k = 0; k < W; ++k) {
      x[k] = columns[features[k]];
      median[k] = data_.medians[features[k]];
    }
    for (const uint32_t row : rows) {
      for (size_t k = 0; k < W; ++k) {
        const float value = x[k][row];
        out[k] = value == value ? value : median[k];
      }
      out += stride;
    }
  }

  // With several outputs one is drawn for each model; if it is constant in the node, the next one
  // that is not.
  void read_targets(const NodeRows& node, Stream& stream, ModelScratch& own) const {
    const size_t n_outputs = node.row_data->n_outputs();
    own.output = n_outputs > 1 ? stream.below(n_outputs) : 0;
    read_bag(node, own);
    for (size_t k = 1; k < n_outputs && is_constant(own.sample); ++k) {
      poll_cancellation(node.rows.size());
      own.output = (own.output + 1) % n_outputs;
      read_bag(node, own);
    }
  }

  static bool is_constant(const NodeSample& sample) {
    if (sample.target.empty()) return sample.n_classes == 1;
    return std::all_of(sample.target.begin(), sample.target.end(),
                       [&](double target) { return target == sample.target[0]; });
  }

  // Reads the rows of the bag. Their classes are renumbered in the order of first occurrence.
  void read_bag(const NodeRows& node, ModelScratch& own) const {
    const TrainingRowData& row_data = *node.row_data;
    NodeSample& sample = own.sample;
    sample.resize(node.rows.size(), own.features.size());
    sample.rows_number = ++own.n_nodes;
    own.class_id.assign(static_cast<size_t>(row_data.n_classes), -1);
    sample.n_classes = 0;
    sample.label.resize(row_data.n_classes > 0 ? sample.n : 0);
    sample.target.resize(row_data.n_classes > 0 ? 0 : sample.n);
    if (row_data.times) return read_survival(node, own);
    for (size_t i = 0; i < sample.n; ++i) {
      const size_t row = node.data_row(i);
      sample.weight[i] = row_data.weight(row);
      if (row_data.n_classes == 0) {
        sample.target[i] = row_data.target(row, own.output);
        continue;
      }
      int32_t& id = own.class_id[row_data.label(row, own.output)];
      if (id < 0) id = sample.n_classes++;
      sample.label[i] = id;
    }
  }

  void read_survival(const NodeRows& node, ModelScratch& own) const {
    const TrainingRowData& row_data = *node.row_data;
    NodeSample& sample = own.sample;
    sample.survival.resize(sample.n);
    for (size_t i = 0; i < sample.n; ++i) {
      const size_t row = node.data_row(i);
      sample.weight[i] = row_data.weight(row);
      const uint32_t entry = row_data.entries ? row_data.entries[row] : 0;
      sample.survival[i] = {sample.weight[i], row_data.times[row], entry, row_data.events[row]};
    }
    own.sets.fill(sample.survival.data(), sample.n);
    for (size_t i = 0; i < sample.n; ++i)
      sample.target[i] = own.sets.score(sample.survival.data(), i);
  }

  void read_out_of_bag(const NodeRows& node, ModelScratch& own) const {
    const OutOfBagRows& outside = node.out_of_bag;
    const TrainingRowData& row_data = *node.row_data;
    NodeSample& sample = own.out_of_bag;
    read_values(outside.columns, outside.rows, own.features, sample);
    sample.n_classes = own.sample.n_classes;
    sample.label.resize(row_data.n_classes > 0 ? sample.n : 0);
    sample.target.resize(row_data.n_classes > 0 ? 0 : sample.n);
    for (size_t i = 0; i < sample.n; ++i) {
      const size_t row = outside.data_rows ? outside.data_rows[outside.rows[i]] : outside.rows[i];
      sample.weight[i] = row_data.weight_outside(row);
      if (row_data.n_classes > 0)
        sample.label[i] = own.class_id[row_data.label(row, own.output)];
      else
        sample.target[i] = row_data.target(row, own.output);
    }
  }

  // Whether the first direction leaves both sides of its best cut pure, beyond any rounding: no cut
  // scores more, and ties go to the first drawn. With real weights the same cut may score more when
  // left and right are exchanged.
  bool separates(const NodeRows& node, const ModelScratch& own) const {
    const NodeSample& s = own.sample;
    const bool decides = node.row_data->n_outputs() == 1;  // one of several outputs is not enough
    const bool has_two_sides = s.n == 2 || (decides && s.n <= kMaxChecked && s.n_classes == 2);
    if (!has_two_sides || node.row_data->weights || node.row_data->balance) return false;
    if (own.directions.count() == 0) return false;
    const auto coefficients = own.directions[0];
    int n_nonzero = 0;
    for (const double c : coefficients) n_nonzero += static_cast<float>(c) != 0.0f;
    if (n_nonzero < 2) return false;  // missing values of a single feature are not replaced
    double low[2], high[2], size = 0.0;
    for (const int side : {0, 1}) {
      low[side] = std::numeric_limits<double>::infinity();
      high[side] = -low[side];
    }
    for (size_t i = 0; i < s.n; ++i) {
      double value = 0.0, sizes = 0.0;
      for (size_t j = 0; j < s.m; ++j) {
        const double part = static_cast<float>(coefficients[j]) * s.row(i)[j];
        value += part;
        sizes += std::fabs(part);
      }
      const size_t side = s.n == 2 ? i : static_cast<size_t>(s.label[i]);
      low[side] = std::min(low[side], value);
      high[side] = std::max(high[side], value);
      size = std::max(size, sizes);
    }
    constexpr double kRounding = 1e-6, kMax = 1e30;  // of sums in float32
    const double gap = std::max(low[1] - high[0], low[0] - high[1]);
    return size < kMax && gap > kRounding * static_cast<double>(s.m + 1) * size;
  }

  void emit(const ModelScratch& own, Candidates& out) const {
    for (size_t d = 0; d < own.directions.count(); ++d) {
      const auto coefficients = own.directions[d];
      for (size_t j = 0; j < coefficients.size(); ++j) {
        const auto weight = static_cast<float>(coefficients[j]);
        if (weight == 0.0f) continue;
        if (family_.records_p_values())
          out.p_value.resize(out.index.size(), std::numeric_limits<float>::quiet_NaN());
        out.add_entry(own.features[j], weight);
        if (family_.records_p_values())
          out.p_value.push_back(static_cast<float>(own.p_values[d * coefficients.size() + j]));
      }
      if (out.index.size() > out.offset.back()) out.close();
    }
  }

  const ModelFamily& family_;
  static constexpr size_t kMaxChecked = 64;

  const DatasetView& data_;
  const bool may_stop_;
  int64_t n_features_;
};

}  // namespace

std::unique_ptr<Sampler> ModelFamily::make_sampler(const SamplerInput& input) const {
  return std::make_unique<ModelSampler>(*this, input.data, input.first_perfect_cut_wins);
}

}  // namespace bevel
