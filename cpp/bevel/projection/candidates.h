// Directions, such as those a node is about to try: feature indices and weights of each, back to
// back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bevel {

struct Candidates {
  std::vector<uint32_t> offset{0};  // size() + 1
  std::vector<int32_t> index;       // features; >= n_features: axes of the tree
  std::vector<float> weight;
  std::vector<float> p_value;  // p-value of each entry, as far as models have recorded them

  size_t size() const { return offset.size() - 1; }
  int n_nonzeros(size_t c) const { return static_cast<int>(offset[c + 1] - offset[c]); }
  const int32_t* indices(size_t c) const { return index.data() + offset[c]; }
  const float* weights(size_t c) const { return weight.data() + offset[c]; }

  void clear() {
    offset.assign(1, 0);
    index.clear();
    weight.clear();
    p_value.clear();
  }
  void add_entry(int32_t feature, float w) {
    index.push_back(feature);
    weight.push_back(w);
  }
  void close() { offset.push_back(static_cast<uint32_t>(index.size())); }
  void add_axis(int32_t feature) {
    add_entry(feature, 1.0f);
    close();
  }
};

}  // namespace bevel
