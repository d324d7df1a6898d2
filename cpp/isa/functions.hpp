// Elementary functions over VecF / VecD, written once and compiled once per instruction set.
//
// They use no table and no branch, so a value has the same bits at every position of a vector.
// Products that must be exact (range reductions) are between numbers with few enough bits, so the
// path without fused multiply-add keeps the accuracy.
#pragma once
#include <limits>

#include "bit_patterns.hpp"

namespace {

template <class T>
struct VecOf;
template <>
struct VecOf<float> {
  using type = VecF;
};
template <>
struct VecOf<double> {
  using type = VecD;
};
template <class T>
using Vec = typename VecOf<T>::type;

constexpr double log2e = 1.4426950408889634074;

/// 2^n 2^f for |f| <= 1/2 and integral n, which is passed as n + round_shift, by the minimax
/// polynomial of degree 5 that is 1 at 0 (relative error 1.6e-7 after rounding).
inline VecF scaled_exp2(VecF f, VecF shifted) {
  VecF p = VecF::set(0x1.5a5592p-10f);
  p = fma(p, f, VecF::set(0x1.3ce8b0p-7f));
  p = fma(p, f, VecF::set(0x1.c6bad0p-5f));
  p = fma(p, f, VecF::set(0x1.ebf9cap-3f));
  p = fma(p, f, VecF::set(0x1.62e426p-1f));
  p = fma(p, f, VecF::set(1.0f));
  return scale2(p, shifted);
}

/// The same in double precision: the series of 2^f to degree 12, remainder below one rounding.
inline VecD scaled_exp2(VecD f, VecD shifted) {
  constexpr double c[] = {2.5678435993488206e-11,
                          4.4455382718708115e-10,
                          7.0549116208011233e-9,
                          1.0178086009239699e-7,
                          1.3215486790144309e-6,
                          1.5252733804059841e-5,
                          1.5403530393381609e-4,
                          1.3333558146428443e-3,
                          9.6181291076284772e-3,
                          5.5504108664821580e-2,
                          2.4022650695910071e-1,
                          6.9314718055994531e-1,
                          1.0};
  VecD p = VecD::set(c[0]);
  for (int k = 1; k < 13; ++k) p = fma(p, f, VecD::set(c[k]));
  return scale2(p, shifted);
}

/// 2^t within the normal range.
template <class V>
inline V exp2_in_range(V t) {
  const V shift = V::set(round_shift<typename V::Scalar>);
  const V shifted = t + shift;
  return scaled_exp2(t - (shifted - shift), shifted);
}

template <class T>
constexpr T lowest_exponent = sizeof(T) == 4 ? T(-126) : T(-1022);
template <class T>
constexpr T highest_exponent = sizeof(T) == 4 ? T(128) : T(1024);

/// 2^t. Below the normal range the result stays at the smallest normal number; above it, it is
/// not finite.
template <class V>
inline V exp2_of(V t) {
  using T = typename V::Scalar;
  t = min(max(t, V::set(lowest_exponent<T>)), V::set(highest_exponent<T>));
  return exp2_in_range(t);
}
/// exp(-a s) for s >= 0; once it would leave the normal range it stays at its smallest number.
template <class V>
struct Decay {
  using T = typename V::Scalar;
  V factor, last;
  explicit Decay(T a) : factor(V::set(static_cast<T>(-a * log2e))), last() {
    const T end = lowest_exponent<T> / static_cast<T>(-a * log2e);
    last = V::set(end < std::numeric_limits<T>::max() ? end : std::numeric_limits<T>::max());
  }
  V operator()(V s) const {
    const V shift = V::set(round_shift<T>);
    s = min(s, last);
    const V shifted = fma(s, factor, shift);
    return scaled_exp2(fma(s, factor, shift - shifted), shifted);
  }
};

/// log(m) for m in [sqrt(1/2), sqrt(2)): with f = m - 1 and s = f / (2 + f) it is
/// f - (f^2/2 - s (f^2/2 + R)), R = 2 s^2/3 + 2 s^4/5 + ... The terms left out are below one
/// rounding, because s^2 < 0.0295.
template <class V>
inline V log_of_mantissa(V m) {
  using T = typename V::Scalar;
  constexpr int terms = sizeof(T) == 4 ? 5 : 11;
  const V f = m - V::set(T(1));
  const V s = f / (V::set(T(2)) + f);
  const V z = s * s;
  V r = V::set(static_cast<T>(2.0 / (2 * terms + 1)));
  for (int k = terms - 1; k >= 1; --k) r = fma(r, z, V::set(static_cast<T>(2.0 / (2 * k + 1))));
  r = r * z;
  const V half = V::set(T(0.5)) * f * f;
  return f - (half - s * (half + r));
}

/// log(x); 0 and subnormal numbers count as the smallest normal number, so that x log x is 0 at 0.
template <class V>
inline V log_of(V x) {
  using T = typename V::Scalar;
  using Limits = std::numeric_limits<T>;
  // log(2) in two parts; the first has so few bits that its product with an exponent is exact.
  constexpr double high = sizeof(T) == 4 ? 0x1.63p-1 : 0x1.62e42feep-1;
  constexpr double low = sizeof(T) == 4 ? -0x1.bd0106p-13 : 0x1.a39ef35793c76p-33;
  const V tiny = V::set(Limits::min());
  V e;
  const V m = log_of_mantissa(split_exponent(max(x, tiny), e));
  V y = fma(e, V::set(static_cast<T>(high)), fma(e, V::set(static_cast<T>(low)), m));
  y = where(V::set(Limits::max()) < x, V::set(Limits::infinity()), y);
  return where(V::zero() - tiny < x, y, V::set(Limits::quiet_NaN()));
}

/// x^a = 2^(a log2 x) for x >= 0 (less counts as 0). The exponent e of x = m 2^e is multiplied by
/// a in two parts, the first product being exact, so that the error is a few roundings plus
/// |a| / 2 roundings of log2 m and does not grow with e.
template <class V>
struct PowerOf {
  using T = typename V::Scalar;
  using Limits = std::numeric_limits<T>;
  static constexpr T lowest = lowest_exponent<T>, highest = highest_exponent<T>;
  V a, high, low, at_zero, at_infinity;

  explicit PowerOf(double exponent) {
    // Twelve (or forty) bits times the eight (eleven) of an exponent are exact.
    constexpr double cut = sizeof(T) == 4 ? 0x1p12 : 0x1p13;
    const T rounded = static_cast<T>(exponent);
    const T scaled = static_cast<T>(rounded * T(cut + 1));
    const T top = scaled - (scaled - rounded);
    a = V::set(rounded);
    high = V::set(top);
    low = V::set(static_cast<T>(exponent - static_cast<double>(top)));
    const T zero = 0, one = 1, infinity = Limits::infinity();
    at_zero = V::set(exponent > 0 ? zero : (exponent < 0 ? infinity : one));
    at_infinity = V::set(exponent > 0 ? infinity : (exponent < 0 ? zero : one));
  }
  V operator()(V x) const {
    const V tiny = V::set(Limits::min());
    V e;
    const V m = log_of_mantissa(split_exponent(max(x, tiny), e));
    const V part = a * (m * V::set(static_cast<T>(log2e)));
    const V t = fma(a, e, part);
    const V shift = V::set(round_shift<T>);
    const V shifted = min(max(t, V::set(lowest)), V::set(highest)) + shift;
    V f = fma(high, e, shift - shifted) + fma(low, e, part);
    f = min(max(f, V::set(T(-0.75))), V::set(T(0.75)));
    V y = scaled_exp2(f, shifted);
    y = where(V::set(highest - T(0.001)) < t, V::set(Limits::infinity()), y);
    y = where(x < tiny, at_zero, y);
    const V infinity = V::set(Limits::infinity());
    return where(x < infinity, y, where(V::set(Limits::max()) < x, at_infinity, x));
  }
};

/// cos(r) for |r| <= pi/2 from z = r^2; the series leaves out less than one rounding.
template <class V>
inline V cos_series(V z) {
  using T = typename V::Scalar;
  constexpr int terms = sizeof(T) == 4 ? 6 : 10;
  double c[terms + 1] = {1};
  for (int k = 1; k <= terms; ++k) c[k] = -c[k - 1] / ((2 * k - 1) * (2 * k));
  V y = V::set(static_cast<T>(c[terms]));
  for (int k = terms - 1; k >= 0; --k) y = fma(y, z, V::set(static_cast<T>(c[k])));
  return y;
}

/// cos(x) = (-1)^n cos(r) with r = x - n pi. The parts of pi have so few bits that their products
/// with n < 2^15 (2^20 in double precision) are exact.
template <class V>
inline V cos_of(V x) {
  using T = typename V::Scalar;
  constexpr bool single = sizeof(T) == 4;
  constexpr double parts[2][5] = {{0x1.92p1, 0x1.fbp-11, 0x1.51p-21, 0x1.0bp-33, 0x1.18p-43},
                                  {0x1.921fb544p1, 0x1.0b4611a6p-33, 0x1.3198a2ep-68, 0, 0}};
  constexpr int n_parts = single ? 5 : 3;
  const V shift = V::set(round_shift<T>);
  const V shifted = fma(x, V::set(static_cast<T>(0.31830988618379067154)), shift);
  const V n = shifted - shift;
  V r = x;
  for (int k = 0; k < n_parts; ++k) r = fnma(n, V::set(static_cast<T>(parts[!single][k])), r);
  r = min(V::set(T(2)), max(V::set(T(-2)), r));
  return flip_if_odd(cos_series(r * r), shifted);
}

/// cos(pi s); the integer is taken off exactly.
template <class V>
inline V cos_pi(V s) {
  using T = typename V::Scalar;
  const V shift = V::set(round_shift<T>);
  const V shifted = s + shift;
  const V r = V::set(static_cast<T>(3.14159265358979323846)) * (s - (shifted - shift));
  return flip_if_odd(cos_series(r * r), shifted);
}

}  // namespace
