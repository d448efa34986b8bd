// Nodes of one grown tree in preorder: the left child of node i is i + 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bevel {

constexpr uint8_t kMissingLeft = 1;
constexpr uint8_t kCategoryNode = 2;

// Keeps sums of huge weights finite when they are stored.
inline float finite_float(double value) {
  return static_cast<float>(std::min(value, double{std::numeric_limits<float>::max()}));
}

// A split in the form that is stored: the direction, the cut and the result.
struct SplitRecord {
  std::vector<int32_t> index;
  std::vector<float> coefficient;
  std::vector<float> p_value;        // p-values of the coefficients, empty unless recorded
  std::vector<uint32_t> level_bits;  // category nodes
  std::vector<int32_t> inherited;    // left by the node's models for its children, per family
  float threshold = 0.0f;
  uint8_t flags = 0;
  double gain = 0.0;

  bool is_category() const { return flags & kCategoryNode; }
};

struct NodeStore {
  std::vector<int32_t> right;  // -1: leaf
  std::vector<float> threshold;
  std::vector<uint8_t> flags;
  std::vector<float> gain;
  std::vector<float> weight;
  std::vector<int64_t> entry_offset{0};
  std::vector<int32_t> entry_index;
  std::vector<float> entry_weight;
  std::vector<float> entry_p_value;  // NaN where there is none; ends with the last recorded one
  std::vector<int32_t> entry_level;  // see name_level_terms(); empty while growing
  // Ranges of the features of linear models in leaves, see leaf_model.h; empty without models.
  std::vector<float> entry_low, entry_high;
  std::vector<double> leaf_value;    // regression only: one per node
  std::vector<double> output_value;  // regression with several outputs: one each for every leaf
  std::vector<int32_t> bits_index;   // per node, -1 without a set of levels
  std::vector<int64_t> bits_offset{0};
  std::vector<uint32_t> bits;

  size_t size() const { return right.size(); }
  // Releases memory that was reserved during growth.
  void shrink() {
    for (auto* array : {&right, &entry_index, &bits_index}) array->shrink_to_fit();
    for (auto* array : {&threshold, &gain, &weight, &entry_weight, &entry_p_value})
      array->shrink_to_fit();
    flags.shrink_to_fit();
    entry_offset.shrink_to_fit();
    leaf_value.shrink_to_fit();
    output_value.shrink_to_fit();
  }

  // Appends a node without entries; add_entry() and close() complete it.
  int32_t open(float node_weight, bool is_regression) {
    right.push_back(-1);
    threshold.push_back(0.0f);
    flags.push_back(0);
    gain.push_back(0.0f);
    weight.push_back(node_weight);
    if (is_regression) leaf_value.push_back(0.0);
    bits_index.push_back(-1);
    return static_cast<int32_t>(right.size()) - 1;
  }
  void add_entry(int32_t index, float value) {
    entry_index.push_back(index);
    entry_weight.push_back(value);
  }
  // Adds a p-value of NaN for each entry so far that has none.
  void fill_p_values() {
    entry_p_value.resize(entry_index.size(), std::numeric_limits<float>::quiet_NaN());
  }
  void close() { entry_offset.push_back(static_cast<int64_t>(entry_index.size())); }

  void set_split(int32_t node, const SplitRecord& split) {
    threshold[node] = split.threshold;
    flags[node] = split.flags;
    gain[node] = finite_float(std::max(split.gain, 0.0));
    if (!split.p_value.empty()) {
      fill_p_values();
      entry_p_value.insert(entry_p_value.end(), split.p_value.begin(), split.p_value.end());
    }
    for (size_t k = 0; k < split.index.size(); ++k) add_entry(split.index[k], split.coefficient[k]);
    if (split.is_category()) {
      bits_index[node] = static_cast<int32_t>(bits_offset.size()) - 1;
      bits.insert(bits.end(), split.level_bits.begin(), split.level_bits.end());
      bits_offset.push_back(static_cast<int64_t>(bits.size()));
    }
    close();
  }
};

// A subtree that was grown elsewhere and replaces node `position`.
struct Graft {
  int32_t position;
  NodeStore subtree;
  std::vector<Graft> grafts;
};

// Inserts all grafts, in ascending order of position.
NodeStore assemble(NodeStore trunk, std::vector<Graft> grafts);

}  // namespace bevel
