// The inner loops, written once over VecF / VecD and compiled once per instruction set.
// Included by isa_*.cpp after its vec_*.hpp; everything lives in the unnamed namespace.

#pragma once
#include <cmath>
#include <limits>

#include "ops.hpp"

namespace {

using mercer::Index;
using mercer::InnerTask;
using mercer::InvertedTask;
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
/// give the same bits. The sum is the dot product, or for l1 the mass |a| + |b| - |a - b| that two
/// rows share; a distance is the sum of the two norms minus twice, or once, that.
template <Stat S, class T>
void sparse_tile(const T* slots, const std::int32_t* slot_of, const T* value,
                 const std::int32_t* column, const Index* first, const Index* run,
                 const double* query_norm, const double* row_norm, Index n_rows, T* out) {
  using V = Vec<T>;
  // At most four accumulators at a time stay in registers on every path.
  constexpr int nv = sparse_block / V::width > 4 ? 4 : sparse_block / V::width;
  constexpr int part = nv * V::width, nd = part / VecD::width;
  const VecD factor = VecD::set(S == Stat::sqdist ? 2.0 : 1.0), zero = VecD::zero();
  for (Index i = 0; i < n_rows; ++i) {
    for (int h = 0; h < sparse_block; h += part) {
      VecD total[nd];
      for (int c = 0; c < nd; ++c) total[c] = zero;
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
        alignas(64) T sums[part];
        for (int c = 0; c < nv; ++c) acc[c].store(sums + c * V::width);
        for (int c = 0; c < nd; ++c) total[c] = total[c] + VecD::load(sums + c * VecD::width);
      }
      alignas(64) double result[part];
      for (int c = 0; c < nd; ++c) {
        VecD x = total[c];
        if constexpr (S != Stat::dot) {
          const VecD norms = VecD::load(query_norm + h + c * VecD::width) + VecD::set(row_norm[i]);
          x = max(fnma(factor, x, norms), zero);
        }
        x.store(result + c * VecD::width);
      }
      T* to = out + i * sparse_block + h;
      for (int c = 0; c < part; ++c) to[c] = static_cast<T>(result[c]);
    }
  }
}

template <class T>
void inverted(const InvertedTask<T>& t) {
  const std::int32_t* row = t.row;
  const T* value = t.post_value;
  T* out = t.out - t.begin;
  const Index end = t.begin + t.count;
  for (Index k = 0; k < t.count; ++k) t.out[k] = T(0);
  for (Index e = 0; e < t.entries; ++e) {
    const T v = t.value[e];
    const Index last = t.post_start[t.column[e] + 1];
    Index p = t.cursor[e];
    for (; p < last && row[p] < end; ++p) out[row[p]] += v * value[p];
    t.cursor[e] = p;
  }
}

template <class T>
void transpose(const T* in, Index n_rows, int n_query, T* out, Index out_stride) {
  constexpr Index step = 8;
  Index i = 0;
  if constexpr (has_register_transpose) {
    for (; i + step <= n_rows; i += step) {
      int r = 0;
      for (; r + step <= n_query; r += step)
        transpose_square(in + i * sparse_block + r, sparse_block, out + r * out_stride + i,
                         out_stride);
      for (; r < n_query; ++r)
        for (Index k = 0; k < step; ++k)
          out[r * out_stride + i + k] = in[(i + k) * sparse_block + r];
    }
  }
  for (; i < n_rows; ++i)
    for (int r = 0; r < n_query; ++r) out[r * out_stride + i] = in[i * sparse_block + r];
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

}  // namespace
