// Problem, settings, progress and solution of the dual solvers: plain data.
//
//   minimise    1/2 beta' K beta + sum_i phi_i(beta_i)
//   subject to  lower_i <= beta_i <= upper_i
//               sum of beta over group g keeps the value it has at the start, g < groups
//
// beta are signed dual variables (y_i alpha_i for classifiers, alpha_i - alpha_i* for regression),
// so K is the kernel matrix itself. phi_i is convex and piecewise quadratic with one kink:
//
//   phi_i'(b) = slope_left_i  + curv_left_i  (b - kink_i)   for b < kink_i
//               slope_right_i + curv_right_i (b - kink_i)   for b > kink_i,   phi_i(kink_i) = 0.
//
// With (K beta)_i = values_i a point is optimal when there are multipliers m_g such that
//   values_i + phi_i'(beta_i + 0) >= m_g  where beta_i can rise   ("up")
//   values_i + phi_i'(beta_i - 0) <= m_g  where beta_i can fall   ("down").
// The violation is max_g (max down - min up); without groups it is measured against m = 0.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "isa/ops.hpp"

namespace mercer {

struct Problem {
  std::vector<double> lower, upper, slope_left, slope_right, curv_left, curv_right, kink;
  std::vector<int> group;  ///< 0 or 1 per variable; empty when groups == 0
  int groups = 1;

  Index size() const { return static_cast<Index>(lower.size()); }

  /// phi_i at b.
  double phi(Index i, double b) const {
    const double x = b - kink[i];
    return x < 0 ? (slope_left[i] + 0.5 * curv_left[i] * x) * x
                 : (slope_right[i] + 0.5 * curv_right[i] * x) * x;
  }
  double slope_up(Index i, double b) const {
    return b >= kink[i] ? slope_right[i] + curv_right[i] * (b - kink[i])
                        : slope_left[i] + curv_left[i] * (b - kink[i]);
  }
  double slope_down(Index i, double b) const {
    return b <= kink[i] ? slope_left[i] + curv_left[i] * (b - kink[i])
                        : slope_right[i] + curv_right[i] * (b - kink[i]);
  }
  /// Snaps b to a bound or kink within rounding error, relative to the bound or to `largest`, the
  /// largest coefficient (small coefficients beside a large upper bound are not rounding).
  /// Otherwise rounding makes a coefficient free, and a free one determines the multiplier, which
  /// should be the midpoint of an interval.
  double settled(Index i, double b, double largest) const;
  /// Whether a coefficient other than 0 lies beside a bound or kink, nearer than rounding of its
  /// largest size, or of its own where it is unbounded.
  bool near_bound(const std::vector<double>& beta) const;
  /// Bound on the rounding error of a sum of coefficients.
  double rounding_of_sum(double largest) const;
  /// The b in [lower, upper] that maximises s b - phi_i(b).
  double maximiser(Index i, double s) const;
  /// phi_i*(s) = max over lower <= b <= upper of s b - phi_i(b); infinite when unbounded.
  double conjugate(Index i, double s) const;
};

enum class Status {
  optimal,
  iteration_limit,
  time_limit,
  interrupted,
  infeasible,
  stationary,
  stalled
};

struct Progress {
  Index iteration;
  double violation, objective, gap;
  Index active, cache_hits, cache_misses;
};

struct Settings {
  double tol = 1e-3;
  double gap_tol = 0;      ///< relative gap to stop at; 0: off
  double largest_gap = 0;  ///< relative gap above which tol is made smaller on the way; 0: off
  Index max_iter = -1;     ///< pair updates; negative: no limit
  double time_limit = 0;   ///< seconds; 0: no limit
  bool shrinking = true;
  double cache_bytes = 200e6;
  int threads = 1;
  Index working_set = 0;                                              ///< 0: chosen from the size
  double objective_floor = -std::numeric_limits<double>::infinity();  ///< below: infeasible
  /// Called now and then from the calling thread; true: stop as interrupted.
  std::function<bool()> interrupted;
  std::function<bool(const Progress&)> callback;
};

struct Solution {
  std::vector<double> beta, values;
  double multiplier[2] = {0, 0};
  double range[2][2] = {{0, 0}, {0, 0}};  ///< interval of optimal multipliers
  Status status = Status::optimal;
  double violation = 0, objective = 0, gap = 0, relative_gap = 0;
  Index n_iter = 0, n_kernel_values = 0, outer = 0, cache_hits = 0, cache_misses = 0;
  bool negative_curvature = false;
  bool near_bound = true;  ///< see Problem::near_bound
  bool fresh = false;  ///< whether values were computed from this beta alone, not kept up to date
};

/// Gap and the sum of the absolute terms of the primal, for multipliers m.
struct Gap {
  double gap, scale;
};
Gap duality_gap(const Problem& p, const double* beta, const double* values, const double* m);

/// Multipliers, their intervals, violation and objective of sol.beta and sol.values. Where values
/// are NaN (an interrupt left them out) multipliers come from the others, the rest is NaN.
void find_multipliers(const Problem& p, Solution& sol);

/// The same and the gap.
void summarise(const Problem& p, Solution& sol);

}  // namespace mercer
