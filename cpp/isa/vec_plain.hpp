// Vectors of the portable path: short arrays that any compiler turns into its baseline
// instructions. There is no fused multiply-add here, so last bits differ from the other paths.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "bit_patterns.hpp"

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
inline PlainVec<T, N> floor(PlainVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::floor(a.v[k]);
  return a;
}
template <class T, int N>
inline PlainVec<T, N> sqrt(PlainVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::sqrt(a.v[k]);
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
/// p * 2^n within the normal range of the result, where integral n has been added to round_shift.
template <int N>
inline PlainVec<float, N> scale2(PlainVec<float, N> p, PlainVec<float, N> shifted) {
  for (int k = 0; k < N; ++k) {
    const std::uint32_t e = std::bit_cast<std::uint32_t>(shifted.v[k]) << 23;
    p.v[k] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(p.v[k]) + e);
  }
  return p;
}
template <int N>
inline PlainVec<double, N> scale2(PlainVec<double, N> p, PlainVec<double, N> shifted) {
  for (int k = 0; k < N; ++k) {
    const std::uint64_t e = std::bit_cast<std::uint64_t>(shifted.v[k]) << 52;
    p.v[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p.v[k]) + e);
  }
  return p;
}
/// y, or -y where the integral n that has been added to round_shift is odd.
template <int N>
inline PlainVec<float, N> flip_if_odd(PlainVec<float, N> y, PlainVec<float, N> shifted) {
  for (int k = 0; k < N; ++k) {
    const std::uint32_t sign = std::bit_cast<std::uint32_t>(shifted.v[k]) << 31;
    y.v[k] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(y.v[k]) ^ sign);
  }
  return y;
}
template <int N>
inline PlainVec<double, N> flip_if_odd(PlainVec<double, N> y, PlainVec<double, N> shifted) {
  for (int k = 0; k < N; ++k) {
    const std::uint64_t sign = std::bit_cast<std::uint64_t>(shifted.v[k]) << 63;
    y.v[k] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(y.v[k]) ^ sign);
  }
  return y;
}
/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x; returns m.
template <int N>
inline PlainVec<float, N> split_exponent(PlainVec<float, N> x, PlainVec<float, N>& e) {
  for (int k = 0; k < N; ++k) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x.v[k]) - half_root_f + one_f;
    e.v[k] = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
    x.v[k] = std::bit_cast<float>((bits & 0x7fffffu) + half_root_f);
  }
  return x;
}
template <int N>
inline PlainVec<double, N> split_exponent(PlainVec<double, N> x, PlainVec<double, N>& e) {
  for (int k = 0; k < N; ++k) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x.v[k]) - half_root_d + one_d;
    e.v[k] = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
    x.v[k] = std::bit_cast<double>((bits & mantissa_d) + half_root_d);
  }
  return x;
}
/// The number of the eighth of an octave in which x >= 0 lies, counted from 0, and where in it.
template <int N>
inline PlainVec<float, N> eighth_of_octave(PlainVec<float, N> x, PlainVec<float, N>& which) {
  for (int k = 0; k < N; ++k) {
    const auto bits = std::bit_cast<std::uint32_t>(x.v[k]);
    which.v[k] = static_cast<float>(bits >> 20);
    x.v[k] = (std::bit_cast<float>((bits & 0xfffffu) | one_f) - 1.0f) * 8.0f;
  }
  return x;
}
template <int N>
inline PlainVec<double, N> eighth_of_octave(PlainVec<double, N> x, PlainVec<double, N>& which) {
  for (int k = 0; k < N; ++k) {
    const auto bits = std::bit_cast<std::uint64_t>(x.v[k]);
    which.v[k] = static_cast<double>(bits >> 49);
    x.v[k] = (std::bit_cast<double>((bits & (mantissa_d >> 3)) | one_d) - 1.0) * 8.0;
  }
  return x;
}
/// p[index] for integral non-negative indices.
template <class T, int N>
inline PlainVec<T, N> gather(const T* p, PlainVec<T, N> index) {
  for (int k = 0; k < N; ++k) index.v[k] = p[static_cast<std::int32_t>(index.v[k])];
  return index;
}

using VecF = PlainVec<float, 4>;
using VecD = PlainVec<double, 2>;

/// A vector as vectors of doubles, and back.
template <class T, int N>
inline void widen(PlainVec<T, N> x, VecD* to) {
  for (int k = 0; k < N; ++k) to[k / VecD::width].v[k % VecD::width] = x.v[k];
}
template <class T, int N>
inline void narrow(const VecD* from, PlainVec<T, N>& x) {
  for (int k = 0; k < N; ++k) x.v[k] = static_cast<T>(from[k / VecD::width].v[k % VecD::width]);
}

}  // namespace
