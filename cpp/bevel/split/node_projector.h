// Values of candidates on the rows of a node, read by the fastest method for the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/projection/candidates.h"
#include "bevel/split/kernels/kernels.h"
#include "bevel/split/node_view.h"
#include "bevel/split/search/screening.h"
#include "bevel/support/cancellation.h"

namespace bevel {

class NodeProjector {
 public:
  static constexpr size_t kSpare = 16;  // kernels store whole registers

  NodeProjector(const DatasetView& data, const Kernels& kernels) : data_(data), kernels_(kernels) {}

  // Sets the node and the candidates of later calls without these arguments.
  void begin_node(const NodeView& node, const Candidates& candidates) {
    node_ = &node;
    candidates_ = &candidates;
    if (values_.size() < node.n + kSpare) values_.resize(node.n + kSpare);
    if (data_.sparse)
      gather_.begin_node(*data_.sparse, {node.rows, node.n});
    else
      find_span();
  }

  // Values of a candidate, valid until the next call; or in `out`, which has room for kSpare more.
  const float* project(size_t candidate) { return project(candidate, values_.data()); }
  const float* project(size_t candidate, float* out) {
    poll_if_large();
    poll_at_some(candidate);
    if (data_.sparse) return project_sparse(candidate, *node_, *candidates_, gather_, out);
    const Projection projection = direction(candidate, *node_, *candidates_);
    if (span_ > 0)
      kernels_.project_span(projection, node_->rows[0], span_, member_.data(), out);
    else
      kernels_.project(projection, node_->rows, node_->n, out);
    return out;
  }
  // Values on the rows of any node.
  const float* project(size_t candidate, const NodeView& node, const Candidates& candidates,
                       float* out) {
    if (data_.sparse) {
      other_gather_.begin_node(*data_.sparse, {node.rows, node.n});
      return project_sparse(candidate, node, candidates, other_gather_, out);
    }
    kernels_.project(direction(candidate, node, candidates), node.rows, node.n, out);
    return out;
  }

  // A candidate's numbers by codes, valid until the next call.
  CodedValues sum_codes(const CodedDirection& coded, Prefetch& next) {
    poll_if_large();
    const uint32_t* rows = node_->rows;
    const bool is_run = rows[node_->n - 1] - rows[0] + 1 == node_->n;
    const size_t n = is_run || span_ == 0 ? node_->n : span_;
    sums_.resize(std::max(sums_.size(), n));
    CodedValues result{{sums_.data(), n}, {}, coded.width, {}};
    if (is_run || span_ > 0) {
      result.range = kernels_.sum_codes_span(coded.projection, rows[0], n,
                                             is_run ? nullptr : member_.data(), next, sums_.data());
      if (!is_run) result.rows = {rows, rows[0]};
    } else {
      result.range = kernels_.sum_codes(coded.projection, rows, n, sums_.data());
    }
    return result;
  }

  // Memory that this candidate will read, if prefetching it pays. Valid until the next call.
  Prefetch prefetch(size_t candidate) {
    return prefetch(candidate, [this](int32_t feature) { return node_->columns[feature]; });
  }
  Prefetch prefetch_codes(size_t candidate) {
    return prefetch(candidate, [this](int32_t feature) { return node_->codes->column(feature); });
  }

 private:
  static constexpr size_t kMinSpanRows = 64;

  // Polls for cancellation, once for each candidate of a large node; small nodes take little time,
  // unless they have very many candidates.
  void poll_if_large() const {
    constexpr size_t kLargeNode = 128, kWorkOfRow = 16;
    if (node_->n >= kLargeNode) poll_cancellation(node_->n * kWorkOfRow);
  }
  static void poll_at_some(size_t candidate) {
    constexpr size_t kEvery = 256, kWorkOfCandidate = 1024;
    if (candidate % kEvery == kEvery - 1) poll_cancellation(kEvery * kWorkOfCandidate);
  }

  // Marks the rows of a large node that fill a good part of their span: reading whole lines of a
  // column and keeping some values is then faster than gathering rows from a list.
  void find_span() {
    constexpr size_t kSparsest = 8;
    span_ = 0;
    const size_t n = node_->n;
    const size_t span = node_->rows[n - 1] - node_->rows[0] + 1;
    if (n < kMinSpanRows || span == n || span > kSparsest * n || candidates_->size() < 4) return;
    member_.assign(span, 0);
    for (size_t i = 0; i < n; ++i) member_[node_->rows[i] - node_->rows[0]] = 1;
    span_ = span;
  }

  // The columns of the candidate are gathered for the rows of the node, which are then all rows.
  const float* project_sparse(size_t candidate, const NodeView& node, const Candidates& candidates,
                              SparseGather& gather, float* out) {
    Projection projection = direction(candidate, node, candidates);
    const auto nnz = static_cast<size_t>(projection.n_nonzeros);
    if (gathered_.size() < nnz * node.n) gathered_.resize(nnz * node.n);
    for (size_t k = 0; k < nnz; ++k) {
      float* values = gathered_.data() + k * node.n;
      gather.read(static_cast<size_t>(candidates.indices(candidate)[k]), values);
      columns_[k] = values;
    }
    while (numbers_.size() < node.n) numbers_.push_back(static_cast<uint32_t>(numbers_.size()));
    kernels_.project(projection, numbers_.data(), node.n, out);
    return out;
  }

  // Valid until the next call.
  Projection direction(size_t candidate, const NodeView& node, const Candidates& candidates) {
    const int nnz = candidates.n_nonzeros(candidate);
    const int32_t* index = candidates.indices(candidate);
    columns_.resize(static_cast<size_t>(nnz));
    fill_.resize(static_cast<size_t>(nnz));
    bool fill = false;
    for (int k = 0; k < nnz; ++k) {
      columns_[k] = node.columns[index[k]];
      const bool original = index[k] < data_.n_features;
      fill_[k] = original ? data_.medians[index[k]] : 0.0f;
      fill |= original && data_.has_nan[index[k]];
    }
    return {columns_.data(), candidates.weights(candidate),
            fill && nnz > 1 ? fill_.data() : nullptr, nnz};
  }

  template <class Column>
  Prefetch prefetch(size_t candidate, Column column) {
    constexpr size_t kMaxBytes = size_t{1} << 18;  // more would not stay in the cache
    const int n = candidates_->n_nonzeros(candidate);
    const size_t bytes = span_ * sizeof(*column(0));
    if (!node_->exceeds_cache || span_ == 0 || static_cast<size_t>(n) * bytes > kMaxBytes)
      return {};
    runs_.resize(static_cast<size_t>(n));
    for (int k = 0; k < n; ++k)
      runs_[k] = reinterpret_cast<const char*>(column(candidates_->indices(candidate)[k]) +
                                               node_->rows[0]);
    return {runs_.data(), n, 0, bytes};
  }

  const DatasetView& data_;
  const Kernels& kernels_;

  const NodeView* node_ = nullptr;
  const Candidates* candidates_ = nullptr;
  size_t span_ = 0;  // rows from the node's first to its last; 0: gathered from the list
  std::vector<uint8_t> member_;

  SparseGather gather_, other_gather_;
  std::vector<float> gathered_;
  std::vector<uint32_t> numbers_;
  std::vector<float> values_;
  std::vector<uint16_t> sums_;
  std::vector<const float*> columns_;
  std::vector<float> fill_;
  std::vector<const char*> runs_;
};

}  // namespace bevel
