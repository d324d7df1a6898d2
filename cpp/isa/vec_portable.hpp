// Vectors of any length on any processor, by the vector extensions of GCC and clang: the compiler
// breaks what is wider than a register into pieces. There is no fused multiply-add here, so last
// bits differ from the paths with intrinsics.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "bit_patterns.hpp"

namespace {

constexpr bool has_register_transpose = false;
template <class T>
inline void transpose_square(const T*, long, T*, long) {}

/// The integers that hold the bits of a number, and what stands where in them.
template <class T>
struct Pattern;
template <>
struct Pattern<float> {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr Unsigned one = one_f, half_root = half_root_f;
};
template <>
struct Pattern<double> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr Unsigned one = one_d, half_root = half_root_d;
};

template <class T, int N>
struct PortableMask {
  using Signed = typename Pattern<T>::Signed;
  typedef Signed Raw __attribute__((vector_size(N * sizeof(T))));
  Raw m;
};

template <class T, int N>
struct PortableVec {
  using Scalar = T;
  using Signed = typename Pattern<T>::Signed;
  using Unsigned = typename Pattern<T>::Unsigned;
  typedef T Raw __attribute__((vector_size(N * sizeof(T))));
  typedef Signed Integers __attribute__((vector_size(N * sizeof(T))));
  typedef Unsigned Bits __attribute__((vector_size(N * sizeof(T))));
  static constexpr int width = N;
  Raw v;

  /// U is T, or float where T is double.
  template <class U>
  static PortableVec load(const U* p) {
    typedef U From __attribute__((vector_size(N * sizeof(U))));
    From x;
    std::memcpy(&x, p, sizeof x);
    return {__builtin_convertvector(x, Raw)};
  }
  static PortableVec set(T x) { return {x - Raw{}}; }  // x - 0 keeps the sign of a zero
  static PortableVec zero() { return {Raw{}}; }
  static PortableVec iota() {
    PortableVec r;
    for (int k = 0; k < N; ++k) r.v[k] = static_cast<T>(k);
    return r;
  }
  void store(T* p) const { std::memcpy(p, &v, sizeof v); }

  Bits bits() const { return reinterpret_cast<Bits>(v); }
  static PortableVec of_bits(Bits b) { return {reinterpret_cast<Raw>(b)}; }
  static PortableVec of_integers(Bits b) {
    return {__builtin_convertvector(reinterpret_cast<Integers>(b), Raw)};
  }
};

template <class T, int N>
inline PortableVec<T, N> operator+(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v + b.v};
}
template <class T, int N>
inline PortableVec<T, N> operator-(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v - b.v};
}
template <class T, int N>
inline PortableVec<T, N> operator*(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v * b.v};
}
template <class T, int N>
inline PortableVec<T, N> operator/(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v / b.v};
}
template <class T, int N>
inline PortableVec<T, N> fma(PortableVec<T, N> a, PortableVec<T, N> b, PortableVec<T, N> c) {
  return {a.v * b.v + c.v};
}
template <class T, int N>
inline PortableVec<T, N> fnma(PortableVec<T, N> a, PortableVec<T, N> b, PortableVec<T, N> c) {
  return {c.v - a.v * b.v};
}
/// b where the two cannot be compared, as the instructions of x86 have it.
template <class T, int N>
inline PortableVec<T, N> min(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v < b.v ? a.v : b.v};
}
template <class T, int N>
inline PortableVec<T, N> max(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v > b.v ? a.v : b.v};
}
/// The smallest entry.
template <class T, int N>
inline T smallest(PortableVec<T, N> a) {
  T least = a.v[0];
  for (int k = 1; k < N; ++k) least = a.v[k] < least ? a.v[k] : least;
  return least;
}
template <class T, int N>
inline PortableVec<T, N> abs(PortableVec<T, N> a) {
  return a.of_bits(a.bits() << 1 >> 1);
}
template <class T, int N>
inline PortableVec<T, N> round(PortableVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::nearbyint(a.v[k]);
  return a;
}
template <class T, int N>
inline PortableVec<T, N> floor(PortableVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::floor(a.v[k]);
  return a;
}
template <class T, int N>
inline PortableVec<T, N> sqrt(PortableVec<T, N> a) {
  for (int k = 0; k < N; ++k) a.v[k] = std::sqrt(a.v[k]);
  return a;
}
template <class T, int N>
inline PortableMask<T, N> operator<(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v < b.v};
}
template <class T, int N>
inline PortableMask<T, N> operator==(PortableVec<T, N> a, PortableVec<T, N> b) {
  return {a.v == b.v};
}
template <class T, int N>
inline PortableMask<T, N> operator&(PortableMask<T, N> a, PortableMask<T, N> b) {
  return {a.m & b.m};
}
/// where(m, a, b): a where the mask holds, otherwise b.
template <class T, int N>
inline PortableVec<T, N> where(PortableMask<T, N> m, PortableVec<T, N> a, PortableVec<T, N> b) {
  return {m.m ? a.v : b.v};
}
/// only(m, a): a where the mask holds, otherwise 0.
template <class T, int N>
inline PortableVec<T, N> only(PortableMask<T, N> m, PortableVec<T, N> a) {
  return where(m, a, a.zero());
}
/// p * 2^n within the normal range of the result, where integral n has been added to round_shift.
template <class T, int N>
inline PortableVec<T, N> scale2(PortableVec<T, N> p, PortableVec<T, N> shifted) {
  return p.of_bits(p.bits() + (shifted.bits() << Pattern<T>::mantissa));
}
/// y, or -y where the integral n that has been added to round_shift is odd.
template <class T, int N>
inline PortableVec<T, N> flip_if_odd(PortableVec<T, N> y, PortableVec<T, N> shifted) {
  return y.of_bits(y.bits() ^ (shifted.bits() << (8 * sizeof(T) - 1)));
}
/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for normal positive x; returns m.
template <class T, int N>
inline PortableVec<T, N> split_exponent(PortableVec<T, N> x, PortableVec<T, N>& e) {
  using P = Pattern<T>;
  const auto bits = x.bits() + (P::one - P::half_root);
  e = x.of_integers(bits >> P::mantissa) - x.set(static_cast<T>(P::bias));
  return x.of_bits((bits & ((typename P::Unsigned(1) << P::mantissa) - 1)) + P::half_root);
}
/// The number of the eighth of an octave in which x >= 0 lies, counted from 0, and where in it.
template <class T, int N>
inline PortableVec<T, N> eighth_of_octave(PortableVec<T, N> x, PortableVec<T, N>& which) {
  using P = Pattern<T>;
  constexpr int low = P::mantissa - 3;
  which = x.of_integers(x.bits() >> low);
  const auto part = x.of_bits((x.bits() & ((typename P::Unsigned(1) << low) - 1)) | P::one);
  return (part - x.set(T(1))) * x.set(T(8));
}
/// p[index] for integral non-negative indices.
template <class T, int N>
inline PortableVec<T, N> gather(const T* p, PortableVec<T, N> index) {
  for (int k = 0; k < N; ++k) index.v[k] = p[static_cast<std::int32_t>(index.v[k])];
  return index;
}

/// A vector as vectors of doubles, and back.
template <int N, int M>
inline void widen(PortableVec<float, N> x, PortableVec<double, M>* to) {
  float parts[N];
  x.store(parts);
  for (int k = 0; k < N / M; ++k) to[k] = PortableVec<double, M>::load(parts + k * M);
}
template <int N, int M>
inline void narrow(const PortableVec<double, M>* from, PortableVec<float, N>& x) {
  typedef float Part __attribute__((vector_size(M * sizeof(float))));
  float parts[N];
  for (int k = 0; k < N / M; ++k) {
    const Part p = __builtin_convertvector(from[k].v, Part);
    std::memcpy(parts + k * M, &p, sizeof p);
  }
  x = x.load(parts);
}
template <int N>
inline void widen(PortableVec<double, N> x, PortableVec<double, N>* to) {
  to[0] = x;
}
template <int N>
inline void narrow(const PortableVec<double, N>* from, PortableVec<double, N>& x) {
  x = from[0];
}

}  // namespace
