// Elementary functions over VecF / VecD, written once and compiled once per instruction set.
//
// They use no table and no branch, so a value has the same bits at every position of a vector.
// Products that must be exact (range reductions) are between numbers with few enough bits, so the
// path without fused multiply-add keeps the accuracy.
#pragma once
#include <limits>

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

/// 2^n 2^f for integral n and |f| <= 1/2, by the minimax polynomial of degree 5 that is 1 at 0
/// (relative error 1.6e-7 after rounding).
inline VecF scaled_exp2(VecF f, VecF n) {
  VecF p = VecF::set(0x1.5a5592p-10f);
  p = fma(p, f, VecF::set(0x1.3ce8b0p-7f));
  p = fma(p, f, VecF::set(0x1.c6bad0p-5f));
  p = fma(p, f, VecF::set(0x1.ebf9cap-3f));
  p = fma(p, f, VecF::set(0x1.62e426p-1f));
  p = fma(p, f, VecF::set(1.0f));
  return scale2(p, n);
}

/// The same in double precision: the series of 2^f to degree 12, remainder below one rounding.
inline VecD scaled_exp2(VecD f, VecD n) {
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
  return scale2(p, n);
}

/// 2^t. Below the normal range the result stays at the smallest normal number; above it, it is
/// not finite.
template <class V>
inline V exp2_of(V t) {
  using T = typename V::Scalar;
  constexpr T lowest = sizeof(T) == 4 ? T(-126) : T(-1022);
  constexpr T highest = sizeof(T) == 4 ? T(128) : T(1024);
  t = min(max(t, V::set(lowest)), V::set(highest));
  const V n = round(t);
  return scaled_exp2(t - n, n);
}

constexpr double log2e = 1.4426950408889634074;

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
  static constexpr T lowest = sizeof(T) == 4 ? T(-126) : T(-1022);
  static constexpr T highest = sizeof(T) == 4 ? T(128) : T(1024);
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
    const V n = round(min(max(t, V::set(lowest)), V::set(highest)));
    V f = fma(high, e, V::zero() - n) + fma(low, e, part);
    f = min(max(f, V::set(T(-0.75))), V::set(T(0.75)));
    V y = scaled_exp2(f, n);
    y = where(V::set(highest - T(0.001)) < t, V::set(Limits::infinity()), y);
    y = where(x < tiny, at_zero, y);
    const V infinity = V::set(Limits::infinity());
    return where(x < infinity, y, where(V::set(Limits::max()) < x, at_infinity, x));
  }
};

/// cos(x) = (-1)^n cos(r) with r = x - n pi. The parts of pi have so few bits that their products
/// with n < 2^15 (2^20 in double precision) are exact; the series of cos(r) on [-pi/2, pi/2]
/// leaves out less than one rounding.
template <class V>
inline V cos_of(V x) {
  using T = typename V::Scalar;
  constexpr bool single = sizeof(T) == 4;
  constexpr double parts[2][5] = {{0x1.92p1, 0x1.fbp-11, 0x1.51p-21, 0x1.0bp-33, 0x1.18p-43},
                                  {0x1.921fb544p1, 0x1.0b4611a6p-33, 0x1.3198a2ep-68, 0, 0}};
  constexpr int n_parts = single ? 5 : 3, terms = single ? 6 : 10;
  const V n = round(x * V::set(static_cast<T>(0.31830988618379067154)));
  V r = x;
  for (int k = 0; k < n_parts; ++k) r = fnma(n, V::set(static_cast<T>(parts[!single][k])), r);
  r = min(V::set(T(2)), max(V::set(T(-2)), r));
  const V z = r * r;
  V y = V::set(T(1));
  double inverse_factorial[terms + 1] = {1};
  for (int k = 1; k <= terms; ++k)
    inverse_factorial[k] = -inverse_factorial[k - 1] / ((2 * k - 1) * (2 * k));
  y = V::set(static_cast<T>(inverse_factorial[terms]));
  for (int k = terms - 1; k >= 0; --k) y = fma(y, z, V::set(static_cast<T>(inverse_factorial[k])));
  const V odd = abs(fnma(V::set(T(2)), round(n * V::set(T(0.5))), n));
  return fnma(V::set(T(2)) * odd, y, y);
}

}  // namespace
