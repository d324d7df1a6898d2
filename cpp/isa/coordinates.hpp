// Statistics that are put together coordinate by coordinate: f(x_i, z_i) for every column i, and
// of these numbers the product, or the sum of all products of `order` of them (ANOVA).
//
// The ANOVA statistic of order D is the elementary symmetric polynomial e_D of f_1 ... f_d, by the
// recursion e_j(f_1..f_m) = e_j(f_1..f_(m-1)) + f_m e_(j-1)(f_1..f_(m-1)), e_0 = 1. Order 1 is the
// sum. One chain per value, in the order of the columns, so a value depends on its two rows alone.
#pragma once
#include "functions.hpp"
#include "loops.hpp"
#include "ops.hpp"

namespace {

using mercer::Coordinate;
using mercer::Coordinates;
using mercer::max_anova_order;

// ---------------------------------------------------------------- functions of two numbers

/// Those of the difference are divided by their value at 0, and exactly 1 there.
template <class V>
inline V one_at_zero(V difference, V value) {
  using T = typename V::Scalar;
  const V tiny = V::set(std::numeric_limits<T>::min());
  return where(abs(difference) < tiny, V::set(T(1)), value);
}

template <Coordinate F, class V>
struct Function;

/// x z
template <class V>
struct Function<Coordinate::product, V> {
  template <class T>
  explicit Function(const Coordinates<T>&) {}
  V operator()(V x, V z) const { return x * z; }
};

/// min(x, z)
template <class V>
struct Function<Coordinate::minimum, V> {
  template <class T>
  explicit Function(const Coordinates<T>&) {}
  V operator()(V x, V z) const { return min(x, z); }
};

/// |x - z|^a
template <class V>
struct Function<Coordinate::power, V> {
  PowerOf<V> power;
  template <class T>
  explicit Function(const Coordinates<T>& c) : power(c.exponent) {}
  V operator()(V x, V z) const { return power(abs(x - z)); }
};

/// exp(-a (x - z)^2)
template <class V>
struct Function<Coordinate::gaussian, V> {
  V a;
  template <class T>
  explicit Function(const Coordinates<T>& c) : a(V::set(static_cast<T>(-c.a * log2e))) {}
  V operator()(V x, V z) const {
    const V t = x - z;
    return exp2_of(a * (t * t));
  }
};

/// exp(-a |x - z|)
template <class V>
struct Function<Coordinate::laplacian, V> {
  V a;
  template <class T>
  explicit Function(const Coordinates<T>& c) : a(V::set(static_cast<T>(-c.a * log2e))) {}
  V operator()(V x, V z) const { return exp2_of(a * abs(x - z)); }
};

/// 1 + x z + x z m - (x + z) m^2 / 2 + m^3 / 3 with m = min(x, z): the sum of 1, x z and of the
/// integral of (x - s)_+ (z - s)_+ over s > 0, for x, z >= 0.
template <class V>
struct Function<Coordinate::spline, V> {
  template <class T>
  explicit Function(const Coordinates<T>&) {}
  V operator()(V x, V z) const {
    using T = typename V::Scalar;
    const V m = min(x, z), xz = x * z, one = V::set(T(1));
    const V inner = fma(V::set(T(1) / T(3)), m, V::set(T(-0.5)) * (x + z));
    return fma(m, fma(m, inner, xz), xz + one);
  }
};

/// The spline B_n of odd order n at a (x - z): over u = (n + 1)/2 - |a (x - z)| the sum of
/// c_k (u - k)_+^n for k = 0 ... (n - 1)/2, which is its closed form on the side of 0 where u
/// is smaller. The powers beyond the first are half of n - 1 multiplications by the square.
template <class V>
struct Function<Coordinate::bspline, V> {
  using T = typename V::Scalar;
  V a, half;
  const T* c;
  int terms;
  template <class U>
  explicit Function(const Coordinates<U>& p)
      : a(V::set(p.a)),
        half(V::set(static_cast<T>(p.n_coefficients))),
        c(p.coefficients),
        terms(p.n_coefficients) {}
  V operator()(V x, V z) const {
    const V t = x - z;
    const V u = half - abs(a * t);
    V y = V::zero();
    for (int k = 0; k < terms; ++k) {
      const V v = max(u - V::set(static_cast<T>(k)), V::zero());
      const V square = v * v;
      V p = v;
      for (int j = 1; j < terms; ++j) p = p * square;
      y = fma(V::set(c[k]), p, y);
    }
    return one_at_zero(t, max(y, V::zero()));
  }
};

/// A series of cosines, sum of c_k cos(k a (x - z)), by Clenshaw's rule from one cosine.
template <class V>
struct Function<Coordinate::cosines, V> {
  using T = typename V::Scalar;
  V a;
  const T* c;
  int terms;
  template <class U>
  explicit Function(const Coordinates<U>& p)
      : a(V::set(p.a)), c(p.coefficients), terms(p.n_coefficients) {}
  V operator()(V x, V z) const {
    const V t = x - z;
    const V u = cos_of(a * t), twice = u + u;
    V b1 = V::zero(), b2 = V::zero();
    for (int k = terms - 1; k > 0; --k) {
      const V b0 = fma(twice, b1, V::set(c[k]) - b2);
      b2 = b1;
      b1 = b0;
    }
    return one_at_zero(t, fma(u, b1, V::set(c[0]) - b2));
  }
};

/// A wrapped Gaussian: with t the difference x - z moved into half a period b around 0, the sum
/// of c_0 exp(-a (t + m b)^2) over |m| <= wraps, plus c_1.
template <class V>
struct Function<Coordinate::wrapped, V> {
  using T = typename V::Scalar;
  V a, period, frequency, factor, shift;
  int wraps;
  template <class U>
  explicit Function(const Coordinates<U>& p)
      : a(V::set(static_cast<T>(-p.a * log2e))),
        period(V::set(p.b)),
        frequency(V::set(T(1) / p.b)),
        factor(V::set(p.coefficients[0])),
        shift(V::set(p.coefficients[1])),
        wraps(p.wraps) {}
  V operator()(V x, V z) const {
    const V d = x - z;
    const V t = abs(fnma(period, round(d * frequency), d));
    V y = exp2_of(a * (t * t));
    for (int m = 1; m <= wraps; ++m) {
      const V left = fma(V::set(static_cast<T>(-m)), period, t);
      const V right = fma(V::set(static_cast<T>(m)), period, t);
      y = y + (exp2_of(a * (left * left)) + exp2_of(a * (right * right)));
    }
    return one_at_zero(d, fma(factor, y, shift));
  }
};

// ---------------------------------------------------------------- putting coordinates together

/// Order 0 stands for the product of all coordinates, -1 for an order known at run time.
template <int Order, Coordinate F, class T, int NP>
inline void coordinate_block(const T* query, const T* panels, Index d,
                             const Function<F, Vec<T>>& function, const Coordinates<T>& c, T* out) {
  using V = Vec<T>;
  constexpr int nv = panel_vectors * NP;
  constexpr int room = Order < 0 ? max_anova_order : (Order == 0 ? 1 : Order);
  const int order = Order < 0 ? c.order : room;
  V e[room][nv];
  for (int j = 0; j < order; ++j)
    for (int i = 0; i < nv; ++i) e[j][i] = V::set(Order == 0 ? T(1) : T(0));
  for (Index k = 0; k < d; ++k) {
    const V x = V::set(query[k * query_block]);
    for (int i = 0; i < nv; ++i) {
      const V z = V::load(panels + (i / panel_vectors * d + k) * panel_width<T> +
                          i % panel_vectors * V::width);
      const V f = function(x, z);
      if constexpr (Order == 0) {
        e[0][i] = e[0][i] * f;
      } else {
        for (int j = order - 1; j > 0; --j) e[j][i] = fma(f, e[j - 1][i], e[j][i]);
        e[0][i] = e[0][i] + f;
      }
    }
  }
  const V scale = V::set(c.scale);
  for (int i = 0; i < nv; ++i) (e[order - 1][i] * scale).store(out + i * V::width);
}

template <int Order, Coordinate F, class T>
void coordinate_tile(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                     const Coordinates<T>& c, T* out, Index stride) {
  const Function<F, Vec<T>> function(c);
  constexpr int np = 2;
  for (int r = 0; r < n_query; ++r) {
    Index p = 0;
    for (; p + np <= n_panels; p += np)
      coordinate_block<Order, F, T, np>(query + r, panels + p * d * panel_width<T>, d, function, c,
                                        out + r * stride + p * panel_width<T>);
    for (; p < n_panels; ++p)
      coordinate_block<Order, F, T, 1>(query + r, panels + p * d * panel_width<T>, d, function, c,
                                       out + r * stride + p * panel_width<T>);
  }
}

template <Coordinate F, class T>
void coordinates_of(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                    const Coordinates<T>& c, T* out, Index stride) {
  switch (c.order) {
    case 0:
      return coordinate_tile<0, F, T>(query, n_query, panels, n_panels, d, c, out, stride);
    case 1:
      return coordinate_tile<1, F, T>(query, n_query, panels, n_panels, d, c, out, stride);
    case 2:
      return coordinate_tile<2, F, T>(query, n_query, panels, n_panels, d, c, out, stride);
    case 3:
      return coordinate_tile<3, F, T>(query, n_query, panels, n_panels, d, c, out, stride);
    default:
      return coordinate_tile<-1, F, T>(query, n_query, panels, n_panels, d, c, out, stride);
  }
}

}  // namespace
