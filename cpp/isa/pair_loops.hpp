// The dynamic programs of pairs.hpp over VecD; see there for the recursions.
// Included by isa_*.cpp after its vec_*.hpp and loops.hpp; all in the unnamed namespace.
#pragma once
#include <cmath>

#include "pairs.hpp"

namespace {

/// Vectors in a group: the chains of several hide the latency of one.
constexpr int group_vectors = 4;
constexpr Index group_lanes = group_vectors * VecD::width;

struct Group {
  VecD v[group_vectors];
  static Group set(double x) {
    Group g;
    for (int k = 0; k < group_vectors; ++k) g.v[k] = VecD::set(x);
    return g;
  }
  void store(double* p) const {
    for (int k = 0; k < group_vectors; ++k) v[k].store(p + k * VecD::width);
  }
};

inline void fill(double* p, Index n, double x) {
  for (Index k = 0; k < n; ++k) p[k] = x;
}

// ---------------------------------------------------------------- subsequences

/// One row of the table of one order. `below` is D_{p-1} of the row before, shifted by one
/// position (unused for the first order, D_0 = 1); `row` is D_p from position -1 on, updated in
/// place (unused for the last order, of which only S_p matters); `diagonals` receives weight S_p.
template <bool First, bool Last, bool Weighted>
inline void subsequence_row(const double* group, Index n, double token, double decay, double weight,
                            const double* below, double* row, double* diagonals) {
  const VecD x = VecD::set(token), one = VecD::set(1.0), w = VecD::set(weight);
  const VecD a = VecD::set(decay), aa = VecD::set(decay * decay);
  Group left = Group::set(0.0), corner = Group::set(0.0);
  for (Index j = 0; j < n; ++j) {
    for (int k = 0; k < group_vectors; ++k) {
      const Index at = j * group_lanes + k * VecD::width;
      const VecD s = only(x == VecD::load(group + at), First ? one : VecD::load(below + at));
      if constexpr (Weighted) fma(w, s, VecD::load(diagonals + at)).store(diagonals + at);
      if constexpr (!Last) {
        const VecD up = VecD::load(row + at + group_lanes);
        const VecD d = fma(a, up + left.v[k], fnma(aa, corner.v[k], s));
        d.store(row + at + group_lanes);
        left.v[k] = d;
        corner.v[k] = up;
      }
    }
  }
}

template <bool First, bool Last>
inline void subsequence_order(const mercer::SubsequenceTask& t, Index i, int p, double* table,
                              double* diagonals) {
  const Index width = (t.n + 1) * group_lanes;
  const double* below = First ? nullptr : table + (p - 2) * width;
  double* row = Last ? nullptr : table + (p - 1) * width;
  const double weight = t.weight[p - 1];
  if (weight != 0)
    subsequence_row<First, Last, true>(t.group, t.n, t.query[i], t.decay, weight, below, row,
                                       diagonals);
  else if constexpr (!Last)
    subsequence_row<First, Last, false>(t.group, t.n, t.query[i], t.decay, 0.0, below, row,
                                        nullptr);
}

void subsequence(const mercer::SubsequenceTask& t) {
  const Index width = (t.n + 1) * group_lanes;
  double* table = t.work;
  double* sums = table + (t.order - 1) * width;  // of diagonal d at (d + m - 1) lanes
  fill(t.work, (t.order - 1) * width + (t.m + t.n) * group_lanes, 0.0);
  for (Index i = 0; i < t.m; ++i) {
    double* diagonals = sums + (t.m - 1 - i) * group_lanes;
    // From the largest order down, so that D_{p-1} still is that of the row before.
    for (int p = t.order; p >= 1; --p) {
      if (p == 1 && p == t.order)
        subsequence_order<true, true>(t, i, p, table, diagonals);
      else if (p == 1)
        subsequence_order<true, false>(t, i, p, table, diagonals);
      else if (p == t.order)
        subsequence_order<false, true>(t, i, p, table, diagonals);
      else
        subsequence_order<false, false>(t, i, p, table, diagonals);
    }
  }
  const Index middle = t.m - 1, last = t.m + t.n - 2;
  for (Index k = 0; k < group_lanes; ++k) {
    double total = sums[middle * group_lanes + k];
    for (Index d = 1; d <= middle || middle + d <= last; ++d) {
      const double before = d <= middle ? sums[(middle - d) * group_lanes + k] : 0.0;
      const double after = middle + d <= last ? sums[(middle + d) * group_lanes + k] : 0.0;
      total += before + after;
    }
    t.out[k] = total;
  }
}

// ---------------------------------------------------------------- alignments

/// The last row of a table whose values leave the range of double: value times 2^exponent.
class Scaled {
 public:
  explicit Scaled(double* row, Index n) : row_(row), n_(n) {
    fill(row, (n + 1) * group_lanes, 0.0);
    fill(row, group_lanes, 1.0);
    for (Index k = 0; k < group_lanes; ++k) exponent_[k] = 0;
  }

  /// Brings lanes whose largest value is very large or very small back to about 1; powers of two
  /// change no digit.
  void balance(const Group& largest) {
    alignas(64) double top[group_lanes], factor[group_lanes];
    largest.store(top);
    bool any = false;
    for (Index k = 0; k < group_lanes; ++k) {
      factor[k] = 1.0;
      if (top[k] == 0.0 || (top[k] < 0x1p300 && top[k] > 0x1p-300)) continue;
      int e = 0;
      std::frexp(top[k], &e);
      factor[k] = std::ldexp(1.0, -e);
      exponent_[k] += e;
      any = true;
    }
    if (!any) return;
    for (Index j = 0; j <= n_; ++j)
      for (int k = 0; k < group_vectors; ++k) {
        double* p = row_ + j * group_lanes + k * VecD::width;
        (VecD::load(p) * VecD::load(factor + k * VecD::width)).store(p);
      }
  }

  /// The logarithm of the value at the end of each lane.
  void finish(const std::int64_t* length, double* out) const {
    constexpr double ln2 = 0.69314718055994530942;
    for (Index k = 0; k < group_lanes; ++k) {
      const double value = row_[length[k] * group_lanes + k];
      int e = 0;
      const double digits = std::frexp(value, &e);
      out[k] = value > 0 ? std::log(digits) + static_cast<double>(exponent_[k] + e) * ln2
                         : -std::numeric_limits<double>::infinity();
    }
  }

 private:
  double* row_;
  Index n_;
  Index exponent_[group_lanes];
};

void alignment(const mercer::AlignmentTask& t) {
  Scaled scaled(t.work, t.n);
  const VecD rate = VecD::set(-t.gamma * log2e), two = VecD::set(2.0), zero = VecD::zero();
  const auto band = static_cast<Index>(t.band);
  for (Index i = 0; i < t.m; ++i) {
    const Index lo = band && i >= band ? i - band + 1 : 0;
    const Index hi = band && i + band < t.n ? i + band : t.n;
    if (lo >= t.n) {
      fill(t.work, (t.n + 1) * group_lanes, 0.0);
      break;
    }
    Group largest = Group::set(0.0), left = Group::set(0.0), corner;
    for (int k = 0; k < group_vectors; ++k) {
      double* before = t.work + lo * group_lanes + k * VecD::width;
      corner.v[k] = VecD::load(before);
      zero.store(before);
    }
    const double* query = t.query + i * t.d;
    for (Index j = lo; j < hi; ++j) {
      const double distance = static_cast<double>(i < j ? j - i : i - j);
      const VecD w = VecD::set(band ? 1.0 - distance / t.band : 1.0);
      const double* step = t.group + j * t.d * group_lanes;
      for (int k = 0; k < group_vectors; ++k) {
        VecD square = zero;
        for (Index c = 0; c < t.d; ++c) {
          const VecD difference =
              VecD::set(query[c]) - VecD::load(step + c * group_lanes + k * VecD::width);
          square = fma(difference, difference, square);
        }
        const VecD g = w * exp2_of(rate * square);
        double* at = t.work + (j + 1) * group_lanes + k * VecD::width;
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

void pair_model(const mercer::PairModelTask& t) {
  Scaled scaled(t.work, t.n);
  // Row 0: insertions into the other sequence only.
  for (Index j = 0; j < t.n; ++j)
    for (int k = 0; k < group_vectors; ++k) {
      double* at = t.work + j * group_lanes + k * VecD::width;
      (VecD::load(t.group_insert + j * group_lanes + k * VecD::width) * VecD::load(at))
          .store(at + group_lanes);
    }
  for (Index i = 0; i < t.m; ++i) {
    const VecD e = VecD::set(t.insert[t.query[i]]);
    const double* pair = t.pair + t.query[i] * t.n * group_lanes;
    Group largest, left, corner;
    for (int k = 0; k < group_vectors; ++k) {
      double* at = t.work + k * VecD::width;
      corner.v[k] = VecD::load(at);
      left.v[k] = e * corner.v[k];
      left.v[k].store(at);
      largest.v[k] = left.v[k];
    }
    for (Index j = 0; j < t.n; ++j)
      for (int k = 0; k < group_vectors; ++k) {
        const Index here = j * group_lanes + k * VecD::width;
        double* at = t.work + here + group_lanes;
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

}  // namespace
