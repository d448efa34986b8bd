#include "bevel/projection/sampler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bevel/projection/rotation.h"

namespace bevel {

bool Sampler::sample_more(Stream&, SamplerScratch&, Candidates&) const { return false; }
void Sampler::end_node(SamplerScratch&) const {}

namespace {

// d distinct ones of a list of columns: features for Breiman's forest, axes of a tree's rotation,
// or nominal columns.
class ListSampler : public Sampler {
 public:
  ListSampler(std::vector<int32_t> columns, int32_t n_draws)
      : columns_(std::move(columns)),
        n_draws_(std::min<int32_t>(n_draws, static_cast<int32_t>(columns_.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.features.resize(static_cast<int32_t>(columns_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) out.add_axis(columns_[scratch.features.deal(stream)]);
  }
  bool sample_more(Stream& stream, SamplerScratch& scratch, Candidates& out) const override {
    if (scratch.features.empty()) return false;
    out.add_axis(columns_[scratch.features.deal(stream)]);
    return true;
  }
  void end_node(SamplerScratch& scratch) const override { scratch.features.gather(); }
  bool can_redraw() const override { return false; }

 private:
  std::vector<int32_t> columns_;
  int32_t n_draws_;
};

// SPORF 3.1: n_nonzeros entries of +-1 thrown uniformly, without replacement, into the p x d
// matrix. Columns that stay empty are no candidates.
class SignsSampler : public Sampler {
 public:
  SignsSampler(std::vector<int32_t> features, int32_t n_draws, int64_t n_nonzeros)
      : features_(std::move(features)),
        n_draws_(n_draws),
        n_nonzeros_(
            std::min<int64_t>(n_nonzeros, static_cast<int64_t>(features_.size()) * n_draws)) {}

  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    const auto p = static_cast<uint64_t>(features_.size());
    const auto d = static_cast<uint64_t>(n_draws_);
    const auto n_nonzeros = static_cast<uint64_t>(n_nonzeros_);
    // Above one half it is cheaper to throw the empty cells and to keep the others.
    const bool dense = 2 * n_nonzeros > p * d;
    throw_cells(dense ? p * d - n_nonzeros : n_nonzeros, p, d, stream, scratch);
    if (dense) complement(p, d, scratch);
    emit(stream, scratch, out);
  }

 private:
  static void throw_cells(uint64_t n, uint64_t p, uint64_t d, Stream& stream,
                          SamplerScratch& scratch) {
    scratch.cells.begin(n);
    scratch.column.resize(n);
    scratch.row.resize(n);
    for (size_t k = 0; k < n;) {
      // The high half of x d is the column; its low half, uniform again, gives the row.
      const uint64_t x = stream.next();
      const uint64_t column = multiply_high(x, d);
      const uint64_t row = multiply_high(x * d, p);
      scratch.column[k] = static_cast<int32_t>(column);
      scratch.row[k] = static_cast<int32_t>(row);
      k += scratch.cells.insert(column * p + row);
    }
  }
  static void complement(uint64_t p, uint64_t d, SamplerScratch& scratch) {
    scratch.column.clear();
    scratch.row.clear();
    for (uint64_t cell = 0; cell < p * d; ++cell) {
      if (scratch.cells.contains(cell)) continue;
      scratch.column.push_back(static_cast<int32_t>(cell / p));
      scratch.row.push_back(static_cast<int32_t>(cell % p));
    }
  }
  // Entries sorted by column, each with a random sign.
  void emit(Stream& stream, SamplerScratch& scratch, Candidates& out) const {
    auto& next = scratch.next_entry;
    next.assign(static_cast<size_t>(n_draws_), 0);
    for (int32_t column : scratch.column) ++next[column];
    uint32_t end = out.offset.back();
    for (uint32_t& n : next) {
      const uint32_t start = end;
      end += n;
      if (n > 0) out.offset.push_back(end);
      n = start;
    }
    out.index.resize(end);
    out.weight.resize(end);
    uint64_t signs = 0;
    for (size_t k = 0; k < scratch.column.size(); ++k) {
      if (k % 64 == 0) signs = stream.next();
      const uint32_t slot = next[scratch.column[k]]++;
      out.index[slot] = features_[scratch.row[k]];
      out.weight[slot] = (signs >> (k % 64) & 1) ? 1.0f : -1.0f;
    }
  }

  std::vector<int32_t> features_;
  int32_t n_draws_;
  int64_t n_nonzeros_;
};

// Forest-RC (Breiman 2001): L distinct features, weights uniform on (-1, 1).
class CombinationSampler : public Sampler {
 public:
  CombinationSampler(std::vector<int32_t> features, int32_t n_draws, int64_t n_features)
      : features_(std::move(features)),
        n_draws_(n_draws),
        n_features_(std::min<int64_t>(n_features, static_cast<int64_t>(features_.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(features_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) {
      for (int64_t k = 0; k < n_features_; ++k) {
        const int32_t feature = features_[scratch.subset.deal(stream)];
        out.add_entry(feature, static_cast<float>(2.0 * stream.uniform() - 1.0));
      }
      scratch.subset.gather();
      out.close();
    }
  }

 private:
  std::vector<int32_t> features_;
  int32_t n_draws_;
  int64_t n_features_;
};

// oRF-rnd (Menze et al. 2011, section 2): mtry features standardised in the node, weights N(0, 1).
// Dividing the weight by the node's standard deviation standardises; the mean only moves
// thresholds.
class GaussianSampler : public Sampler {
 public:
  GaussianSampler(const DatasetView& data, int32_t n_draws, int64_t n_features)
      : data_(data),
        n_draws_(n_draws),
        n_features_(std::min<int64_t>(n_features, static_cast<int64_t>(data.numeric.size()))) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(data_.numeric.size()));
  }
  void sample(const NodeRows& node, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) {
      for (int64_t k = 0; k < n_features_; ++k) {
        const int32_t feature = data_.numeric[scratch.subset.deal(stream)];
        const double weight = stream.normal();
        const double stretched = weight / standard_deviation(node, feature);
        // A constant feature has no direction; one that hardly varies none that a float can hold.
        if (std::fabs(stretched) < kLargestWeight)
          out.add_entry(feature, static_cast<float>(stretched));
      }
      scratch.subset.gather();
      if (out.index.size() > out.offset.back()) out.close();
    }
  }

 private:
  static constexpr double kLargestWeight = 1e30;

  double standard_deviation(const NodeRows& node, int32_t feature) const {
    const float* x = node.columns[feature];
    const float median = data_.medians[feature];
    auto value = [&](uint32_t row) {
      return static_cast<double>(x[row] == x[row] ? x[row] : median);
    };
    double mean = 0.0;
    for (uint32_t row : node.rows) mean += value(row);
    mean /= static_cast<double>(node.rows.size());
    double squares = 0.0;
    for (uint32_t row : node.rows) {
      const double difference = value(row) - mean;
      squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>(node.rows.size()));
  }

  const DatasetView& data_;
  int32_t n_draws_;
  int64_t n_features_;
};

// Axes of a fresh Haar rotation at every node: its first d columns, dense in the chosen features.
class NodeRotationSampler : public Sampler {
 public:
  NodeRotationSampler(std::vector<int32_t> features, const Family& family)
      : features_(std::move(features)), family_(family) {}

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(features_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    const auto m = static_cast<int32_t>(
        std::min<int64_t>(family_.n_nonzeros, static_cast<int64_t>(features_.size())));
    std::vector<int32_t> chosen(static_cast<size_t>(m));
    for (auto& f : chosen) f = features_[scratch.subset.deal(stream)];
    scratch.subset.gather();
    std::sort(chosen.begin(),
              chosen.end());  // a permutation might turn a rotation into a reflection
    const int32_t d = std::min(family_.n_draws, m);
    const std::vector<double> q = haar_columns(m, d, family_.flip, stream);
    for (int32_t axis = 0; axis < d; ++axis) {
      for (int32_t k = 0; k < m; ++k)
        out.add_entry(chosen[k], static_cast<float>(q[static_cast<size_t>(axis) * m + k]));
      out.close();
    }
  }

 private:
  std::vector<int32_t> features_;
  Family family_;
};

}  // namespace

std::unique_ptr<Sampler> make_sampler(const Family& family, const DatasetView& data) {
  switch (family.kind) {
    case FamilyKind::axis:
      return std::make_unique<ListSampler>(data.numeric, family.n_draws);
    case FamilyKind::categorical:
      return std::make_unique<ListSampler>(data.categorical, family.n_draws);
    case FamilyKind::signs:
      return std::make_unique<SignsSampler>(data.numeric, family.n_draws, family.n_nonzeros);
    case FamilyKind::combination:
      return std::make_unique<CombinationSampler>(data.numeric, family.n_draws, family.n_nonzeros);
    case FamilyKind::gaussian:
      return std::make_unique<GaussianSampler>(data, family.n_draws, family.n_nonzeros);
    case FamilyKind::rotation:
      if (family.per_node) return std::make_unique<NodeRotationSampler>(data.numeric, family);
      std::vector<int32_t> axes(static_cast<size_t>(
          std::min<int64_t>(family.n_nonzeros, static_cast<int64_t>(data.numeric.size()))));
      for (size_t i = 0; i < axes.size(); ++i) axes[i] = data.n_features + static_cast<int32_t>(i);
      return std::make_unique<ListSampler>(std::move(axes), family.n_draws);
  }
  throw std::logic_error("[make_sampler] unknown family");
}

}  // namespace bevel
