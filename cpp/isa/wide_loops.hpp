// Subsequences whose numbers leave the range of double; the recursion is that of pairs.hpp.
// Included by isa_*.cpp after pair_loops.hpp; all in the unnamed namespace.
#pragma once
#include "pair_loops.hpp"

namespace {

/// x * 2^(wide_step e), where x is 0 or about 1: 2^-(wide_step/2) <= x < 2^(wide_step/2) (after T.
/// Fukushima, "Numerical computation of spherical harmonics of arbitrary degree and order by
/// extending exponent of floating point numbers", J. Geodesy 86, 2012). Powers of two change no
/// digit, so a result has the bits that a double of unlimited range would have, but for terms of a
/// sum that are 2^-256 of it.
struct WideVec {
  VecD x, e;
};

constexpr double half_step = 0x1p256, whole_step = 0x1p512;
static_assert(mercer::wide_step == 512);
constexpr double exponent_of_zero = -0x1p52;  // below that of every number

inline WideVec wide_zero() {
  return {VecD::zero(), VecD::set(exponent_of_zero)};
}

/// After a product of two numbers.
inline WideVec brought_back(WideVec a) {
  const VecD one = VecD::set(1.0), lowest = VecD::set(1.0 / half_step);
  const auto large = VecD::set(half_step) < a.x;
  const auto small = (a.x < lowest) & (VecD::zero() < a.x);
  const VecD down = a.x * VecD::set(1.0 / whole_step), up = a.x * VecD::set(whole_step);
  return {where(large, down, where(small, up, a.x)), (a.e + only(large, one)) - only(small, one)};
}

inline WideVec operator*(WideVec a, WideVec b) {
  return brought_back({a.x * b.x, a.e + b.e});
}

inline WideVec operator+(WideVec a, WideVec b) {
  const auto swap = a.e < b.e;
  const VecD e = where(swap, b.e, a.e), apart = e - where(swap, a.e, b.e);
  const VecD high = where(swap, b.x, a.x), low = where(swap, a.x, b.x);
  const VecD factor = where(apart == VecD::zero(), VecD::set(1.0),
                            only(apart == VecD::set(1.0), VecD::set(1.0 / whole_step)));
  const VecD x = fma(low, factor, high);
  const auto large = VecD::set(half_step) < x;
  return {where(large, x * VecD::set(1.0 / whole_step), x), e + only(large, VecD::set(1.0))};
}

inline WideVec wide_load(const double* at) {
  return {VecD::load(at), VecD::load(at + group_lanes)};
}

inline void wide_store(WideVec a, double* at) {
  a.x.store(at);
  a.e.store(at + group_lanes);
}

/// As subsequence_rows; a cell holds the digits of a group and then the exponents.
template <bool QueryOuter>
void wide_subsequence_rows(const mercer::WideSubsequenceTask& w, Index lane) {
  const mercer::SubsequenceTask& t = w.task;
  constexpr Index cell = 2 * group_lanes;
  const Index outer = QueryOuter ? t.m : t.n, inner = QueryOuter ? t.n : t.m;
  const WideVec one{VecD::set(1.0), VecD::zero()}, none = wide_zero();
  const WideVec a{VecD::set(t.decay), VecD::set(w.decay_exponent)};
  WideVec sum = none;
  Asking asking(t);
  for (Index i = 0; i < outer; ++i) {
    const VecD x = outer_token<QueryOuter>(t, i, lane);
    for (int p = t.order; p >= 1; --p) {
      if (asking.leaves(4 * inner)) return;
      const WideVec weight{VecD::set(t.weight[p - 1]), VecD::set(w.weight_exponent[p - 1])};
      double* row = t.work + (p - 1) * inner * cell + lane;
      const double* below = row - inner * cell;
      WideVec run = none, corner = none, found = none;
      for (Index j = 0; j < inner; ++j) {
        const auto match = x == inner_token<QueryOuter>(t, j, lane);
        const WideVec before = p == 1 ? one : corner;
        const WideVec s{where(match, before.x, none.x), where(match, before.e, none.e)};
        found = found + s;
        if (p > 1) corner = wide_load(below + j * cell);
        if (p == t.order) continue;
        double* at = row + j * cell;
        run = a * run + s;
        wide_store(a * wide_load(at) + run, at);
      }
      if (t.weight[p - 1] > 0) sum = weight * found + sum;
    }
  }
  sum.x.store(t.out + lane);
  sum.e.store(w.out_exponent + lane);
}

void wide_subsequence(const mercer::WideSubsequenceTask& w) {
  const mercer::SubsequenceTask& t = w.task;
  const Index cells = (t.order - 1) * (t.query_outer ? t.n : t.m);
  Asking asking(t);
  for (Index k = 0; k < cells; ++k) {
    if (asking.leaves(2 * group_lanes)) return;
    fill(t.work + 2 * k * group_lanes, group_lanes, 0.0);
    fill(t.work + (2 * k + 1) * group_lanes, group_lanes, exponent_of_zero);
  }
  const auto loop = t.query_outer ? wide_subsequence_rows<true> : wide_subsequence_rows<false>;
  for (Index lane = 0; lane < t.used; lane += VecD::width) loop(w, lane);
}

}  // namespace
