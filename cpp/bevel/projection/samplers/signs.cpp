#include <algorithm>
#include <span>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/support/cancellation.h"

namespace bevel {
namespace {

class SignsSampler : public Sampler {
 public:
  SignsSampler(std::vector<CombinedColumn> columns, int32_t n_draws, int64_t n_nonzeros)
      : columns_(std::move(columns)),
        n_draws_(n_draws),
        n_nonzeros_(
            std::min<int64_t>(n_nonzeros, static_cast<int64_t>(columns_.size()) * n_draws)) {}

  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    const auto p = static_cast<uint64_t>(columns_.size());
    const auto d = static_cast<uint64_t>(n_draws_);
    const auto n_nonzeros = static_cast<uint64_t>(n_nonzeros_);
    // Above one half it is cheaper to draw the empty cells.
    const bool dense = 2 * n_nonzeros > p * d;
    draw_cells(dense ? p * d - n_nonzeros : n_nonzeros, p, d, stream, scratch);
    if (dense) complement(p, d, scratch);
    emit(stream, scratch, out);
  }

 private:
  static constexpr size_t kWorkOfCell = 8;
  static constexpr size_t kBlock = 1 << 16;  // cells between polls

  static void draw_cells(uint64_t n, uint64_t p, uint64_t d, Stream& stream,
                         SamplerScratch& scratch) {
    scratch.cells.begin(n);
    resize_in_steps(scratch.column, n);
    resize_in_steps(scratch.row, n);
    for (size_t k = 0; k < n;) {  // polling for each cell would cost a quarter of the time
      const size_t end = std::min<size_t>(k + kBlock, n);
      poll_cancellation((end - k) * kWorkOfCell);
      draw_block(k, end, p, d, stream, scratch);
      k = end;
    }
  }
  static void draw_block(size_t k, size_t end, uint64_t p, uint64_t d, Stream& stream,
                         SamplerScratch& scratch) {
    Stream draws = stream;  // in registers
    int32_t *columns = scratch.column.data(), *rows = scratch.row.data();
    while (k < end) {
      // The high half of x d is the column; its low half, uniform again, gives the row.
      const uint64_t x = draws.next();
      const uint64_t column = multiply_high(x, d);
      const uint64_t row = multiply_high(x * d, p);
      columns[k] = static_cast<int32_t>(column);
      rows[k] = static_cast<int32_t>(row);
      k += scratch.cells.insert(column * p + row);
    }
    stream = draws;
  }
  static void complement(uint64_t p, uint64_t d, SamplerScratch& scratch) {
    scratch.column.clear();
    scratch.row.clear();
    for (uint64_t first = 0; first < p * d; first += kBlock) {
      const uint64_t end = std::min<uint64_t>(first + kBlock, p * d);
      poll_cancellation((end - first) * kWorkOfCell);
      for (uint64_t cell = first; cell < end; ++cell) {
        if (scratch.cells.contains(cell)) continue;
        scratch.column.push_back(static_cast<int32_t>(cell / p));
        scratch.row.push_back(static_cast<int32_t>(cell % p));
      }
    }
  }
  // Entries sorted by column, each with a random sign.
  void emit(Stream& stream, SamplerScratch& scratch, Candidates& out) const {
    auto& next = scratch.next_entry;
    next.assign(static_cast<size_t>(n_draws_), 0);
    const size_t n = scratch.column.size();
    for (size_t first = 0; first < n; first += kBlock) {
      const size_t size = std::min(kBlock, n - first);
      poll_cancellation(size);
      for (const int32_t column : std::span(scratch.column).subspan(first, size)) ++next[column];
    }
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
      if (k % 64 == 0) {
        poll_cancellation(64 * kWorkOfCell);
        signs = stream.next();
      }
      const uint32_t slot = next[scratch.column[k]]++;
      out.index[slot] = draw_term(columns_[scratch.row[k]], stream);
      out.weight[slot] = (signs >> (k % 64) & 1) ? 1.0f : -1.0f;
    }
  }

  std::vector<CombinedColumn> columns_;
  int32_t n_draws_;
  int64_t n_nonzeros_;
};

// SPORF 3.1: n_nonzeros entries of +-1 at uniform positions, without replacement, of the p x d
// matrix. Empty columns are not candidates.
class SignsFamily : public Family {
 public:
  SignsFamily(const FamilySize& size, FamilySettings&) : Family(size) {}

  std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const override {
    return std::make_unique<SignsSampler>(input.data.combined, n_draws, n_nonzeros);
  }
  size_t features_per_node() const override { return static_cast<size_t>(n_nonzeros); }
  bool needs_no_values() const override { return true; }
  UnderConstraints under_constraints() const override { return UnderConstraints::redraws; }
};

}  // namespace

std::shared_ptr<const Family> make_signs(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<SignsFamily>(size, settings);
}

}  // namespace bevel
