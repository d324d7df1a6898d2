#include "polish.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mercer {

namespace {

/// Relative residual of a singular system above which it is not rounding.
constexpr double inconsistent = 1e-6;
/// Added to the diagonal of such a system, relative to its largest entry.
constexpr double ridge = 1e-9;

/// Solves A x = b by elimination with complete pivoting; pivots below `drop` times the largest
/// entry end it, and the unknowns left over are zero. `missed`: what is left of b then.
std::vector<double> solve_singular(std::vector<double> a, std::vector<double> b, Index n,
                                   double* missed) {
  constexpr double drop = 1e-11;
  std::vector<Index> column(static_cast<std::size_t>(n));
  std::iota(column.begin(), column.end(), Index(0));
  double largest = 0;
  Index rank = 0;
  for (; rank < n; ++rank) {
    Index pr = rank, pc = rank;
    double best = 0;
    for (Index r = rank; r < n; ++r)
      for (Index c = rank; c < n; ++c)
        if (std::fabs(a[r * n + c]) > best) best = std::fabs(a[r * n + c]), pr = r, pc = c;
    if (rank == 0) largest = best;
    if (!(best > drop * largest)) break;
    if (pr != rank) {
      std::swap_ranges(a.begin() + pr * n, a.begin() + (pr + 1) * n, a.begin() + rank * n);
      std::swap(b[pr], b[rank]);
    }
    if (pc != rank) {
      for (Index r = 0; r < n; ++r) std::swap(a[r * n + pc], a[r * n + rank]);
      std::swap(column[pc], column[rank]);
    }
    for (Index r = rank + 1; r < n; ++r) {
      const double f = a[r * n + rank] / a[rank * n + rank];
      if (f == 0) continue;
      for (Index c = rank; c < n; ++c) a[r * n + c] -= f * a[rank * n + c];
      b[r] -= f * b[rank];
    }
  }
  *missed = 0;
  for (Index r = rank; r < n; ++r) *missed = std::max(*missed, std::fabs(b[r]));
  std::vector<double> x(static_cast<std::size_t>(n), 0.0);
  for (Index r = rank - 1; r >= 0; --r) {
    double sum = b[r];
    for (Index c = r + 1; c < rank; ++c) sum -= a[r * n + c] * x[column[c]];
    x[column[r]] = sum / a[r * n + r];
  }
  return x;
}

}  // namespace

double polish_step(const Problem& p, const std::function<double(Index, Index)>& kernel,
                   Solution& sol) {
  std::vector<Index> free;
  for (Index i = 0; i < p.size(); ++i) {
    const double b = sol.beta[i];
    const bool smooth = b != p.kink[i] || p.slope_left[i] == p.slope_right[i];
    if (b > p.lower[i] && b < p.upper[i] && smooth) free.push_back(i);
  }
  const Index f = static_cast<Index>(free.size());
  if (f == 0 || f > polish_limit) return 0;
  const Index n = f + p.groups;
  std::vector<double> a(static_cast<std::size_t>(n * n), 0.0), b(static_cast<std::size_t>(n), 0.0);
  double missed = 0, size = 0, largest = 0;
  for (Index r = 0; r < f; ++r) {
    const Index i = free[r];
    for (Index c = 0; c < f; ++c) a[r * n + c] = kernel(i, free[c]);
    a[r * n + r] += sol.beta[i] >= p.kink[i] ? p.curv_right[i] : p.curv_left[i];
    b[r] = -sol.values[i] - p.slope_up(i, sol.beta[i]);
    if (p.groups) b[r] += sol.multiplier[p.group[i]];
    size = std::max(size, std::fabs(b[r]));
    largest = std::max(largest, std::fabs(a[r * n + r]));
  }
  // The equations in units of the kernel, or elimination takes the smaller ones for dependent.
  for (Index r = 0; p.groups && r < f; ++r) {
    const Index group = f + p.group[free[r]];
    a[r * n + group] = a[group * n + r] = largest > 0 ? largest : 1.0;
  }
  std::vector<double> step = solve_singular(a, b, n, &missed);
  if (missed > inconsistent * size) {
    // More free variables than the kernel has rank: along some of its null vectors the objective
    // falls, until a variable meets its bound. A ridge makes that a long step.
    for (Index r = 0; r < f; ++r) a[r * n + r] += ridge * largest;
    step = solve_singular(std::move(a), std::move(b), n, &missed);
  }
  double t = 1;
  for (Index r = 0; r < f; ++r) {
    const Index i = free[r];
    const double at = sol.beta[i], d = step[r];
    if (!std::isfinite(d)) return 0;
    double end = d > 0 ? p.upper[i] : p.lower[i];
    // A kink between here and there ends the quadratic piece.
    if (d > 0 && at < p.kink[i]) end = std::min(end, p.kink[i]);
    if (d < 0 && at > p.kink[i]) end = std::max(end, p.kink[i]);
    if (d != 0 && (end - at) / d < t) t = (end - at) / d;
  }
  for (Index r = 0; r < f; ++r) {
    const Index i = free[r];
    double x = sol.beta[i] + t * step[r];
    // The variable that stopped the step lands on its end exactly.
    for (double end : {p.lower[i], p.upper[i], p.kink[i]})
      if (std::isfinite(end) && std::fabs(x - end) <= 1e-14 * (std::fabs(end) + std::fabs(step[r])))
        x = end;
    sol.beta[i] = std::clamp(x, p.lower[i], p.upper[i]);
  }
  return t;
}

}  // namespace mercer
