// The instructions of a program that transform a tile in place, row by row.
#pragma once
#include <limits>

#include "functions.hpp"
#include "ops.hpp"

namespace {

using mercer::Grid;
using mercer::Index;
using mercer::TableView;

/// Applies f to whole vectors and to a padded copy of the remainder: the same code, so the same
/// bits at every position. The result may take the place of the argument.
template <class T, class F>
inline void map(const T* in, T* out, Index n, F f) {
  using V = Vec<T>;
  Index k = 0;
  for (; k + V::width <= n; k += V::width) f(V::load(in + k)).store(out + k);
  if (k < n) {
    T tail[V::width] = {};
    for (Index j = k; j < n; ++j) tail[j - k] = in[j];
    f(V::load(tail)).store(tail);
    for (Index j = k; j < n; ++j) out[j] = tail[j - k];
  }
}

template <class T>
void affine(const T* in, T* out, Index n, T a, T b) {
  const Vec<T> va = Vec<T>::set(a), vb = Vec<T>::set(b);
  map(in, out, n, [&](Vec<T> v) { return fma(v, va, vb); });
}

/// exp(a x + b)
template <class T>
struct ExpAffine {
  Vec<T> a, b;
  ExpAffine(T a_, T b_)
      : a(Vec<T>::set(static_cast<T>(a_ * log2e))), b(Vec<T>::set(static_cast<T>(b_ * log2e))) {}
  Vec<T> operator()(Vec<T> x) const { return exp2_of(fma(x, a, b)); }
};

template <class T>
void exp_affine(const T* in, T* out, Index n, T a, T b) {
  map(in, out, n, ExpAffine<T>(a, b));
}

/// tanh(x) = (1 - e) / (1 + e) with e = exp(-2 |x|). Near 0, where 1 - e has few digits, the
/// continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ... + x^2 / 13))) as one quotient, which
/// leaves out less than a rounding.
template <class T>
void tanh_of(const T* in, T* out, Index n) {
  using V = Vec<T>;
  const V one = V::set(T(1)), two = V::set(static_cast<T>(-2 * log2e)), near = V::set(T(0.25));
  const auto c = [](double value) { return V::set(static_cast<T>(value)); };
  map(in, out, n, [&](V v) {
    const V size = abs(v), e = exp2_of(size * two);
    const V far = (one - e) / (one + e);
    const V x = min(size, near), s = x * x;
    const V above = fma(fma(fma(s, one, c(378)), s, c(17325)), s, c(135135));
    const V below = fma(fma(fma(s, c(28), c(3150)), s, c(62370)), s, c(135135));
    const V t = where(size < near, x * (above / below), far);
    return where(v < V::zero(), V::zero() - t, t);
  });
}

template <class T>
void powi(const T* in, T* out, Index n, int p) {
  using V = Vec<T>;
  map(in, out, n, [&](V v) {
    V result = V::set(T(1));
    for (int e = p; e > 0; e >>= 1) {
      if (e & 1) result = result * v;
      if (e > 1) v = v * v;
    }
    return result;
  });
}

template <class T, class F>
inline void map2(T* x, const T* y, Index n, F f) {
  using V = Vec<T>;
  Index k = 0;
  for (; k + V::width <= n; k += V::width) f(V::load(x + k), V::load(y + k)).store(x + k);
  if (k < n) {
    T a[V::width] = {}, b[V::width] = {};
    for (Index j = k; j < n; ++j) a[j - k] = x[j], b[j - k] = y[j];
    f(V::load(a), V::load(b)).store(a);
    for (Index j = k; j < n; ++j) x[j] = a[j - k];
  }
}

template <class T>
void add(T* x, const T* y, Index n) {
  map2(x, y, n, [](Vec<T> a, Vec<T> b) { return a + b; });
}
template <class T>
void mul(T* x, const T* y, Index n) {
  map2(x, y, n, [](Vec<T> a, Vec<T> b) { return a * b; });
}

template <class T>
void sqrt_of(const T* in, T* out, Index n) {
  using V = Vec<T>;
  map(in, out, n, [](V v) { return sqrt(max(V::zero(), v)); });
}
template <class T>
void log_all(const T* in, T* out, Index n) {
  map(in, out, n, [](Vec<T> v) { return log_of(v); });
}
/// log(1 + x) for x > -1: with w = 1 + x rounded, log(w) x / (w - 1) (Kahan).
template <class T>
void log1p_all(const T* in, T* out, Index n) {
  using V = Vec<T>;
  const V one = V::set(T(1)), tiny = V::set(std::numeric_limits<T>::min());
  const V largest = V::set(std::numeric_limits<T>::max());
  map(in, out, n, [&](V v) {
    const V w = one + v, excess = w - one;
    const V ratio = v / where(abs(excess) < tiny, one, excess);
    const V y = where(abs(excess) < tiny, v, log_of(w) * ratio);
    return where(largest < w, log_of(w), y);
  });
}
template <class T>
void power(const T* in, T* out, Index n, double exponent) {
  map(in, out, n, PowerOf<Vec<T>>(exponent));
}
template <class T>
void reciprocal(const T* in, T* out, Index n) {
  const Vec<T> one = Vec<T>::set(T(1));
  map(in, out, n, [&](Vec<T> v) { return one / v; });
}
template <class T>
void cos_all(const T* in, T* out, Index n) {
  map(in, out, n, [](Vec<T> v) { return cos_of(v); });
}

/// A piecewise polynomial; see TableView. An argument that is not a number stays what it is.
template <class T>
void table_of(const T* in, T* out, Index n, const TableView<T>& table) {
  using V = Vec<T>;
  const V last = V::set(static_cast<T>(table.pieces - 1));
  const V end = V::set(static_cast<T>(table.pieces));
  const V infinity = V::set(std::numeric_limits<T>::infinity());
  const V largest = V::set(std::numeric_limits<T>::max());
  const V factor = V::set(table.factor), first = V::set(table.first);
  const V below = V::set(table.below), beyond = V::set(table.beyond);
  map(in, out, n, [&](V v) {
    V piece, f, t;
    if (table.grid == Grid::octaves) {
      f = eighth_of_octave(max(v, V::zero()), t);
      t = t - first;
      piece = min(max(t, V::zero()), last);
    } else {
      t = table.grid == Grid::root ? sqrt(max(V::zero(), v)) * factor : v * factor;
      piece = min(max(floor(t), V::zero()), last);
      f = t - piece;
    }
    V y = gather(table.coefficients, piece);
    for (int k = 1; k <= table.degree; ++k)
      y = fma(y, f, gather(table.coefficients + k * table.pieces, piece));
    y = where(t < V::zero(), below, y);
    y = where(t < end, y, beyond);
    return where(v < infinity, y, where(largest < v, beyond, v));
  });
}

/// Horner's rule over coefficients by falling power.
template <class T>
void polynomial(const T* in, T* out, Index n, const T* coefficients, int degree) {
  using V = Vec<T>;
  map(in, out, n, [&](V v) {
    V y = V::set(coefficients[0]);
    for (int k = 1; k <= degree; ++k) y = fma(y, v, V::set(coefficients[k]));
    return y;
  });
}

/// x[k] times a and b[k], the larger first: symmetric in the pair, and no product of two huge
/// numbers.
template <class T>
void scale_pair(T* x, Index n, T a, const T* b) {
  const Vec<T> va = Vec<T>::set(a);
  map2(x, b, n, [&](Vec<T> v, Vec<T> u) { return (v * max(va, u)) * min(va, u); });
}
template <class T>
void add_pair(T* x, Index n, T a, const T* b) {
  const Vec<T> va = Vec<T>::set(a);
  map2(x, b, n, [&](Vec<T> v, Vec<T> u) { return v + (va + u); });
}

}  // namespace
