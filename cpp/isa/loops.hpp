// The inner loops, written once over VecF / VecD and compiled once per instruction set.
// Included by isa_*.cpp after its vec_*.hpp; everything lives in the unnamed namespace.

#pragma once
#include <limits>

#include "functions.hpp"
#include "ops.hpp"
#include "profiles.hpp"

namespace {

using mercer::Index;
using mercer::InnerTask;
using mercer::InvertedTask;
using mercer::largest_panel;
using mercer::query_block;
using mercer::sparse_block;
using mercer::SparseRows;
using mercer::Stat;

/// Vectors per panel: two accumulators per query row keep six rows in sixteen registers.
constexpr int panel_vectors = 2;
template <class T>
constexpr int panel_width = panel_vectors * Vec<T>::width;

// Where a block of the core meets the width of a path. The core is compiled once for all paths, so
// that a block must be a whole number of vectors of every one of them.
template <class T>
constexpr bool blocks_fit =
    largest_panel % panel_width<T> == 0 &&    // tiles and tasks begin at a multiple of a panel
    panel_width<T> % VecD::width == 0 &&      // lanes of dot_lanes
    Vec<T>::width % VecD::width == 0 &&       // widen and narrow
    sparse_block % Vec<T>::width == 0 &&      // queries of a sparse tile, and their norms
    mercer::column_block % VecD::width == 0;  // columns of gemm_cols
static_assert(blocks_fit<float> && blocks_fit<double>);

// ---------------------------------------------------------------- pair statistics

template <Stat S, class V>
inline V accumulate(V acc, V a, V b) {
  if constexpr (S == Stat::dot) {
    return fma(a, b, acc);
  } else if constexpr (S == Stat::sqdist) {
    const V d = a - b;
    return fma(d, d, acc);
  } else if constexpr (S == Stat::l1) {
    return acc + abs(a - b);
  } else if constexpr (S == Stat::minimum) {
    return acc + min(a, b);
  } else {
    // Where both are 0 the numerator is 0 too, and any denominator will do.
    const V sum = max(a + b, V::set(std::numeric_limits<typename V::Scalar>::min()));
    if constexpr (S == Stat::harmonic) {
      return fma(min(a, b), max(a, b) / sum, acc);
    } else {
      const V d = a - b;
      return acc + d * d / sum;
    }
  }
}

/// NQ query rows against NP panels of d > 0 features; one sequential chain per value, so that a
/// value depends on its two rows alone. The profile is applied before the values leave the
/// registers.
template <Stat S, class T, int NQ, int NP, class F>
inline void stat_block(const T* query, const T* panels, Index d, T* out, Index out_stride,
                       const F& profile) {
  using V = Vec<T>;
  constexpr int nv = panel_vectors * NP;
  V acc[NQ][nv];
  for (int r = 0; r < NQ; ++r)
    for (int c = 0; c < nv; ++c) acc[r][c] = V::zero();
  // Tested at the end: a loop that may run no time at all makes the compiler keep acc in memory.
  Index k = 0;
  do {
    V b[nv];
    for (int p = 0; p < NP; ++p)
      for (int c = 0; c < panel_vectors; ++c)
        b[p * panel_vectors + c] = V::load(panels + (p * d + k) * panel_width<T> + c * V::width);
    for (int r = 0; r < NQ; ++r) {
      const V a = V::set(query[k * query_block + r]);
      for (int c = 0; c < nv; ++c) acc[r][c] = accumulate<S>(acc[r][c], a, b[c]);
    }
  } while (++k < d);
  for (int r = 0; r < NQ; ++r)
    for (int c = 0; c < nv; ++c) profile(acc[r][c]).store(out + r * out_stride + c * V::width);
}

template <Stat S, class T, int NQ, class F>
void stat_rows(const T* query, const T* panels, Index n_panels, Index d, T* out, Index stride,
               const F& profile) {
  // One or two rows leave registers idle: sweep several panels to hide the latency of the chain.
  constexpr int np = NQ == 1 ? 4 : (NQ == 2 ? 2 : 1);
  Index p = 0;
  for (; p + np <= n_panels; p += np)
    stat_block<S, T, NQ, np>(query, panels + p * d * panel_width<T>, d, out + p * panel_width<T>,
                             stride, profile);
  for (; p < n_panels; ++p)
    stat_block<S, T, NQ, 1>(query, panels + p * d * panel_width<T>, d, out + p * panel_width<T>,
                            stride, profile);
}

template <Stat S, class T, class F>
inline void stat_profile(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                         T* out, Index stride, const F& profile) {
  if (d <= 0) {
    for (int r = 0; r < n_query; ++r)
      for (Index k = 0; k < n_panels * panel_width<T>; k += Vec<T>::width)
        profile(Vec<T>::zero()).store(out + r * stride + k);
    return;
  }
  static_assert(query_block == 6, "a case for every number of query rows");
  switch (n_query) {
    case 1:
      return stat_rows<S, T, 1>(query, panels, n_panels, d, out, stride, profile);
    case 2:
      return stat_rows<S, T, 2>(query, panels, n_panels, d, out, stride, profile);
    case 3:
      return stat_rows<S, T, 3>(query, panels, n_panels, d, out, stride, profile);
    case 4:
      return stat_rows<S, T, 4>(query, panels, n_panels, d, out, stride, profile);
    case 5:
      return stat_rows<S, T, 5>(query, panels, n_panels, d, out, stride, profile);
    default:
      return stat_rows<S, T, 6>(query, panels, n_panels, d, out, stride, profile);
  }
}

template <Stat S, class T>
void stat_tile(const T* query, int n_query, const T* panels, Index n_panels, Index d, T* out,
               Index stride) {
  stat_profile<S>(query, n_query, panels, n_panels, d, out, stride, [](Vec<T> x) { return x; });
}

template <Stat S, class T>
void stat_exp_tile(const T* query, int n_query, const T* panels, Index n_panels, Index d, T* out,
                   Index stride, T a, T b) {
  stat_profile<S>(query, n_query, panels, n_panels, d, out, stride, ExpAffine<T>(a, b));
}

/// Sparse rows against scattered queries. Slot 0 holds zeros, so columns that no query has cost a
/// multiply-add with zero and no branch; zeros do not change a sum, hence both orders of a pair
/// give the same bits. The sum is the dot product, or for l1 the mass |a| + |b| - |a - b| that two
/// rows share, or that of min(a, b) or a b / (a + b), both of which are 0 where one of the entries
/// is; a distance is the sum of the two norms minus 2 (sqdist), 1 (l1) or 4 (chi) times that. In a
/// b / (a + b) the quotient is exactly 1/2 for equal entries: a row is at distance 0 from itself.
template <Stat S, class V>
inline V shared(V acc, V a, V b) {
  if constexpr (S == Stat::l1) {
    return acc + ((abs(a) + abs(b)) - abs(a - b));
  } else if constexpr (S == Stat::minimum) {
    return acc + min(a, b);
  } else if constexpr (S == Stat::harmonic || S == Stat::chi) {
    return acc + min(a, b) * (max(a, b) / (a + b));
  } else {
    return fma(a, b, acc);
  }
}

/// The sums over one run of a row (not empty), for NV vectors of queries.
template <class T, int NV>
struct RunSums {
  Vec<T> v[NV];
};
template <Stat S, class T, int NV>
inline RunSums<T, NV> sum_run(const T* slots, const std::int32_t* slot_of,
                              const SparseRows<T>& rows, Index begin, Index end) {
  using V = Vec<T>;
  RunSums<T, NV> acc;
  for (int c = 0; c < NV; ++c) acc.v[c] = V::zero();
  Index e = begin;
  do {
    const T* s = slots + static_cast<Index>(slot_of[rows.column[e]]) * sparse_block;
    const V a = V::set(rows.value[e]);
    for (int c = 0; c < NV; ++c) acc.v[c] = shared<S>(acc.v[c], a, V::load(s + c * V::width));
  } while (++e < end);
  return acc;
}

/// From the sums of a row to the statistic.
template <Stat S>
inline VecD completed(VecD sum, const double* query_norm, double row_norm) {
  if constexpr (S == Stat::sqdist || S == Stat::l1 || S == Stat::chi) {
    const VecD factor = VecD::set(S == Stat::chi ? 4.0 : (S == Stat::sqdist ? 2.0 : 1.0));
    const VecD norms = VecD::load(query_norm) + VecD::set(row_norm);
    return max(fnma(factor, sum, norms), VecD::zero());
  } else {
    return sum;
  }
}

/// NV vectors of queries from slot position h on.
template <Stat S, class T, int NV, class F>
inline void sparse_part(const T* slots, const std::int32_t* slot_of, const double* query_norm,
                        const SparseRows<T>& rows, int h, T* out, const F& profile) {
  using V = Vec<T>;
  constexpr int part = NV * V::width, halves = V::width / VecD::width;
  const auto finish = [&](VecD* half, Index i, int at) {
    for (int k = 0; k < halves; ++k)
      half[k] = completed<S>(half[k], query_norm + at + k * VecD::width, rows.norm[i]);
    V x;
    narrow(half, x);
    profile(x).store(out + i * sparse_block + at);
  };
  if (rows.blocks <= 1) {
    for (Index i = 0; i < rows.count; ++i) {
      RunSums<T, NV> acc;
      for (int c = 0; c < NV; ++c) acc.v[c] = V::zero();
      const Index begin = rows.run[rows.first[i]], end = rows.run[rows.first[i + 1]];
      if (begin < end) acc = sum_run<S, T, NV>(slots + h, slot_of, rows, begin, end);
      for (int c = 0; c < NV; ++c) {
        VecD half[halves];
        widen(acc.v[c], half);
        finish(half, i, h + c * V::width);
      }
    }
    return;
  }
  for (Index i = 0; i < rows.count; ++i) {
    alignas(64) double total[part];
    for (int k = 0; k < part; k += VecD::width) VecD::zero().store(total + k);
    for (Index r = rows.first[i]; r < rows.first[i + 1]; ++r) {
      const auto acc = sum_run<S, T, NV>(slots + h, slot_of, rows, rows.run[r], rows.run[r + 1]);
      for (int c = 0; c < NV; ++c) {
        double* t = total + c * V::width;
        VecD half[halves];
        widen(acc.v[c], half);
        for (int k = 0; k < halves; ++k)
          (VecD::load(t + k * VecD::width) + half[k]).store(t + k * VecD::width);
      }
    }
    for (int c = 0; c < NV; ++c) {
      VecD half[halves];
      for (int k = 0; k < halves; ++k) half[k] = VecD::load(total + c * V::width + k * VecD::width);
      finish(half, i, h + c * V::width);
    }
  }
}

template <Stat S, class T, class F>
inline void sparse_profile(const T* slots, const std::int32_t* slot_of, const double* query_norm,
                           int n_query, const SparseRows<T>& rows, T* out, const F& profile) {
  // Eight chains hide the latency of an addition; few queries make do with four, and one vector of
  // them with one, whose rows overlap. A block of queries never holds more vectors than fit in it:
  // wide registers get by with fewer chains.
  constexpr int w = Vec<T>::width, most = sparse_block / w;
  constexpr int many = most < 8 ? most : 8, few = most < 4 ? most : 4;
  static_assert(sparse_block % (many * w) == 0 && many % few == 0, "no part ends beyond the block");
  int h = 0;
  for (; n_query - h > few * w; h += many * w)
    sparse_part<S, T, many>(slots, slot_of, query_norm, rows, h, out, profile);
  if (n_query - h > w)
    sparse_part<S, T, few>(slots, slot_of, query_norm, rows, h, out, profile);
  else if (h < n_query)
    sparse_part<S, T, 1>(slots, slot_of, query_norm, rows, h, out, profile);
}

template <Stat S, class T>
void sparse_tile(const T* slots, const std::int32_t* slot_of, const double* query_norm, int n_query,
                 const SparseRows<T>& rows, T* out) {
  sparse_profile<S>(slots, slot_of, query_norm, n_query, rows, out, [](Vec<T> x) { return x; });
}

template <Stat S, class T>
void sparse_exp_tile(const T* slots, const std::int32_t* slot_of, const double* query_norm,
                     int n_query, const SparseRows<T>& rows, T* out, T a, T b) {
  sparse_profile<S>(slots, slot_of, query_norm, n_query, rows, out, ExpAffine<T>(a, b));
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
T square(const T* x, Index n, Index stride) {
  using V = Vec<T>;
  V sum = V::zero();
  for (Index k = 0; k < n; ++k) {
    const V v = V::set(x[k * stride]);
    sum = accumulate<Stat::dot>(sum, v, v);
  }
  T lane[V::width];
  sum.store(lane);
  return lane[0];
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

/// NV vectors of columns for all tile rows: R rows at a time, then single ones. R x NV chains hide
/// the latency of a multiply-add.
template <class T, int R, int NV>
inline void gemm_strip(const T* tile, Index stride, int rows, const double* v, Index n, Index cols,
                       double* acc, Index acc_stride) {
  int r = 0;
  for (; r + R <= rows; r += R)
    gemm_some<T, R, NV>(tile + r * stride, stride, v, n, cols, acc + r * acc_stride, acc_stride);
  for (; r < rows; ++r)
    gemm_some<T, 1, NV>(tile + r * stride, stride, v, n, cols, acc + r * acc_stride, acc_stride);
}

template <class T>
void gemm_cols(const T* tile, Index stride, int rows, const double* v, Index n, Index cols,
               double* acc, Index acc_stride) {
  constexpr Index width = VecD::width;
  constexpr int many = 2 * mercer::query_block;  // rows of a whole tile
  Index c = 0;
  if (rows < 4)
    for (; c + 4 * width <= cols; c += 4 * width)
      gemm_strip<T, 1, 4>(tile, stride, rows, v + c, n, cols, acc + c, acc_stride);
  for (; c + 3 * width <= cols; c += 3 * width)
    gemm_strip<T, 4, 3>(tile, stride, rows, v + c, n, cols, acc + c, acc_stride);
  for (; c + 2 * width <= cols; c += 2 * width)
    gemm_strip<T, 4, 2>(tile, stride, rows, v + c, n, cols, acc + c, acc_stride);
  for (; c + width <= cols; c += width) {
    const int whole = rows / many * many;
    gemm_strip<T, many, 1>(tile, stride, whole, v + c, n, cols, acc + c, acc_stride);
    gemm_strip<T, 4, 1>(tile + whole * stride, stride, rows - whole, v + c, n, cols,
                        acc + whole * acc_stride + c, acc_stride);
  }
}

template <class T>
void extremes(const T* f, const T* up, const T* down, Index n, T* min_up, T* max_down) {
  using V = Vec<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  V lo = V::set(inf), hi = V::set(-inf);
  Index k = 0;
  for (; k + V::width <= n; k += V::width) {
    const V x = V::load(f + k);
    lo = min(lo, x + V::load(up + k));
    hi = max(hi, x + V::load(down + k));
  }
  T a[V::width], b[V::width];
  lo.store(a);
  hi.store(b);
  T best_lo = inf, best_hi = -inf;
  for (int c = 0; c < V::width; ++c) {
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
