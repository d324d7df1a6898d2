// The dynamic programs of pairs.hpp over VecD; see there for the recursions.
// Included by isa_*.cpp after its vec_*.hpp and loops.hpp; all in the unnamed namespace.
#pragma once
#include <cmath>

#include "pairs.hpp"

namespace {

/// Vectors in a group: the chains of several hide the latency of one.
constexpr int group_vectors = 4;
constexpr Index group_lanes = group_vectors * VecD::width;

/// The state of V vectors of a group.
template <int V>
struct Group {
  VecD v[V];
  static Group set(double x) {
    Group g;
    for (int k = 0; k < V; ++k) g.v[k] = VecD::set(x);
    return g;
  }
};

/// Asks about every millisecond whether a task is to be left.
template <class Task>
class Asking {
 public:
  explicit Asking(const Task& task) : task_(task) {}
  /// Before the next so many cells.
  bool leaves(Index cells) {
    if (!task_.leave || (since_ += cells) < cells_between) return false;
    since_ = 0;
    return task_.leave(task_.asker);
  }

 private:
  static constexpr Index cells_between = Index(1) << 18;
  const Task& task_;
  Index since_ = 0;
};

inline void fill(double* p, Index n, double x) {
  for (Index k = 0; k < n; ++k) p[k] = x;
}

/// Fills a large table; false when the task is to be left. The first touch of memory takes longer
/// than what is computed there.
template <class Task>
bool filled(const Task& t, double* p, Index n, double x) {
  constexpr Index part = Index(1) << 17;
  for (Index at = 0; at < n; at += part) {
    if (at > 0 && t.leave && t.leave(t.asker)) return false;
    fill(p + at, n - at < part ? n - at : part, x);
  }
  return true;
}

// ---------------------------------------------------------------- subsequences

/// Vectors of a group that run together: two hide the latency of the chain over j, and the state
/// of several orders stays in sixteen registers.
constexpr int together = 2;
static_assert(group_vectors % together == 0, "no step ends beyond the group");

template <bool QueryOuter>
inline VecD outer_token(const mercer::SubsequenceTask& t, Index i, Index lane) {
  return QueryOuter ? VecD::set(t.query[i]) : VecD::load(t.group + i * group_lanes + lane);
}
template <bool QueryOuter>
inline VecD inner_token(const mercer::SubsequenceTask& t, Index j, Index lane) {
  return QueryOuter ? VecD::load(t.group + j * group_lanes + lane) : VecD::set(t.query[j]);
}

/// All orders in one sweep. D_{p-1}(i-1, j-1) is at hand when D_p(i, j) is due, so that a cell
/// costs one load and one store per order. Single: only subsequences of the largest length count.
template <int Order, bool Single, bool QueryOuter>
void subsequence_sweep(const mercer::SubsequenceTask& t, Index first) {
  constexpr int levels = Order - 1, room = levels > 0 ? levels : 1;
  const Index outer = QueryOuter ? t.m : t.n, inner = QueryOuter ? t.n : t.m;
  const VecD one = VecD::set(1.0), a = VecD::set(t.decay);
  VecD sum[together];
  for (int v = 0; v < together; ++v) sum[v] = VecD::zero();
  Asking asking(t);
  for (Index i = 0; i < outer; ++i) {
    if (asking.leaves(inner)) return;
    VecD x[together], run[room][together], corner[room][together];
    for (int v = 0; v < together; ++v) {
      x[v] = outer_token<QueryOuter>(t, i, first + v * VecD::width);
      for (int p = 0; p < room; ++p) run[p][v] = corner[p][v] = VecD::zero();
    }
    double* cell = t.work + first;
    for (Index j = 0; j < inner; ++j, cell += levels * group_lanes)
      for (int v = 0; v < together; ++v) {
        const auto match = x[v] == inner_token<QueryOuter>(t, j, first + v * VecD::width);
        for (int p = Order; p >= 1; --p) {
          const VecD s = only(match, p == 1 ? one : corner[p > 1 ? p - 2 : 0][v]);
          if (Single && p == Order) sum[v] = sum[v] + s;
          if (!Single) sum[v] = fma(VecD::set(t.weight[p - 1]), s, sum[v]);
          if (p == Order) continue;
          double* at = cell + (p - 1) * group_lanes + v * VecD::width;
          const VecD up = VecD::load(at);
          run[p - 1][v] = fma(a, run[p - 1][v], s);
          fma(a, up, run[p - 1][v]).store(at);
          corner[p - 1][v] = up;
        }
      }
  }
  for (int v = 0; v < together; ++v) sum[v].store(t.out + first + v * VecD::width);
}

/// The same for any order, one order after the other: D_p of a row is due before D_{p-1}, which
/// still is that of the row before.
template <bool QueryOuter>
void subsequence_rows(const mercer::SubsequenceTask& t, Index first) {
  const Index outer = QueryOuter ? t.m : t.n, inner = QueryOuter ? t.n : t.m;
  const VecD one = VecD::set(1.0), a = VecD::set(t.decay);
  for (int v = 0; v < together; ++v) {
    const Index lane = first + v * VecD::width;
    VecD sum = VecD::zero();
    Asking asking(t);
    for (Index i = 0; i < outer; ++i) {
      const VecD x = outer_token<QueryOuter>(t, i, lane);
      for (int p = t.order; p >= 1; --p) {
        if (asking.leaves(inner)) return;
        const VecD weight = VecD::set(t.weight[p - 1]);
        double* row = t.work + (p - 1) * inner * group_lanes + lane;
        const double* below = row - inner * group_lanes;
        VecD run = VecD::zero(), corner = VecD::zero();
        for (Index j = 0; j < inner; ++j) {
          const VecD s = only(x == inner_token<QueryOuter>(t, j, lane), p == 1 ? one : corner);
          sum = fma(weight, s, sum);
          if (p > 1) corner = VecD::load(below + j * group_lanes);
          if (p == t.order) continue;
          double* at = row + j * group_lanes;
          run = fma(a, run, s);
          fma(a, VecD::load(at), run).store(at);
        }
      }
    }
    sum.store(t.out + lane);
  }
}

using SubsequenceLoop = void (*)(const mercer::SubsequenceTask&, Index);

template <bool Single, bool QueryOuter>
SubsequenceLoop subsequence_loop(int order) {
  switch (order) {
    case 1:
      return subsequence_sweep<1, Single, QueryOuter>;
    case 2:
      return subsequence_sweep<2, Single, QueryOuter>;
    case 3:
      return subsequence_sweep<3, Single, QueryOuter>;
    case 4:
      return subsequence_sweep<4, Single, QueryOuter>;
    case 5:
      return subsequence_sweep<5, Single, QueryOuter>;
    case 6:
      return subsequence_sweep<6, Single, QueryOuter>;
    default:
      return subsequence_rows<QueryOuter>;
  }
}

void subsequence(const mercer::SubsequenceTask& t) {
  bool single = t.order <= 6;
  for (int p = 1; p < t.order; ++p) single = single && t.weight[p - 1] == 0.0;
  const auto pick =
      single ? (t.query_outer ? subsequence_loop<true, true> : subsequence_loop<true, false>)
             : (t.query_outer ? subsequence_loop<false, true> : subsequence_loop<false, false>);
  if (!filled(t, t.work, (t.order - 1) * (t.query_outer ? t.n : t.m) * group_lanes, 0.0)) return;
  for (Index first = 0; first < t.used; first += together * VecD::width) pick(t.order)(t, first);
  for (Index k = 0; single && k < group_lanes; ++k) t.out[k] *= t.weight[t.order - 1];
}

// ---------------------------------------------------------------- alignments

/// The last row of a table whose values leave the range of double: value times 2^exponent.
///
/// The entries of one row share an exponent, so those that are very small beside the largest one
/// are lost. `noise` follows how large what was lost may have become: it grows with the rows, and
/// stays where the largest entry of the next row is small. A result that does not stand out from it
/// is NaN, and the caller computes it in another way.
template <int V>
class Scaled {
 public:
  static constexpr Index lanes = V * VecD::width;

  /// `row` is filled with zeros.
  Scaled(double* row, Index n) : row_(row), n_(n) {
    fill(row, lanes, 1.0);
    for (Index k = 0; k < lanes; ++k) {
      exponent_[k] = 0;
      noise_[k] = lost;
      last_[k] = 1.0;
    }
  }

  /// Brings lanes whose largest value is very large or very small back to about 1; powers of two
  /// change no digit.
  void balance(const Group<V>& largest) {
    alignas(64) double top[lanes], factor[lanes];
    for (int k = 0; k < V; ++k) largest.v[k].store(top + k * VecD::width);
    bool any = false;
    for (Index k = 0; k < lanes; ++k) {
      factor[k] = 1.0;
      if (top[k] > last_[k]) noise_[k] *= top[k] / last_[k];
      const double floor = lost * (last_[k] > 1.0 ? last_[k] : 1.0);
      if (noise_[k] < floor) noise_[k] = floor;
      if (top[k] == 0.0) continue;
      last_[k] = top[k];
      if (top[k] < 0x1p300 && top[k] > 0x1p-300) continue;
      int e = 0;
      std::frexp(top[k], &e);
      if (e < -1000) e = -1000;  // 2^-e is a number
      factor[k] = std::ldexp(1.0, -e);
      exponent_[k] += e;
      noise_[k] *= factor[k];
      last_[k] *= factor[k];
      any = true;
    }
    if (!any) return;
    for (Index j = 0; j <= n_; ++j)
      for (int k = 0; k < V; ++k) {
        double* p = row_ + j * lanes + k * VecD::width;
        (VecD::load(p) * VecD::load(factor + k * VecD::width)).store(p);
      }
  }

  /// The logarithm of the value at the end of each lane, NaN where it may be lost.
  void finish(const std::int64_t* length, double* out) const {
    constexpr double ln2 = 0.69314718055994530942;
    for (Index k = 0; k < lanes; ++k) {
      const double value = row_[length[k] * lanes + k];
      int e = 0;
      const double digits = std::frexp(value, &e);
      out[k] = value > noise_[k] * 0x1p60
                   ? std::log(digits) + static_cast<double>(exponent_[k] + e) * ln2
                   : std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  static constexpr double lost = 0x1p-1000;  ///< beside a largest entry of 1

  double* row_;
  Index n_;
  Index exponent_[lanes];
  double noise_[lanes], last_[lanes];  ///< last: the largest entry of the row before
};

template <int V>
void alignment_of(const mercer::AlignmentTask& t) {
  constexpr Index lanes = V * VecD::width;
  const Index part = t.d < 4096 ? 4096 / (t.d + 1) + 1 : 1;  // columns between two questions
  if (!filled(t, t.work, (t.n + 1) * lanes, 0.0)) return;
  Scaled<V> scaled(t.work, t.n);
  const VecD rate = VecD::set(-t.gamma * log2e), two = VecD::set(2.0), zero = VecD::zero();
  const auto band = static_cast<Index>(t.band);
  Asking asking(t);
  for (Index i = 0; i < t.m; ++i) {
    const Index lo = band && i >= band ? i - band + 1 : 0;
    const Index hi = band && i + band < t.n ? i + band : t.n;
    if (lo >= t.n) {
      fill(t.work, (t.n + 1) * lanes, 0.0);
      break;
    }
    Group<V> largest = Group<V>::set(0.0), left = largest, corner;
    for (int k = 0; k < V; ++k) {
      double* before = t.work + lo * lanes + k * VecD::width;
      corner.v[k] = VecD::load(before);
      zero.store(before);
    }
    const double* query = t.query + i * t.d;
    for (Index j = lo; j < hi; ++j) {
      if ((j - lo) % part == 0 && asking.leaves(part * t.d * V)) return;
      const double distance = static_cast<double>(i < j ? j - i : i - j);
      const VecD w = VecD::set(band ? 1.0 - distance / t.band : 1.0);
      const double* step = t.group + j * t.d * lanes;
      for (int k = 0; k < V; ++k) {
        VecD square = zero;
        for (Index c = 0; c < t.d; ++c) {
          const VecD difference =
              VecD::set(query[c]) - VecD::load(step + c * lanes + k * VecD::width);
          square = fma(difference, difference, square);
        }
        const VecD g = w * exp2_of(rate * square);
        double* at = t.work + (j + 1) * lanes + k * VecD::width;
        const VecD up = VecD::load(at);
        const VecD value = (g / (two - g)) * ((up + left.v[k]) + corner.v[k]);
        value.store(at);
        left.v[k] = value;
        corner.v[k] = up;
        largest.v[k] = max(largest.v[k], value);
      }
    }
    scaled.balance(largest);
  }
  scaled.finish(t.length, t.out);
}

template <int V>
void pair_model_of(const mercer::PairModelTask& t) {
  constexpr Index lanes = V * VecD::width;
  if (!filled(t, t.work, (t.n + 1) * lanes, 0.0)) return;
  Scaled<V> scaled(t.work, t.n);
  // Row 0: insertions into the other sequence only.
  for (Index j = 0; j < t.n; ++j)
    for (int k = 0; k < V; ++k) {
      double* at = t.work + j * lanes + k * VecD::width;
      (VecD::load(t.group_insert + j * lanes + k * VecD::width) * VecD::load(at)).store(at + lanes);
    }
  Asking asking(t);
  for (Index i = 0; i < t.m; ++i) {
    if (asking.leaves(t.n)) return;
    const VecD e = VecD::set(t.insert[t.query[i]]);
    const double* pair = t.pair + t.query[i] * t.n * lanes;
    Group<V> largest, left, corner;
    for (int k = 0; k < V; ++k) {
      double* at = t.work + k * VecD::width;
      corner.v[k] = VecD::load(at);
      left.v[k] = e * corner.v[k];
      left.v[k].store(at);
      largest.v[k] = left.v[k];
    }
    for (Index j = 0; j < t.n; ++j)
      for (int k = 0; k < V; ++k) {
        const Index here = j * lanes + k * VecD::width;
        double* at = t.work + here + lanes;
        const VecD up = VecD::load(at);
        const VecD gaps = (e * up) + (VecD::load(t.group_insert + here) * left.v[k]);
        const VecD value = fma(VecD::load(pair + here), corner.v[k], gaps);
        value.store(at);
        left.v[k] = value;
        corner.v[k] = up;
        largest.v[k] = max(largest.v[k], value);
      }
    scaled.balance(largest);
  }
  scaled.finish(t.length, t.out);
}

static_assert(group_vectors > 2, "one vector, two, or all of a group");

void alignment(const mercer::AlignmentTask& t) {
  const auto loop = t.lanes == VecD::width       ? alignment_of<1>
                    : t.lanes == 2 * VecD::width ? alignment_of<2>
                                                 : alignment_of<group_vectors>;
  loop(t);
}

void pair_model(const mercer::PairModelTask& t) {
  const auto loop = t.lanes == VecD::width       ? pair_model_of<1>
                    : t.lanes == 2 * VecD::width ? pair_model_of<2>
                                                 : pair_model_of<group_vectors>;
  loop(t);
}

// ---------------------------------------------------------------- runs of equal tokens

/// One bit per position says whether the tokens agree; and-ing the bits with themselves moved by
/// one position leaves those where 2, 3, ... tokens in a row agree, counted 64 at a time.
void runs(const mercer::RunsTask& t) {
  const Index words = (t.n + 63) / 64;
  std::uint64_t* agree = t.work;
  std::uint64_t* run = t.work + words;
  for (Index w = 0; w < words; ++w) {
    const Index count = t.n - 64 * w < 64 ? t.n - 64 * w : 64;
    const std::int32_t *s = t.s + 64 * w, *u = t.t + 64 * w;
    std::uint64_t bits = 0;
    for (Index p = 0; p < count; ++p)
      bits |= static_cast<std::uint64_t>((s[p] == u[p]) & (u[p] >= 0)) << p;
    agree[w] = run[w] = bits;
  }
  Asking asking(t);
  for (Index l = 0; l < t.longest; ++l) {
    if (asking.leaves(words)) return;
    Index ones = 0;
    for (Index w = 0; w < words; ++w) ones += __builtin_popcountll(run[w]);
    if (ones == 0) return;
    t.counts[l] += ones;
    // Position p keeps its bit if the run from p + 1 had one and p itself agrees.
    for (Index w = 0; w < words; ++w)
      run[w] = agree[w] & ((run[w] >> 1) | (w + 1 < words ? run[w + 1] << 63 : 0));
  }
}

// ---------------------------------------------------------------- joint derivations

/// Columns [at, at + V vectors) of row j; the stride is a whole number of vectors (PairOps::step).
template <int V>
inline void triangle_row(const mercer::TriangleTask& t, Index j, Index at) {
  double* out = t.out + j * t.stride + at;
  VecD sum[V];
  for (int v = 0; v < V; ++v) sum[v] = VecD::load(out + v * VecD::width);
  for (Index k = t.left_start[j]; k < t.left_start[j + 1]; ++k) {
    const Index l = t.end[k];
    if (l >= at + V * VecD::width - 1 || l == t.n) break;  // the entries of row l lie beyond l
    const Index last = t.right_start[l + 1];
    const double factor = t.left[j * t.stride + l];
    if (t.right_start[l] == last || t.end[last - 1] < at || factor == 0) continue;
    const VecD c = VecD::set(factor);
    const double* right = t.right + l * t.stride + at;
    for (int v = 0; v < V; ++v) sum[v] = fma(c, VecD::load(right + v * VecD::width), sum[v]);
  }
  for (int v = 0; v < V; ++v) sum[v].store(out + v * VecD::width);
}

inline void triangle(const mercer::TriangleTask& t) {
  for (Index j = 0; j < t.n; ++j) {
    if (t.left_start[j] == t.left_start[j + 1]) continue;
    Index at = (j + 2) / VecD::width * VecD::width;  // the shortest product ends at j + 2
    for (; at + 4 * VecD::width <= t.stride; at += 4 * VecD::width) triangle_row<4>(t, j, at);
    switch ((t.stride - at) / VecD::width) {
      case 3:
        triangle_row<3>(t, j, at);
        break;
      case 2:
        triangle_row<2>(t, j, at);
        break;
      case 1:
        triangle_row<1>(t, j, at);
        break;
      default:
        break;
    }
  }
}

}  // namespace
