// The table of the arrays of a flat forest. Structs, conversions and checks of lengths are
// generated from it; FOREST_FIELDS of src/bevel/forest/flat_forest.py is the same table in
// Python, and a test compares them. FlatForest describes each array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

// FIELD(element type, name, per, kind, use); see the enumerations below. All arrays but `right`.
#define BEVEL_FIELDS_BUT_RIGHT(FIELD)                              \
  FIELD(int64_t, tree_offset, tree, offsets, prediction)           \
  FIELD(float, threshold, node, values, prediction)                \
  FIELD(uint8_t, flags, node, values, prediction)                  \
  FIELD(float, gain, node, optional, analysis)                     \
  FIELD(float, weight, node, optional, analysis)                   \
  FIELD(int64_t, entry_offset, node, offsets, prediction)          \
  FIELD(int32_t, entry_index, entry, values, prediction)           \
  FIELD(float, entry_weight, entry, values, prediction)            \
  FIELD(float, entry_p_value, entry, optional, analysis)           \
  FIELD(double, leaf_value, node, regression, prediction)          \
  FIELD(int32_t, bits_index, node, optional, prediction)           \
  FIELD(int64_t, bits_offset, set, offsets, prediction)            \
  FIELD(uint32_t, bits, word, values, prediction)                  \
  FIELD(int64_t, rotation_offset, tree, offsets, prediction)       \
  FIELD(int64_t, rotation_entry_offset, axis, offsets, prediction) \
  FIELD(int32_t, rotation_index, axis_entry, values, prediction)   \
  FIELD(float, rotation_weight, axis_entry, values, prediction)    \
  FIELD(int32_t, output_classes, output, values, prediction)       \
  FIELD(double, output_value, leaf_output, values, prediction)     \
  FIELD(int32_t, entry_level, entry, optional, prediction)         \
  FIELD(float, entry_low, entry, optional, prediction)             \
  FIELD(float, entry_high, entry, optional, prediction)

// The arrays in memory.
#define BEVEL_FOREST_ARRAYS(FIELD)                \
  FIELD(int32_t, right, node, values, prediction) \
  BEVEL_FIELDS_BUT_RIGHT(FIELD)

// The columns of a file, which have the leaves under the left child in place of the right child.
#define BEVEL_FOREST_COLUMNS(FIELD)                     \
  FIELD(int32_t, left_leaves, node, values, prediction) \
  BEVEL_FIELDS_BUT_RIGHT(FIELD)

namespace bevel {

// The unit that an array has values for. A set is a set of levels, a word 32 bits of one. An axis
// is a direction that the nodes of a tree share. Outputs are counted where there are several, and
// in regression each leaf has a value for each of them.
enum class Per { tree, node, entry, set, word, axis, axis_entry, output, leaf_output };

enum class FieldKind {
  values,      // one value each
  offsets,     // offsets of the entries of each unit, and the end of the last
  optional,    // one value each, or none at all
  regression,  // one value each in a regression with one output, else none at all
};

enum class FieldUse { prediction, analysis };  // slim forests have no arrays of `analysis`

struct ForestField {
  const char* name;
  Per per;
  FieldKind kind;
  FieldUse use;
};

// Numbers of the units of a forest.
struct ForestCounts {
  size_t trees, nodes, entries, sets, words, axes, axis_entries;
  size_t outputs;  // 0: one
  bool is_regression;

  // Every split has two children: trees of n nodes in all have (n + trees) / 2 leaves.
  size_t leaves() const { return (nodes + trees) / 2; }
  size_t leaf_outputs() const { return is_regression ? leaves() * outputs : 0; }
  size_t of(Per per) const {
    const size_t counts[] = {trees, nodes,        entries, sets,          words,
                             axes,  axis_entries, outputs, leaf_outputs()};
    return counts[static_cast<size_t>(per)];
  }
};

// The length that an array must have; one of kind `optional` may be empty instead.
inline size_t length_of(const ForestField& field, const ForestCounts& counts) {
  const size_t n = counts.of(field.per);
  if (field.kind == FieldKind::offsets) return n + 1;
  const bool has_values = counts.is_regression && counts.outputs == 0;
  return field.kind == FieldKind::regression && !has_values ? 0 : n;
}

// Content of an array of a forest without trees: offsets begin with 0.
template <class T>
std::vector<T> empty_array(FieldKind kind) {
  return std::vector<T>(kind == FieldKind::offsets ? 1 : 0);
}

// NumPy's name of an element type.
template <class T>
std::string dtype_of() {
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return (sizeof(T) == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(sizeof(T));
}

#define BEVEL_VISIT(type, name, per, kind, use) \
  visit(ForestField{#name, Per::per, FieldKind::kind, FieldUse::use}, forest.name);

// Calls visit(field, array) for each array of a struct that has the arrays as members.
template <class Forest, class Visit>
void for_each_array(Forest& forest, Visit visit) {
  BEVEL_FOREST_ARRAYS(BEVEL_VISIT)
}

// Calls visit(field, column) for a struct that has the columns of a file as members.
template <class Forest, class Visit>
void for_each_column(Forest& forest, Visit visit) {
  BEVEL_FOREST_COLUMNS(BEVEL_VISIT)
}

#undef BEVEL_VISIT

// Views of, or copies of, the arrays of another struct.
template <class To, class From>
void assign_arrays(To& to, const From& from) {
#define BEVEL_ASSIGN(type, name, per, kind, use) to.name = from.name;
  BEVEL_FOREST_ARRAYS(BEVEL_ASSIGN)
#undef BEVEL_ASSIGN
}

}  // namespace bevel
