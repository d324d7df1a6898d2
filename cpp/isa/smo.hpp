// The working-set solver: SMO with second-order pairs on kernel rows of a few variables.
//
// Problem and notation: problem.hpp. R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using
// second order information for training SVM", JMLR 6 (2005), WSS 2, in signed variables: a pair
// (i, j) of one group moves by beta_i += t, beta_j -= t; i has the smallest right derivative, j
// promises the largest decrease. Ratios are compared by cross-multiplication. Included after
// loops.hpp, in the unnamed namespace of one instruction set.
#pragma once
#include <cmath>
#include <limits>

#include "loops.hpp"

namespace {

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

// Two independent chains per loop: a running minimum with its index is bound by latency.
constexpr int chains = 2;
static_assert(mercer::slot_align % (chains * VecF::width) == 0 &&
                  mercer::slot_align % (chains * VecD::width) == 0,
              "a group of slots is a whole number of steps of the loops");

template <class V>
inline typename V::Scalar largest(V a) {
  return -smallest(V::zero() - a);
}
/// The smallest index among the entries that are `least`, the smallest of all of them.
template <class V>
inline Index first_at(typename V::Scalar least, const V* values, const V* index) {
  const V bound = V::set(least), none = V::set(std::numeric_limits<typename V::Scalar>::infinity());
  V at[chains];
  for (int c = 0; c < chains; ++c) at[c] = where(bound < values[c], none, index[c]);
  return static_cast<Index>(smallest(min(at[0], at[1])));
}

/// values += t * (row_i - row_j) over one group, and the extremes afterwards.
template <class T, class R, class K>
inline Extremes<T> update_group(const InnerTask<T, R>& s, Index begin, Index end, T t, const K* ki,
                                const K* kj) {
  using V = Vec<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr int w = V::width;
  T* const values = s.values;
  const T *const up = s.up, *const down = s.down;
  V lo[chains], hi[chains], arg[chains], index[chains];
  for (int c = 0; c < chains; ++c) {
    lo[c] = V::set(inf);
    hi[c] = V::set(-inf);
    index[c] = V::iota() + V::set(static_cast<T>(begin + c * w));
    arg[c] = index[c];
  }
  const V vt = V::set(t), step = V::set(static_cast<T>(chains * w));
  for (Index k = begin; k < end; k += chains * w)
    for (int c = 0; c < chains; ++c) {
      const Index at = k + c * w;
      const V f = fma(vt, V::load(ki + at) - V::load(kj + at), V::load(values + at));
      f.store(values + at);
      const V u = f + V::load(up + at);
      hi[c] = max(hi[c], f + V::load(down + at));
      const auto better = u < lo[c];
      lo[c] = min(lo[c], u);
      arg[c] = where(better, index[c], arg[c]);
      index[c] = index[c] + step;
    }
  const T least = smallest(min(lo[0], lo[1]));
  return {least, largest(max(hi[0], hi[1])), first_at(least, lo, arg)};
}

/// The partner j that maximises (down_j - up_i)^2 / (k_ii + k_jj - 2 k_ij), or -1.
template <class T, class R>
inline Index partner(const InnerTask<T, R>& s, Index begin, Index end, T up_i, T curve_i,
                     const R* ki) {
  using V = Vec<T>;
  constexpr int w = V::width;
  const T *const values = s.values, *const down = s.down, *const curve = s.curve_down;
  const V vup = V::set(up_i), vci = V::set(curve_i), zero = V::zero(), two = V::set(T(2));
  const V floor_ = V::set(static_cast<T>(flat));
  V num[chains], den[chains], arg[chains], index[chains];
  for (int c = 0; c < chains; ++c) {
    num[c] = V::zero();
    den[c] = V::set(T(1));
    arg[c] = V::set(T(-1));
    index[c] = V::iota() + V::set(static_cast<T>(begin + c * w));
  }
  const V step = V::set(static_cast<T>(chains * w));
  for (Index k = begin; k < end; k += chains * w)
    for (int c = 0; c < chains; ++c) {
      const Index at = k + c * w;
      const V diff = max((V::load(values + at) + V::load(down + at)) - vup, zero);
      const V q = max(fnma(two, V::load(ki + at), vci + V::load(curve + at)), floor_);
      const V n = diff * diff;
      const auto better = num[c] * q < n * den[c];
      num[c] = where(better, n, num[c]);
      den[c] = where(better, q, den[c]);
      arg[c] = where(better, index[c], arg[c]);
      index[c] = index[c] + step;
    }
  // Gains with the sign turned, so that the best one is the smallest.
  V loss[chains];
  for (int c = 0; c < chains; ++c) loss[c] = zero - num[c] / den[c];
  const T best = smallest(min(loss[0], loss[1]));
  return best < T(0) ? first_at(best, loss, arg) : -1;
}

template <class T, class R>
inline const R* row_of(const InnerTask<T, R>& s, Index k) {
  return s.rows[k] ? s.rows[k] : s.fetch(s.owner, k);
}

template <class T, class R>
inline void refresh_slot(const InnerTask<T, R>& s, Index k) {
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
template <class T, class R>
inline Piece piece_up(const InnerTask<T, R>& s, Index k) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (s.beta[k] < s.kink[k])
    return {s.kink[k] - s.beta[k], s.slope_right[k] - s.slope_left[k],
            s.curv_right[k] - s.curv_left[k]};
  return {inf, 0, 0};
}
template <class T, class R>
inline Piece piece_down(const InnerTask<T, R>& s, Index k) {
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
template <class T, class R>
inline void move(const InnerTask<T, R>& s, Index k, double t) {
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

template <class T, class R>
void inner_pairs(InnerTask<T, R>& s) {
  Extremes<T> extreme[2];
  for (int g = 0; g < s.groups; ++g)
    extreme[g] = update_group(s, s.group_begin[g], s.group_end[g], T(0), s.values, s.values);
  Index steps = 0;
  for (;;) {
    int g = 0;
    if (s.groups == 2 &&
        extreme[1].max_down - extreme[1].min_up > extreme[0].max_down - extreme[0].min_up)
      g = 1;
    s.violation = static_cast<double>(extreme[g].max_down) - extreme[g].min_up;
    if (!(s.violation > s.tol) || steps >= s.max_steps) break;
    if (s.stop->load(std::memory_order_relaxed)) break;
    const Index i = extreme[g].arg_up;
    const R* ki = row_of(s, i);
    const Index j =
        partner(s, s.group_begin[g], s.group_end[g], extreme[g].min_up, s.curve_up[i], ki);
    if (j < 0) break;
    const R* kj = row_of(s, j);
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
    s.steps = ++steps;
    const T moved = static_cast<T>(s.beta[i] - before_i);
    for (int h = 0; h < s.groups; ++h)
      extreme[h] = update_group(s, s.group_begin[h], s.group_end[h], moved, ki, kj);
  }
}

/// Without an equality every variable moves alone (Gauss-Southwell by the decrease it promises).
template <class T, class R>
void inner_singles(InnerTask<T, R>& s) {
  using V = Vec<T>;
  Index steps = 0;
  const R* previous = nullptr;
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
    if (s.stop->load(std::memory_order_relaxed)) break;
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
    previous = row_of(s, i);  // may throw, before anything has moved
    move(s, i, falls ? -t : t);
    moved = static_cast<T>(s.beta[i] - before);
    refresh_slot(s, i);
    s.steps = ++steps;
  }
}

template <class T, class R>
void inner(InnerTask<T, R>& s) {
  s.steps = 0;
  for (Index k = 0; k < s.size; ++k) {
    if (s.lower[k] <= s.upper[k]) refresh_slot(s, k);
  }
  if (s.groups == 0)
    inner_singles(s);
  else
    inner_pairs(s);
}

}  // namespace
