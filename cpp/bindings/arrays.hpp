// NumPy arrays and C++ vectors.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
// The casters must be the same in every file that casts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bindings/gil.hpp"
#include "memory.hpp"

namespace mercer {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// A new NumPy array that owns its memory.
template <class T>
nb::ndarray<nb::numpy, T> fresh(std::initializer_list<size_t> shape, T** data) {
  double values = 1;
  std::string words;
  for (size_t s : shape) {
    values *= static_cast<double>(s);
    words += (words.empty() ? "" : " x ") + std::to_string(s);
  }
  if (values > 1e18) throw OutOfMemory(words, values, sizeof(T));
  auto buffer = std::make_unique<Buffer<T>>();
  try {
    buffer->reset(static_cast<Index>(std::max(values, 1.0)));
  } catch (const OutOfMemory&) {
    throw OutOfMemory(words, values, sizeof(T));
  }
  *data = buffer->data();
  nb::capsule owner(buffer.release(), [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(*data, shape, owner);
}

template <class T>
std::vector<T> to_vector(const Array1<T>& a) {
  return std::vector<T>(a.data(), a.data() + a.shape(0));
}

template <class T>
nb::object array_of(const std::vector<T>& v) {
  T* data;
  auto a = fresh<T>({v.size()}, &data);
  std::copy(v.begin(), v.end(), data);
  return nb::cast(a);
}

/// Refuses the position of an object that is none of n.
inline void require_object(Index i, Index n) {
  if (i >= 0 && i < n) return;
  const std::string text = "object " + std::to_string(i) + " is out of range: there are " +
                           std::to_string(n) + ", counted from 0.";
  throw nb::index_error(text.c_str());
}

/// A Python object that C++ threads may copy and drop without holding the interpreter lock.
inline std::shared_ptr<nb::object> shared(nb::object o) {
  return std::shared_ptr<nb::object>(new nb::object(std::move(o)), [](nb::object* p) {
    const HoldLock gil;
    delete p;
  });
}

}  // namespace mercer
