#include "bevel/blocks/block_request.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "bevel/support/check.h"

namespace bevel {
namespace {

constexpr uint64_t kMark = 0x6265766c626c6b31ULL;  // changes with the layout

class Writer {
 public:
  template <class T>
  void operator()(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    (*this)(static_cast<uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void operator()(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(std::vector<T>& values) {
    uint64_t n = 0;
    (*this)(n);
    require(n <= bytes_.size() / sizeof(T), "[blocks] a request that was cut off");
    values.resize(n);
    if (n) std::memcpy(values.data(), bytes_.data(), n * sizeof(T));
    bytes_ = bytes_.subspan(n * sizeof(T));
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void operator()(T& value) {
    require(bytes_.size() >= sizeof(T), "[blocks] a request that was cut off");
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const char> bytes_;
};

// All members but the draws, in the order of the bytes.
template <class Request, class Visit>
void visit_members(Request& r, Visit& visit) {
  visit(r.grid.n_classes);
  visit(r.grid.whole);
  visit(r.grid.weight);
  visit(r.grid.target);
  visit(r.grid.centre);
  visit(r.grid.gain);
  visit(r.trees.root);
  visit(r.trees.takes_all);
  visit(r.trees.first);
  visit(r.trees.left);
  visit(r.trees.right);
  visit(r.trees.slot);
  visit(r.trees.threshold);
  visit(r.trees.flags);
  visit(r.trees.directions.offset);
  visit(r.trees.directions.index);
  visit(r.trees.directions.weight);
  visit(r.trees.bits_offset);
  visit(r.trees.bits);
  visit(r.bins.first);
  visit(r.bins.candidates.offset);
  visit(r.bins.candidates.index);
  visit(r.bins.candidates.weight);
  visit(r.bins.is_nominal);
  visit(r.bins.edge_offset);
  visit(r.bins.edges);
  visit(r.bins.node_cell);
  visit(r.bins.cell);
  visit(r.bins.n_cells);
}

}  // namespace

RowDraws row_draws(const Options& options, uint64_t n_rows) {
  if (options.bag_size == 0) return {};
  const double rate = static_cast<double>(options.bag_size) / static_cast<double>(n_rows);
  return {std::min(rate, 1.0), options.replace};
}

std::string BlockRequest::to_bytes() const {
  Writer write;
  write(kMark);
  write(draws.draws());
  write(draws.bounds());
  visit_members(*this, write);
  return write.take();
}

BlockRequest BlockRequest::from_bytes(std::span<const char> bytes) {
  Reader read(bytes);
  uint64_t mark = 0;
  read(mark);
  require(mark == kMark, "[blocks] bytes that are no request");
  BlockRequest request;
  bool draws = false;
  std::vector<uint64_t> bounds;
  read(draws);
  read(bounds);
  request.draws = RowDraws::from_bounds(draws, std::move(bounds));
  visit_members(request, read);
  require(read.at_end(), "[blocks] a request with bytes after its end");
  return request;
}

}  // namespace bevel
