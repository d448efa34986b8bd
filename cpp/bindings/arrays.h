// NumPy arrays in and out. Inputs must have the exact type: nothing is converted silently.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/support/check.h"

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ColumnMatrix = nb::ndarray<const float, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using RowMajorMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using TreeMask = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> as_span(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

// The terms of the last columns of a table, rows of (nominal feature, level); checked.
using LevelTermTable = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
inline std::vector<bevel::LevelTerm> read_level_terms(const std::optional<LevelTermTable>& table,
                                                      const Vector<int32_t>& levels) {
  std::vector<bevel::LevelTerm> terms;
  if (!table) return terms;
  bevel::require(table->shape(1) == 2 && table->shape(0) < levels.shape(0), "[level terms] shape");
  const size_t first = levels.shape(0) - table->shape(0);
  for (size_t t = 0; t < table->shape(0); ++t) {
    const bevel::LevelTerm term{(*table)(t, 0), (*table)(t, 1)};
    const bool known = term.feature >= 0 && static_cast<size_t>(term.feature) < first;
    bevel::require(
        known && term.level >= 0 && term.level < levels(term.feature) && levels(first + t) == 0,
        "[level terms] a level of a nominal feature");
    terms.push_back(term);
  }
  return terms;
}

template <class T>
bool is_aligned(const T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % alignof(T) == 0;
}

// A NumPy array that owns the vector's memory.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values) {
  const size_t n = values.size();
  return to_numpy(std::move(values), {n});
}
