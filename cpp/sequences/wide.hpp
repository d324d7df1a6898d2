// Numbers beyond the range of double: digits times a power of two.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "memory.hpp"

namespace mercer {

/// digits * 2^exponent; the exponent is integral.
struct Wide {
  double digits = 0.0, exponent = 0.0;

  /// The nearest double, infinity where it is too large.
  double value() const {
    return std::ldexp(digits, static_cast<int>(std::clamp(exponent, -4000.0, 4000.0)));
  }
  /// -infinity of 0.
  double logarithm() const {
    constexpr double ln2 = 0.69314718055994530942;
    return digits > 0 ? std::log(digits) + exponent * ln2
                      : -std::numeric_limits<double>::infinity();
  }
  /// The same number with digits of at least 1/2 and below 1.
  Wide normal() const {
    int e = 0;
    const double d = std::frexp(digits, &e);
    return {d, exponent + e};
  }
};

inline Wide operator*(Wide a, Wide b) {
  a = a.normal();
  b = b.normal();
  return {a.digits * b.digits, a.exponent + b.exponent};
}

inline Wide operator+(Wide a, Wide b) {
  if (a.digits == 0) return b;
  if (b.digits == 0) return a;
  a = a.normal();
  b = b.normal();
  if (a.exponent < b.exponent) std::swap(a, b);
  const double apart = std::max(b.exponent - a.exponent, -2000.0);
  return {a.digits + std::ldexp(b.digits, static_cast<int>(apart)), a.exponent};
}

/// a b + c, rounded once.
inline Wide wide_fma(Wide a, Wide b, Wide c) {
  a = a.normal();
  b = b.normal();
  const double exponent = a.exponent + b.exponent;
  if (c.digits == 0) return {a.digits * b.digits, exponent};
  c = c.normal();
  if (a.digits == 0 || b.digits == 0 || c.exponent - exponent > 900) return c;
  const double apart = std::max(c.exponent - exponent, -900.0);
  return {std::fma(a.digits, b.digits, std::ldexp(c.digits, static_cast<int>(apart))), exponent};
}

/// x^k for x > 0 and k >= 0.
inline Wide wide_power(double x, Index k) {
  constexpr Index most = 1000;  // (1/2)^most is a double
  const Wide base = Wide{x, 0.0}.normal();
  Wide power{1.0, base.exponent * static_cast<double>(k)};
  for (; k > 0; k -= std::min(k, most))
    power = power * Wide{std::pow(base.digits, static_cast<double>(std::min(k, most))), 0.0};
  return power;
}

}  // namespace mercer
