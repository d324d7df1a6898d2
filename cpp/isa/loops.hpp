// The inner loops, written once over VecF / VecD and compiled once per instruction set.
// Included by isa_*.cpp after its vec_*.hpp; everything lives in the unnamed namespace.

#pragma once
#include <cmath>
#include <limits>

#include "ops.hpp"

namespace {

using mercer::Index;
using mercer::InnerTask;
using mercer::query_block;
using mercer::sparse_block;
using mercer::Stat;

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

/// Vectors per panel: two accumulators per query row keep six rows in sixteen registers.
constexpr int panel_vectors = 2;
template <class T>
constexpr int panel_width = panel_vectors * Vec<T>::width;

// ---------------------------------------------------------------- pair statistics

template <Stat S, class V>
inline V accumulate(V acc, V a, V b) {
  if constexpr (S == Stat::dot) {
    return fma(a, b, acc);
  } else if constexpr (S == Stat::sqdist) {
    const V d = a - b;
    return fma(d, d, acc);
  } else {
    return acc + abs(a - b);
  }
}

/// NQ query rows against NP panels; one sequential chain per value, so that a value depends on
/// its two rows alone.
template <Stat S, class T, int NQ, int NP>
inline void stat_block(const T* query, const T* panels, Index d, T* out, Index out_stride) {
  using V = Vec<T>;
  constexpr int nv = panel_vectors * NP;
  V acc[NQ][nv];
  for (int r = 0; r < NQ; ++r)
    for (int c = 0; c < nv; ++c) acc[r][c] = V::zero();
  for (Index k = 0; k < d; ++k) {
    V b[nv];
    for (int p = 0; p < NP; ++p)
      for (int c = 0; c < panel_vectors; ++c)
        b[p * panel_vectors + c] = V::load(panels + (p * d + k) * panel_width<T> + c * V::width);
    for (int r = 0; r < NQ; ++r) {
      const V a = V::set(query[k * query_block + r]);
      for (int c = 0; c < nv; ++c) acc[r][c] = accumulate<S>(acc[r][c], a, b[c]);
    }
  }
  for (int r = 0; r < NQ; ++r)
    for (int c = 0; c < nv; ++c) acc[r][c].store(out + r * out_stride + c * V::width);
}

template <Stat S, class T, int NQ>
void stat_rows(const T* query, const T* panels, Index n_panels, Index d, T* out, Index stride) {
  // One or two rows leave registers idle: sweep several panels to hide the latency of the chain.
  constexpr int np = NQ == 1 ? 4 : (NQ == 2 ? 2 : 1);
  Index p = 0;
  for (; p + np <= n_panels; p += np)
    stat_block<S, T, NQ, np>(query, panels + p * d * panel_width<T>, d, out + p * panel_width<T>,
                             stride);
  for (; p < n_panels; ++p)
    stat_block<S, T, NQ, 1>(query, panels + p * d * panel_width<T>, d, out + p * panel_width<T>,
                            stride);
}

template <Stat S, class T>
void stat_tile(const T* query, int n_query, const T* panels, Index n_panels, Index d, T* out,
               Index stride) {
  switch (n_query) {
    case 1:
      return stat_rows<S, T, 1>(query, panels, n_panels, d, out, stride);
    case 2:
      return stat_rows<S, T, 2>(query, panels, n_panels, d, out, stride);
    case 3:
      return stat_rows<S, T, 3>(query, panels, n_panels, d, out, stride);
    case 4:
      return stat_rows<S, T, 4>(query, panels, n_panels, d, out, stride);
    case 5:
      return stat_rows<S, T, 5>(query, panels, n_panels, d, out, stride);
    default:
      return stat_rows<S, T, 6>(query, panels, n_panels, d, out, stride);
  }
}

/// Sparse rows against scattered queries. Slot 0 holds zeros, so columns that no query has cost a
/// multiply-add with zero and no branch; zeros do not change a sum, hence both orders of a pair
/// give the same bits. For l1 the sum runs over |a| + |b| - |a - b|, the mass two rows share.
template <Stat S, class T>
void sparse_tile(const T* slots, const std::int32_t* slot_of, const T* value,
                 const std::int32_t* column, const Index* first, const Index* run, Index n_rows,
                 T* out) {
  using V = Vec<T>;
  // At most four accumulators at a time stay in registers on every path.
  constexpr int nv = sparse_block / V::width > 4 ? 4 : sparse_block / V::width;
  constexpr int part = nv * V::width;
  for (Index i = 0; i < n_rows; ++i) {
    for (int h = 0; h < sparse_block; h += part) {
      V total[nv];
      for (int c = 0; c < nv; ++c) total[c] = V::zero();
      for (Index r = first[i]; r < first[i + 1]; ++r) {
        V acc[nv];
        for (int c = 0; c < nv; ++c) acc[c] = V::zero();
        for (Index e = run[r]; e < run[r + 1]; ++e) {
          const T* s = slots + static_cast<Index>(slot_of[column[e]]) * sparse_block + h;
          const V a = V::set(value[e]);
          for (int c = 0; c < nv; ++c) {
            const V b = V::load(s + c * V::width);
            if constexpr (S == Stat::l1) {
              acc[c] = acc[c] + ((abs(a) + abs(b)) - abs(a - b));
            } else {
              acc[c] = fma(a, b, acc[c]);
            }
          }
        }
        for (int c = 0; c < nv; ++c) total[c] = total[c] + acc[c];
      }
      for (int c = 0; c < nv; ++c) total[c].store(out + i * sparse_block + h + c * V::width);
    }
  }
}

template <class T>
void transpose(const T* in, Index n_rows, int n_query, T* out, Index out_stride) {
  constexpr Index step = 8;
  for (Index i = 0; i < n_rows; i += step) {
    const Index m = n_rows - i < step ? n_rows - i : step;
    for (int r = 0; r < n_query; ++r)
      for (Index k = 0; k < m; ++k) out[r * out_stride + i + k] = in[(i + k) * sparse_block + r];
  }
}

/// x <- max(0, (query + norms) - factor x): a distance from the parts two sparse rows share.
template <class T>
void complete(T* x, const T* norms, Index n, T query, T factor) {
  using V = Vec<T>;
  const V q = V::set(query), f = V::set(factor);
  Index k = 0;
  for (; k + V::width <= n; k += V::width)
    max(fnma(f, V::load(x + k), q + V::load(norms + k)), V::zero()).store(x + k);
  if (k < n) {
    T a[V::width] = {}, b[V::width] = {};
    for (Index j = k; j < n; ++j) a[j - k] = x[j], b[j - k] = norms[j];
    max(fnma(f, V::load(a), q + V::load(b)), V::zero()).store(a);
    for (Index j = k; j < n; ++j) x[j] = a[j - k];
  }
}

// ---------------------------------------------------------------- profiles

/// 2^t as 2^n p(t - n) with n the nearest integer. p is the minimax polynomial of degree 5 with
/// p(0) = 1 (relative error 1.6e-7 after rounding). Below the normal range the result stays at
/// the smallest normal number; above it, it is not finite.
inline VecF exp2_of(VecF t) {
  t = min(max(t, VecF::set(-126.0f)), VecF::set(128.0f));
  const VecF n = round(t);
  const VecF f = t - n;
  VecF p = VecF::set(0x1.5a5592p-10f);
  p = fma(p, f, VecF::set(0x1.3ce8b0p-7f));
  p = fma(p, f, VecF::set(0x1.c6bad0p-5f));
  p = fma(p, f, VecF::set(0x1.ebf9cap-3f));
  p = fma(p, f, VecF::set(0x1.62e426p-1f));
  p = fma(p, f, VecF::set(1.0f));
  return scale2(p, n);
}

/// The same in double precision: the series of 2^f to degree 12, remainder below one rounding.
inline VecD exp2_of(VecD t) {
  t = min(max(t, VecD::set(-1022.0)), VecD::set(1024.0));
  const VecD n = round(t);
  const VecD f = t - n;
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

constexpr double log2e = 1.4426950408889634074;

/// Applies f to whole vectors and to a padded copy of the remainder: the same code, so the same
/// bits at every position.
template <class T, class F>
inline void map(T* x, Index n, F f) {
  using V = Vec<T>;
  Index k = 0;
  for (; k + V::width <= n; k += V::width) f(V::load(x + k)).store(x + k);
  if (k < n) {
    T tail[V::width] = {};
    for (Index j = k; j < n; ++j) tail[j - k] = x[j];
    f(V::load(tail)).store(tail);
    for (Index j = k; j < n; ++j) x[j] = tail[j - k];
  }
}

template <class T>
void affine(T* x, Index n, T a, T b) {
  const Vec<T> va = Vec<T>::set(a), vb = Vec<T>::set(b);
  map(x, n, [&](Vec<T> v) { return fma(v, va, vb); });
}

template <class T>
void exp_affine(T* x, Index n, T a, T b) {
  const Vec<T> va = Vec<T>::set(static_cast<T>(a * log2e));
  const Vec<T> vb = Vec<T>::set(static_cast<T>(b * log2e));
  map(x, n, [&](Vec<T> v) { return exp2_of(fma(v, va, vb)); });
}

template <class T>
void tanh_of(T* x, Index n) {
  using V = Vec<T>;
  const V one = V::set(T(1)), two = V::set(static_cast<T>(-2 * log2e));
  map(x, n, [&](V v) {
    const V e = exp2_of(abs(v) * two);
    const V t = (one - e) / (one + e);
    return where(v < V::zero(), V::zero() - t, t);
  });
}

template <class T>
void powi(T* x, Index n, int p) {
  using V = Vec<T>;
  map(x, n, [&](V v) {
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

// ---------------------------------------------------------------- products

template <class T, int R>
inline void axpy_some(double* f, const T* const* rows, const double* coef, Index begin, Index end) {
  Index k = begin;
  for (; k + 2 * VecD::width <= end; k += 2 * VecD::width) {
    VecD a = VecD::load(f + k), b = VecD::load(f + k + VecD::width);
    for (int r = 0; r < R; ++r) {
      const VecD c = VecD::set(coef[r]);
      a = fma(c, VecD::load(rows[r] + k), a);
      b = fma(c, VecD::load(rows[r] + k + VecD::width), b);
    }
    a.store(f + k);
    b.store(f + k + VecD::width);
  }
  for (; k < end; k += VecD::width) {
    const Index m = end - k < VecD::width ? end - k : VecD::width;
    double part[VecD::width] = {};
    for (Index j = 0; j < m; ++j) part[j] = f[k + j];
    VecD a = VecD::load(part);
    for (int r = 0; r < R; ++r) {
      double x[VecD::width] = {};
      for (Index j = 0; j < m; ++j) x[j] = static_cast<double>(rows[r][k + j]);
      a = fma(VecD::set(coef[r]), VecD::load(x), a);
    }
    a.store(part);
    for (Index j = 0; j < m; ++j) f[k + j] = part[j];
  }
}

template <class T>
void axpy_rows(double* f, const T* const* rows, const double* coef, int n_rows, Index n) {
  // A slice of f stays in the first-level cache while eight row streams pass over it.
  constexpr Index slice = 1024;
  for (Index begin = 0; begin < n; begin += slice) {
    const Index end = begin + slice < n ? begin + slice : n;
    int r = 0;
    for (; r + 8 <= n_rows; r += 8) axpy_some<T, 8>(f, rows + r, coef + r, begin, end);
    for (; r + 2 <= n_rows; r += 2) axpy_some<T, 2>(f, rows + r, coef + r, begin, end);
    for (; r < n_rows; ++r) axpy_some<T, 1>(f, rows + r, coef + r, begin, end);
  }
}

template <class T>
void dot_lanes(const T* tile, const double* v, Index n, double* acc) {
  constexpr int nv = panel_width<T> / VecD::width;
  VecD a[nv];
  for (int c = 0; c < nv; ++c) a[c] = VecD::load(acc + c * VecD::width);
  for (Index k = 0; k < n; k += panel_width<T>)
    for (int c = 0; c < nv; ++c)
      a[c] = fma(VecD::load(v + k + c * VecD::width), VecD::load(tile + k + c * VecD::width), a[c]);
  for (int c = 0; c < nv; ++c) a[c].store(acc + c * VecD::width);
}

/// R tile rows times NV vectors of columns: the coefficients are loaded once for all rows.
template <class T, int R, int NV>
inline void gemm_some(const T* tile, Index stride, const double* v, Index n, Index cols,
                      double* acc, Index acc_stride) {
  VecD a[R][NV];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < NV; ++c) a[r][c] = VecD::load(acc + r * acc_stride + c * VecD::width);
  for (Index k = 0; k < n; ++k) {
    VecD b[NV];
    for (int c = 0; c < NV; ++c) b[c] = VecD::load(v + k * cols + c * VecD::width);
    for (int r = 0; r < R; ++r) {
      const VecD x = VecD::set(static_cast<double>(tile[r * stride + k]));
      for (int c = 0; c < NV; ++c) a[r][c] = fma(x, b[c], a[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < NV; ++c) a[r][c].store(acc + r * acc_stride + c * VecD::width);
}

template <class T, int R>
inline void gemm_rows(const T* tile, Index stride, const double* v, Index n, Index cols,
                      double* acc, Index acc_stride) {
  Index c = 0;
  for (; c + 3 * VecD::width <= cols; c += 3 * VecD::width)
    gemm_some<T, R, 3>(tile, stride, v + c, n, cols, acc + c, acc_stride);
  for (; c + VecD::width <= cols; c += VecD::width)
    gemm_some<T, R, 1>(tile, stride, v + c, n, cols, acc + c, acc_stride);
}

template <class T>
void gemm_cols(const T* tile, Index stride, int rows, const double* v, Index n, Index cols,
               double* acc, Index acc_stride) {
  int r = 0;
  for (; r + 4 <= rows; r += 4)
    gemm_rows<T, 4>(tile + r * stride, stride, v, n, cols, acc + r * acc_stride, acc_stride);
  for (; r < rows; ++r)
    gemm_rows<T, 1>(tile + r * stride, stride, v, n, cols, acc + r * acc_stride, acc_stride);
}

template <class T>
void extremes(const double* f, const double* up, const double* down, Index n, double* min_up,
              double* max_down) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  VecD lo = VecD::set(inf), hi = VecD::set(-inf);
  Index k = 0;
  for (; k + VecD::width <= n; k += VecD::width) {
    const VecD x = VecD::load(f + k);
    lo = min(lo, x + VecD::load(up + k));
    hi = max(hi, x + VecD::load(down + k));
  }
  double a[VecD::width], b[VecD::width];
  lo.store(a);
  hi.store(b);
  double best_lo = inf, best_hi = -inf;
  for (int c = 0; c < VecD::width; ++c) {
    best_lo = a[c] < best_lo ? a[c] : best_lo;
    best_hi = b[c] > best_hi ? b[c] : best_hi;
  }
  for (; k < n; ++k) {
    best_lo = f[k] + up[k] < best_lo ? f[k] + up[k] : best_lo;
    best_hi = f[k] + down[k] > best_hi ? f[k] + down[k] : best_hi;
  }
  *min_up = best_lo;
  *max_down = best_hi;
}

// ---------------------------------------------------------------- the working-set solver
//
// SMO with second-order pairs on a local kernel matrix: Fan, Chen, Lin, "Working set selection
// using second order information for training SVM", JMLR 6 (2005), WSS 2, in signed variables.
// A pair (i, j) of one group moves by beta_i += t, beta_j -= t; i has the smallest right
// derivative, j promises the largest decrease. Ratios are compared by cross-multiplication.

/// Curvatures below this fraction of the diagonal count as zero: the step goes to the bound.
constexpr double flat = 1e-12;
/// A variable this large belongs to a dual without a bound.
constexpr double runaway = 1e15;
/// Below minus this fraction it is more than rounding: the kernel is not positive semidefinite.
template <class T>
constexpr double indefinite = sizeof(T) == 4 ? 1e-5 : 1e-7;

template <class T>
struct Extremes {
  T min_up, max_down;
  Index arg_up;
};

template <class T>
inline Extremes<T> reduce(Vec<T> lo, Vec<T> arg, Vec<T> hi) {
  constexpr int w = Vec<T>::width;
  T a[w], b[w], c[w];
  lo.store(a);
  arg.store(b);
  hi.store(c);
  Extremes<T> e{a[0], c[0], static_cast<Index>(b[0])};
  for (int k = 1; k < w; ++k) {
    if (a[k] < e.min_up || (a[k] == e.min_up && static_cast<Index>(b[k]) < e.arg_up)) {
      e.min_up = a[k];
      e.arg_up = static_cast<Index>(b[k]);
    }
    if (c[k] > e.max_down) e.max_down = c[k];
  }
  return e;
}

/// values += t * (row_i - row_j) over one group, and the extremes afterwards.
template <class T>
inline Extremes<T> update_group(const InnerTask<T>& s, Index begin, Index end, T t, const T* ki,
                                const T* kj) {
  using V = Vec<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  V lo = V::set(inf), hi = V::set(-inf), arg = V::set(static_cast<T>(begin));
  const V vt = V::set(t), step = V::set(static_cast<T>(V::width));
  V index = V::iota() + V::set(static_cast<T>(begin));
  for (Index k = begin; k < end; k += V::width) {
    const V f = fma(vt, V::load(ki + k) - V::load(kj + k), V::load(s.values + k));
    f.store(s.values + k);
    const V u = f + V::load(s.up + k);
    hi = max(hi, f + V::load(s.down + k));
    const auto better = u < lo;
    lo = where(better, u, lo);
    arg = where(better, index, arg);
    index = index + step;
  }
  return reduce<T>(lo, arg, hi);
}

/// The partner j that maximises (down_j - up_i)^2 / (k_ii + k_jj - 2 k_ij), or -1.
template <class T>
inline Index partner(const InnerTask<T>& s, Index begin, Index end, T up_i, T curve_i,
                     const T* ki) {
  using V = Vec<T>;
  const V vup = V::set(up_i), vci = V::set(curve_i), zero = V::zero(), two = V::set(T(2));
  const V floor_ = V::set(static_cast<T>(flat));
  V num = V::zero(), den = V::set(T(1)), arg = V::set(T(-1));
  const V step = V::set(static_cast<T>(V::width));
  V index = V::iota() + V::set(static_cast<T>(begin));
  for (Index k = begin; k < end; k += V::width) {
    const V diff = V::load(s.values + k) + V::load(s.down + k) - vup;
    V q = fnma(two, V::load(ki + k), vci + V::load(s.curve_down + k));
    q = max(q, floor_);
    const V positive = max(diff, zero);
    const V n = positive * positive;
    const auto better = num * q < n * den;
    num = where(better, n, num);
    den = where(better, q, den);
    arg = where(better, index, arg);
    index = index + step;
  }
  constexpr int w = V::width;
  T a[w], b[w], c[w];
  num.store(a);
  den.store(b);
  arg.store(c);
  int best = 0;
  for (int k = 1; k < w; ++k) {
    const double left = static_cast<double>(a[best]) * b[k];
    const double right = static_cast<double>(a[k]) * b[best];
    if (left < right || (left == right && c[k] >= 0 && c[k] < c[best])) best = k;
  }
  return static_cast<Index>(c[best]);
}

template <class T>
inline const T* row_of(const InnerTask<T>& s, Index k) {
  return s.rows[k] ? s.rows[k] : s.fetch(s.owner, k);
}

template <class T>
inline void refresh_slot(const InnerTask<T>& s, Index k) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const double b = s.beta[k], kink = s.kink[k];
  const double kk = s.diag[k];
  const bool right = b >= kink, left = b <= kink;
  s.up[k] = b < s.upper[k] ? static_cast<T>(right ? s.slope_right[k] + s.curv_right[k] * (b - kink)
                                                  : s.slope_left[k] + s.curv_left[k] * (b - kink))
                           : inf;
  s.down[k] = b > s.lower[k]
                  ? static_cast<T>(left ? s.slope_left[k] + s.curv_left[k] * (b - kink)
                                        : s.slope_right[k] + s.curv_right[k] * (b - kink))
                  : -inf;
  s.curve_up[k] = static_cast<T>(kk + (right ? s.curv_right[k] : s.curv_left[k]));
  s.curve_down[k] = static_cast<T>(kk + (left ? s.curv_left[k] : s.curv_right[k]));
}

/// How far the line can go before phi of this variable changes its piece, and what changes there.
struct Piece {
  double length, jump, curve_after;
};
template <class T>
inline Piece piece_up(const InnerTask<T>& s, Index k) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (s.beta[k] < s.kink[k])
    return {s.kink[k] - s.beta[k], s.slope_right[k] - s.slope_left[k],
            s.curv_right[k] - s.curv_left[k]};
  return {inf, 0, 0};
}
template <class T>
inline Piece piece_down(const InnerTask<T>& s, Index k) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (s.beta[k] > s.kink[k])
    return {s.beta[k] - s.kink[k], s.slope_right[k] - s.slope_left[k],
            s.curv_left[k] - s.curv_right[k]};
  return {inf, 0, 0};
}

/// Exact minimiser t in [0, limit] of a convex piecewise quadratic with slope `-descent` and
/// curvature `curve` at 0. Negative or zero curvature runs to the end of the piece.
template <class T>
inline double line_minimum(double descent, double curve, double limit, Piece a, Piece b,
                           double scale, bool* negative) {
  double at = 0;
  for (;;) {
    double next = limit;
    if (a.length < next) next = a.length;
    if (b.length < next) next = b.length;
    if (curve < -indefinite<T> * scale) *negative = true;
    const double t =
        curve > flat * scale ? at + descent / curve : std::numeric_limits<double>::infinity();
    if (t <= next || next >= limit) return t < limit ? t : limit;
    descent -= curve * (next - at);
    at = next;
    if (a.length <= next) {
      descent -= a.jump;
      curve += a.curve_after;
      a.length = std::numeric_limits<double>::infinity();
    }
    if (b.length <= next) {
      descent -= b.jump;
      curve += b.curve_after;
      b.length = std::numeric_limits<double>::infinity();
    }
    if (descent <= 0) return at;
  }
}

/// beta_k + t, landing exactly on the bound or kink that ended the step.
template <class T>
inline void move(const InnerTask<T>& s, Index k, double t) {
  const double b = s.beta[k];
  double x = b + t;
  if (t > 0) {
    if (t >= s.upper[k] - b)
      x = s.upper[k];
    else if (b < s.kink[k] && t == s.kink[k] - b)
      x = s.kink[k];
  } else {
    if (-t >= b - s.lower[k])
      x = s.lower[k];
    else if (b > s.kink[k] && -t == b - s.kink[k])
      x = s.kink[k];
  }
  s.beta[k] = x;
}

template <class T>
void inner_pairs(InnerTask<T>& s) {
  Extremes<T> extreme[2];
  for (int g = 0; g < s.groups; ++g)
    extreme[g] = update_group<T>(s, s.group_begin[g], s.group_end[g], T(0), s.values, s.values);
  Index steps = 0;
  for (;;) {
    int g = 0;
    if (s.groups == 2 &&
        extreme[1].max_down - extreme[1].min_up > extreme[0].max_down - extreme[0].min_up)
      g = 1;
    s.violation = static_cast<double>(extreme[g].max_down) - extreme[g].min_up;
    if (!(s.violation > s.tol) || steps >= s.max_steps) break;
    if ((steps & 255) == 255 && s.stop->load(std::memory_order_relaxed)) break;
    const Index i = extreme[g].arg_up;
    const T* ki = row_of(s, i);
    const Index j =
        partner<T>(s, s.group_begin[g], s.group_end[g], extreme[g].min_up, s.curve_up[i], ki);
    if (j < 0) break;
    const T* kj = row_of(s, j);
    const double descent = (static_cast<double>(s.values[j]) + s.down[j]) -
                           (static_cast<double>(s.values[i]) + s.up[i]);
    const double scale = static_cast<double>(s.curve_up[i]) + s.curve_down[j];
    const double curve = scale - 2 * static_cast<double>(ki[j]);
    const double room_i = s.upper[i] - s.beta[i], room_j = s.beta[j] - s.lower[j];
    const double limit = room_i < room_j ? room_i : room_j;
    double t = line_minimum<T>(descent, curve, limit, piece_up(s, i), piece_down(s, j),
                               std::fabs(scale), &s.negative_curvature);
    if (!(t < std::numeric_limits<double>::infinity())) {
      // Flat and unbounded: the dual grows without limit along this line. A long finite step
      // lets the caller see the growth and decide.
      if (std::fabs(s.beta[i]) > runaway) break;
      t = 1e3 * (std::fabs(s.beta[i]) + std::fabs(s.beta[j]) + 1);
    }
    const double before_i = s.beta[i];
    move(s, i, t);
    move(s, j, -t);
    refresh_slot(s, i);
    refresh_slot(s, j);
    ++steps;
    const T moved = static_cast<T>(s.beta[i] - before_i);
    for (int h = 0; h < s.groups; ++h)
      extreme[h] = update_group<T>(s, s.group_begin[h], s.group_end[h], moved, ki, kj);
  }
  s.steps = steps;
}

/// Without an equality every variable moves alone (Gauss-Southwell by the decrease it promises).
template <class T>
void inner_singles(InnerTask<T>& s) {
  using V = Vec<T>;
  Index steps = 0;
  const T* previous = nullptr;
  T moved = T(0);
  for (;;) {
    V num = V::zero(), den = V::set(T(1)), arg = V::set(T(-1)), worst = V::zero();
    const V step = V::set(static_cast<T>(V::width)), zero = V::zero();
    const V floor_ = V::set(static_cast<T>(flat)), vt = V::set(moved);
    V index = V::iota();
    for (Index k = 0; k < s.size; k += V::width) {
      V f = V::load(s.values + k);
      if (previous) {
        f = fma(vt, V::load(previous + k), f);
        f.store(s.values + k);
      }
      const V rise = max(zero - (f + V::load(s.up + k)), zero);
      const V fall = max(f + V::load(s.down + k), zero);
      worst = max(worst, max(rise, fall));
      const auto falls = rise < fall;
      const V n = where(falls, fall * fall, rise * rise);
      const V q = max(where(falls, V::load(s.curve_down + k), V::load(s.curve_up + k)), floor_);
      const auto better = num * q < n * den;
      num = where(better, n, num);
      den = where(better, q, den);
      arg = where(better, index, arg);
      index = index + step;
    }
    constexpr int w = V::width;
    T a[w], b[w], c[w], d[w];
    num.store(a);
    den.store(b);
    arg.store(c);
    worst.store(d);
    int best = 0;
    double violation = static_cast<double>(d[0]);
    for (int k = 1; k < w; ++k) {
      if (static_cast<double>(a[best]) * b[k] < static_cast<double>(a[k]) * b[best]) best = k;
      if (d[k] > violation) violation = static_cast<double>(d[k]);
    }
    s.violation = violation;
    const Index i = static_cast<Index>(c[best]);
    if (!(violation > s.tol) || steps >= s.max_steps || i < 0) break;
    if ((steps & 255) == 255 && s.stop->load(std::memory_order_relaxed)) break;
    const double rise = -(static_cast<double>(s.values[i]) + s.up[i]);
    const double fall = static_cast<double>(s.values[i]) + s.down[i];
    const bool falls = fall > rise;
    const double limit = falls ? s.beta[i] - s.lower[i] : s.upper[i] - s.beta[i];
    const double curve = static_cast<double>(falls ? s.curve_down[i] : s.curve_up[i]);
    constexpr Piece none{std::numeric_limits<double>::infinity(), 0, 0};
    double t = line_minimum<T>(falls ? fall : rise, curve, limit,
                               falls ? piece_down(s, i) : piece_up(s, i), none, std::fabs(curve),
                               &s.negative_curvature);
    if (!(t < std::numeric_limits<double>::infinity())) {
      if (std::fabs(s.beta[i]) > runaway) break;
      t = 1e3 * (std::fabs(s.beta[i]) + 1);
    }
    const double before = s.beta[i];
    move(s, i, falls ? -t : t);
    moved = static_cast<T>(s.beta[i] - before);
    previous = row_of(s, i);
    refresh_slot(s, i);
    ++steps;
  }
  s.steps = steps;
}

template <class T>
void inner(InnerTask<T>& s) {
  s.steps = 0;
  for (Index k = 0; k < s.size; ++k) {
    if (s.lower[k] <= s.upper[k]) refresh_slot(s, k);
  }
  if (s.groups == 0)
    inner_singles(s);
  else
    inner_pairs(s);
}

template <class T>
mercer::Ops<T> make_ops() {
  mercer::Ops<T> o;
  o.panel = panel_width<T>;
  o.stat[static_cast<int>(Stat::dot)] = stat_tile<Stat::dot, T>;
  o.stat[static_cast<int>(Stat::sqdist)] = stat_tile<Stat::sqdist, T>;
  o.stat[static_cast<int>(Stat::l1)] = stat_tile<Stat::l1, T>;
  o.sparse[static_cast<int>(Stat::dot)] = sparse_tile<Stat::dot, T>;
  o.sparse[static_cast<int>(Stat::sqdist)] = sparse_tile<Stat::sqdist, T>;
  o.sparse[static_cast<int>(Stat::l1)] = sparse_tile<Stat::l1, T>;
  o.transpose = transpose<T>;
  o.complete = complete<T>;
  o.affine = affine<T>;
  o.exp_affine = exp_affine<T>;
  o.tanh = tanh_of<T>;
  o.powi = powi<T>;
  o.add = add<T>;
  o.mul = mul<T>;
  o.axpy_rows = axpy_rows<T>;
  o.dot_lanes = dot_lanes<T>;
  o.gemm_cols = gemm_cols<T>;
  o.extremes = extremes<T>;
  o.inner = inner<T>;
  return o;
}

}  // namespace
