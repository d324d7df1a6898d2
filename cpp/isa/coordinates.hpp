// Statistics that are put together coordinate by coordinate: f(x_i, z_i) for every column i, and
// of these numbers the product, the largest, or the sum of all products of `order` of them (ANOVA).
//
// The ANOVA statistic of order D is the elementary symmetric polynomial e_D of f_1 ... f_d, by the
// recursion e_j(f_1..f_m) = e_j(f_1..f_(m-1)) + f_m e_(j-1)(f_1..f_(m-1)), e_0 = 1. Order 1 is the
// sum. One chain per value, in the order of the columns, so a value depends on its two rows alone.
//
// In general the function runs over a few columns at a time and leaves its values in the
// first-level cache, where the rule that combines them takes them: neither is compiled for every
// choice of the other. Sums of low order of the cheapest functions go in one sweep.
#pragma once
#include "functions.hpp"
#include "loops.hpp"
#include "ops.hpp"

namespace {

using mercer::Combination;
using mercer::Coordinate;
using mercer::Coordinates;
using mercer::max_anova_order;

// ---------------------------------------------------------------- functions of two numbers

/// Functions of the difference are divided by their value at 0, and exactly 1 there.
template <class V>
inline V one_at_zero(V difference, V value) {
  using T = typename V::Scalar;
  const V tiny = V::set(std::numeric_limits<T>::min());
  return where(abs(difference) < tiny, V::set(T(1)), value);
}

/// N is a number of terms known at compile time, 0 one known at run time; most have no use for it.
template <Coordinate F, class V, int N = 0>
struct Function;

/// x z
template <class V, int N>
struct Function<Coordinate::product, V, N> {
  template <class T>
  explicit Function(const Coordinates<T>&) {}
  V operator()(V x, V z) const { return x * z; }
};

/// min(x, z)
template <class V, int N>
struct Function<Coordinate::minimum, V, N> {
  template <class T>
  explicit Function(const Coordinates<T>&) {}
  V operator()(V x, V z) const { return min(x, z); }
};

/// |x - z|^a
template <class V, int N>
struct Function<Coordinate::power, V, N> {
  PowerOf<V> power;
  template <class T>
  explicit Function(const Coordinates<T>& c) : power(c.exponent) {}
  V operator()(V x, V z) const { return power(abs(x - z)); }
};

/// |x - z|^(count / 2): multiplications and at most one square root.
template <class V, int N>
struct Function<Coordinate::half_power, V, N> {
  int whole;
  bool root;
  template <class T>
  explicit Function(const Coordinates<T>& c) : whole(c.count / 2), root(c.count % 2) {}
  V operator()(V x, V z) const {
    const V t = abs(x - z);
    V y = root ? sqrt(t) : t;
    for (int k = root ? 0 : 1; k < whole; ++k) y = y * t;
    return y;
  }
};

/// exp(-a (x - z)^2)
template <class V, int N>
struct Function<Coordinate::gaussian, V, N> {
  Decay<V> decay;
  template <class T>
  explicit Function(const Coordinates<T>& c) : decay(c.a) {}
  V operator()(V x, V z) const {
    const V t = x - z;
    return decay(t * t);
  }
};

/// exp(-a |x - z|)
template <class V, int N>
struct Function<Coordinate::laplacian, V, N> {
  Decay<V> decay;
  template <class T>
  explicit Function(const Coordinates<T>& c) : decay(c.a) {}
  V operator()(V x, V z) const { return decay(abs(x - z)); }
};

/// 1 + x z + x z m - (x + z) m^2 / 2 + m^3 / 3 with m = min(x, z): the sum of 1, x z and of the
/// integral of (x - s)_+ (z - s)_+ over s > 0, for x, z >= 0.
template <class V, int N>
struct Function<Coordinate::spline, V, N> {
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
/// is smaller. The n-th power takes (n - 1)/2 multiplications by the square.
template <class V, int N>
struct Function<Coordinate::bspline, V, N> {
  using T = typename V::Scalar;
  V a, half;
  const T* c;
  int terms;
  explicit Function(const Coordinates<T>& p)
      : a(V::set(p.a)),
        half(V::set(static_cast<T>(p.count))),
        c(p.coefficients),
        terms(N > 0 ? N : p.count) {}
  V operator()(V x, V z) const {
    const V t = x - z;
    const V u = half - abs(a * t);
    const int n = N > 0 ? N : terms;
    V y = V::zero();
    for (int k = 0; k < n; ++k) {
      const V v = max(u - V::set(static_cast<T>(k)), V::zero());
      const V square = v * v;
      V p = v;
      for (int j = 1; j < n; ++j) p = p * square;
      y = fma(V::set(c[k]), p, y);
    }
    return one_at_zero(t, max(y, V::zero()));
  }
};

/// A series of cosines, sum of c_k cos(pi k a (x - z)), by Clenshaw's rule from one cosine.
template <class V, int N>
struct Function<Coordinate::cosines, V, N> {
  using T = typename V::Scalar;
  V a;
  const T* c;
  int terms;
  explicit Function(const Coordinates<T>& p)
      : a(V::set(p.a)), c(p.coefficients), terms(N > 0 ? N : p.count) {}
  V operator()(V x, V z) const {
    const V t = x - z;
    const V u = cos_pi(a * t), twice = u + u;
    V b1 = V::zero(), b2 = V::zero();
    for (int k = (N > 0 ? N : terms) - 1; k > 0; --k) {
      const V b0 = fma(twice, b1, V::set(c[k]) - b2);
      b2 = b1;
      b1 = b0;
    }
    return one_at_zero(t, fma(u, b1, V::set(c[0]) - b2));
  }
};

/// A wrapped Gaussian: with t >= 0 the difference x - z moved by whole periods b to [0, b/2], c_0
/// times the sum of exp(-a (t + m b)^2) over the `count` integers m = 0, -1, 1, -2, ..., plus c_1.
template <class V, int N>
struct Function<Coordinate::wrapped, V, N> {
  using T = typename V::Scalar;
  Decay<V> decay;
  V period, frequency, factor, shift;
  int terms;
  explicit Function(const Coordinates<T>& p)
      : decay(p.a),
        period(V::set(p.b)),
        frequency(V::set(T(1) / p.b)),
        factor(V::set(p.coefficients[0])),
        shift(V::set(p.coefficients[1])),
        terms(p.count) {}
  V operator()(V x, V z) const {
    const V d = x - z;
    const V t = abs(fnma(period, round(d * frequency), d));
    V y = decay(t * t);
    for (int k = 1; k < (N > 0 ? N : terms); ++k) {
      const int m = k % 2 ? -(k + 1) / 2 : k / 2;
      const V s = fma(V::set(static_cast<T>(m)), period, t);
      y = y + decay(s * s);
    }
    return one_at_zero(d, fma(factor, y, shift));
  }
};

// ---------------------------------------------------------------- putting coordinates together

/// Columns whose values wait in the cache, and vectors of rows at a time.
constexpr int columns_at_once = 16;
constexpr int panels_at_once = 2;
constexpr int rows_at_once = panels_at_once * panel_vectors;

template <class V>
using Values = V[columns_at_once][rows_at_once];
template <class V>
using Sums = V[max_anova_order][rows_at_once];

/// Takes the values of n columns into the sums; Order 0 is an order known at run time.
template <class V, int Order>
void combine_anova(const Values<V>& f, int n, int order, Sums<V>& sums) {
  constexpr int room = Order > 0 ? Order : max_anova_order;
  const int top = Order > 0 ? Order : order;
  for (int i = 0; i < rows_at_once; ++i) {
    V e[room];
    for (int j = 0; j < top; ++j) e[j] = sums[j][i];
    for (int k = 0; k < n; ++k) {
      const V v = f[k][i];
      for (int j = top - 1; j > 0; --j) e[j] = fma(v, e[j - 1], e[j]);
      e[0] = e[0] + v;
    }
    for (int j = 0; j < top; ++j) sums[j][i] = e[j];
  }
}
template <class V>
void combine_product(const Values<V>& f, int n, int, Sums<V>& sums) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < rows_at_once; ++i) sums[0][i] = sums[0][i] * f[k][i];
}
template <class V>
void combine_maximum(const Values<V>& f, int n, int, Sums<V>& sums) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < rows_at_once; ++i) sums[0][i] = max(f[k][i], sums[0][i]);
}

template <class V>
using Combine = void (*)(const Values<V>&, int, int, Sums<V>&);

template <class V>
Combine<V> combine_of(Combination combination, int order) {
  if (combination == Combination::product) return combine_product<V>;
  if (combination == Combination::maximum) return combine_maximum<V>;
  constexpr Combine<V> by_order[] = {combine_anova<V, 0>, combine_anova<V, 1>, combine_anova<V, 2>,
                                     combine_anova<V, 3>, combine_anova<V, 4>, combine_anova<V, 5>,
                                     combine_anova<V, 6>};
  return by_order[order <= 6 ? order : 0];
}

/// One query row against rows_at_once vectors of rows, given as the first columns of their panels:
/// the sum of order `Order` in one sweep.
template <class T, class F, int Order>
inline void anova_block(const T* query, const T* const (&rows)[rows_at_once], Index d,
                        const F& function, const Coordinates<T>& c, T* const (&out)[rows_at_once]) {
  using V = Vec<T>;
  V e[Order][rows_at_once];
  for (int j = 0; j < Order; ++j)
    for (int i = 0; i < rows_at_once; ++i) e[j][i] = V::zero();
  for (Index k = 0; k < d; ++k) {
    const V x = V::set(query[k * query_block]);
    for (int i = 0; i < rows_at_once; ++i) {
      const V f = function(x, V::load(rows[i] + k * panel_width<T>));
      for (int j = Order - 1; j > 0; --j) e[j][i] = fma(f, e[j - 1][i], e[j][i]);
      e[0][i] = e[0][i] + f;
    }
  }
  const V scale = V::set(c.scale);
  for (int i = 0; i < rows_at_once; ++i) (e[Order - 1][i] * scale).store(out[i]);
}

/// The same for every rule.
template <class T, class F>
inline void coordinate_block(const T* query, const T* const (&rows)[rows_at_once], Index d,
                             const F& function, const Coordinates<T>& c, Combine<Vec<T>> combine,
                             T* const (&out)[rows_at_once]) {
  using V = Vec<T>;
  const int last = c.combination == Combination::anova ? c.order - 1 : 0;
  Values<V> f;
  Sums<V> sums;
  const V start = V::set(c.combination == Combination::product ? T(1) : T(0));
  for (int j = 0; j <= last; ++j)
    for (int i = 0; i < rows_at_once; ++i) sums[j][i] = start;
  for (Index k = 0; k < d; k += columns_at_once) {
    const int n = static_cast<int>(d - k < columns_at_once ? d - k : columns_at_once);
    for (int j = 0; j < n; ++j) {
      const V x = V::set(query[(k + j) * query_block]);
      for (int i = 0; i < rows_at_once; ++i)
        f[j][i] = function(x, V::load(rows[i] + (k + j) * panel_width<T>));
    }
    combine(f, n, c.order, sums);
  }
  const V scale = V::set(c.scale);
  for (int i = 0; i < rows_at_once; ++i) (sums[last][i] * scale).store(out[i]);
}

/// Calls block(query row, panels of the rows, where their values go) for all of a tile.
template <class T, class F>
inline void for_each_block(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                           T* out, Index stride, F block) {
  using V = Vec<T>;
  alignas(64) T spare[V::width];  // receives what lies behind the last panel
  for (Index p = 0; p < n_panels; p += panels_at_once)
    for (int r = 0; r < n_query; ++r) {
      const T* rows[rows_at_once];
      T* to[rows_at_once];
      for (int i = 0; i < rows_at_once; ++i) {
        const Index q = p + i / panel_vectors, at = i % panel_vectors * V::width;
        const bool here = q < n_panels;
        rows[i] = panels + (here ? q : p) * d * panel_width<T> + at;
        to[i] = here ? out + r * stride + q * panel_width<T> + at : spare;
      }
      block(query + r, rows, to);
    }
}

template <class T, class F>
void coordinate_tile(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                     const Coordinates<T>& c, T* out, Index stride) {
  using V = Vec<T>;
  const F function(c);
  const Combine<V> combine = combine_of<V>(c.combination, c.order);
  for_each_block(query, n_query, panels, n_panels, d, out, stride,
                 [&](const T* row, const auto& rows, const auto& to) {
                   coordinate_block<T, F>(row, rows, d, function, c, combine, to);
                 });
}

template <class T, class F, int Order>
void anova_tile(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                const Coordinates<T>& c, T* out, Index stride) {
  const F function(c);
  for_each_block(query, n_query, panels, n_panels, d, out, stride,
                 [&](const T* row, const auto& rows, const auto& to) {
                   anova_block<T, F, Order>(row, rows, d, function, c, to);
                 });
}

template <Coordinate F, class T>
void coordinates_of(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                    const Coordinates<T>& c, T* out, Index stride) {
  using V = Vec<T>;
  const auto run = [&](auto tile) { tile(query, n_query, panels, n_panels, d, c, out, stride); };
  if constexpr (F == Coordinate::product || F == Coordinate::minimum || F == Coordinate::gaussian) {
    if (c.combination == Combination::anova) switch (c.order) {
        case 1:
          return run(anova_tile<T, Function<F, V>, 1>);
        case 2:
          return run(anova_tile<T, Function<F, V>, 2>);
        case 3:
          return run(anova_tile<T, Function<F, V>, 3>);
        default:
          break;
      }
  }
  if constexpr (F == Coordinate::bspline || F == Coordinate::cosines || F == Coordinate::wrapped) {
    switch (c.count) {
      case 1:
        return run(coordinate_tile<T, Function<F, V, 1>>);
      case 2:
        return run(coordinate_tile<T, Function<F, V, 2>>);
      case 3:
        return run(coordinate_tile<T, Function<F, V, 3>>);
      case 4:
        return run(coordinate_tile<T, Function<F, V, 4>>);
      default:
        break;
    }
  }
  run(coordinate_tile<T, Function<F, V>>);
}

}  // namespace
