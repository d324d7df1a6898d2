// Vectors of the portable path: short arrays that any compiler turns into its baseline
// instructions. There is no fused multiply-add here, so last bits differ from the other paths.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

constexpr bool has_register_transpose = false;
template <class T>
inline void transpose_square(const T*, long, T*, long) {}

template <class T, int N>
struct PlainMask {
  bool m[N];
};

template <class T, int N>
struct PlainVec {
  using Scalar = T;
  static constexpr int width = N;
  T v[N];
  template <class U>
  static PlainVec load(const U* p) {
    PlainVec r;
    for (int k = 0; k < N; ++k) r.v[k] = static_cast<T>(p[k]);
    return r;
  }
  static PlainVec set(T x) {
    PlainVec r;
    for (int k = 0; k < N; ++k) r.v[k] = x;
    return r;
  }
  static PlainVec zero() { return set(T(0)); }
  static PlainVec iota() {
    PlainVec r;
    for (int k = 0; k < N; ++k) r.v[k] = static_cast<T>(k);
    return r;
  }
  void store(T* p) const {
    for (int k = 0; k < N; ++k) p[k] = v[k];
  }
};

#define MERCER_PLAIN_BINARY(name, expression)                      \
  template <class T, int N>                                        \
  inline PlainVec<T, N> name(PlainVec<T, N> a, PlainVec<T, N> b) { \
    PlainVec<T, N> r;                                              \
    for (int k = 0; k < N; ++k) r.v[k] = expression;               \
    return r;                                                      \
  }
MERCER_PLAIN_BINARY(operator+, a.v[k] + b.v[k])
MERCER_PLAIN_BINARY(operator-, a.v[k] - b.v[k])
MERCER_PLAIN_BINARY(operator*, a.v[k] * b.v[k])
MERCER_PLAIN_BINARY(operator/, a.v[k] / b.v[k])
MERCER_PLAIN_BINARY(min, a.v[k] < b.v[k] ? a.v[k] : b.v[k])
MERCER_PLAIN_BINARY(max, a.v[k] > b.v[k] ? a.v[k] : b.v[k])
#undef MERCER_PLAIN_BINARY

template <class T, int N>
inline PlainVec<T, N> fma(PlainVec<T, N> a, PlainVec<T, N> b, PlainVec<T, N> c) {
  return a * b + c;
}
template <class T, int N>
inline PlainVec<T, N> fnma(PlainVec<T, N> a, PlainVec<T, N> b, PlainVec<T, N> c) {
  return c - a * b;
}
template <class T, int N>
inline PlainVec<T, N> abs(PlainVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::fabs(a.v[k]);
  return a;
}
template <class T, int N>
inline PlainVec<T, N> round(PlainVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::nearbyint(a.v[k]);
  return a;
}
template <class T, int N>
inline PlainMask<T, N> operator<(PlainVec<T, N> a, PlainVec<T, N> b) {
  PlainMask<T, N> r;
  for (int k = 0; k < N; ++k) r.m[k] = a.v[k] < b.v[k];
  return r;
}
template <class T, int N>
inline PlainMask<T, N> operator==(PlainVec<T, N> a, PlainVec<T, N> b) {
  PlainMask<T, N> r;
  for (int k = 0; k < N; ++k) r.m[k] = a.v[k] == b.v[k];
  return r;
}
template <class T, int N>
inline PlainMask<T, N> operator&(PlainMask<T, N> a, PlainMask<T, N> b) {
  for (int k = 0; k < N; ++k) a.m[k] = a.m[k] && b.m[k];
  return a;
}
template <class T, int N>
inline PlainVec<T, N> where(PlainMask<T, N> m, PlainVec<T, N> a, PlainVec<T, N> b) {
  for (int k = 0; k < N; ++k) a.v[k] = m.m[k] ? a.v[k] : b.v[k];
  return a;
}
/// only(m, a): a where the mask holds, otherwise 0.
template <class T, int N>
inline PlainVec<T, N> only(PlainMask<T, N> m, PlainVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = m.m[k] ? a.v[k] : T(0);
  return a;
}
template <int N>
inline PlainVec<float, N> scale2(PlainVec<float, N> p, PlainVec<float, N> n) {
  for (int k = 0; k < N; ++k) {
    const auto e = static_cast<std::uint32_t>(static_cast<std::int32_t>(n.v[k])) << 23;
    p.v[k] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(p.v[k]) + e);
  }
  return p;
}
template <int N>
inline PlainVec<double, N> scale2(PlainVec<double, N> p, PlainVec<double, N> n) {
  for (int k = 0; k < N; ++k) {
    const auto e = static_cast<std::uint64_t>(static_cast<std::int64_t>(n.v[k])) << 52;
    p.v[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p.v[k]) + e);
  }
  return p;
}

using VecF = PlainVec<float, 4>;
using VecD = PlainVec<double, 2>;

}  // namespace
