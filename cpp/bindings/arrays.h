// NumPy arrays in and out. Inputs must have the exact type: nothing is converted silently.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
