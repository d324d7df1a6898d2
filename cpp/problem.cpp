#include "problem.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
/// Relative distance within which a coefficient counts as at its bound; larger for many
/// coefficients, whose sum has a larger rounding error.
constexpr double next_to_bound = 1e-13;
double closeness(Index n) {
  return std::max(next_to_bound, static_cast<double>(n) * std::numeric_limits<double>::epsilon());
}
}  // namespace

double Problem::settled(Index i, double b, double largest) const {
  const double close = closeness(size());
  const auto at = [&](double point) {
    return std::isfinite(point) &&
           std::fabs(point - b) <= close * std::max(std::fabs(point), largest);
  };
  if (at(upper[i])) return upper[i];
  if (at(lower[i])) return lower[i];
  return slope_left[i] < slope_right[i] && at(kink[i]) ? kink[i] : b;
}

bool Problem::near_bound(const std::vector<double>& beta) const {
  const double close = closeness(size());
  for (Index i = 0; i < size(); ++i) {
    const double b = beta[i], low = lower[i], high = upper[i];
    if (b == 0 || !(b > low && b < high)) continue;
    const double largest = std::max(high, -low);
    const double room = close * (largest < inf ? largest : std::fabs(b));
    if (std::min(b - low, high - b) <= room) return true;
    if (slope_left[i] < slope_right[i] && b != kink[i] && std::fabs(b - kink[i]) <= room)
      return true;
  }
  return false;
}

double Problem::rounding_of_sum(double largest) const {
  return closeness(size()) * largest;
}

double Problem::maximiser(Index i, double s) const {
  // It solves phi'(b) = s on the piece where that happens, clipped to the box.
  double b = kink[i];
  if (s < slope_left[i])
    b = curv_left[i] > 0 ? kink[i] + (s - slope_left[i]) / curv_left[i] : -inf;
  else if (s > slope_right[i])
    b = curv_right[i] > 0 ? kink[i] + (s - slope_right[i]) / curv_right[i] : inf;
  return std::clamp(b, lower[i], upper[i]);
}

double Problem::conjugate(Index i, double s) const {
  const double b = maximiser(i, s);
  if (std::isinf(b)) return inf;
  return s * b - phi(i, b);
}

Gap duality_gap(const Problem& p, const double* beta, const double* values, const double* m) {
  double square = 0, gap = 0, scale = 0;
  for (Index i = 0; i < p.size(); ++i) {
    const double s = (p.groups ? m[p.group[i]] : 0.0) - values[i];
    const double c = p.conjugate(i, s);
    square += beta[i] * values[i];
    gap += c + p.phi(i, beta[i]) - s * beta[i];
    scale += std::fabs(c);
  }
  return {gap, 0.5 * std::fabs(square) + scale};
}

void find_multipliers(const Problem& p, Solution& sol) {
  const int groups = std::max(p.groups, 1);
  double lo[2] = {inf, inf}, hi[2] = {-inf, -inf}, sum[2] = {0, 0}, quad = 0, linear = 0;
  Index free[2] = {0, 0};
  for (Index i = 0; i < p.size(); ++i) {
    const int g = p.groups ? p.group[i] : 0;
    const double b = sol.beta[i], f = sol.values[i];
    quad += b * f;
    linear += p.phi(i, b);
    if (std::isnan(f)) continue;  // not computed before an interrupt
    const bool rises = b<p.upper[i], falls = b> p.lower[i];
    const double up = f + p.slope_up(i, b), down = f + p.slope_down(i, b);
    if (rises) lo[g] = std::min(lo[g], up);
    if (falls) hi[g] = std::max(hi[g], down);
    if (rises && falls && b != p.kink[i])
      sum[g] += up, ++free[g];
    else if (rises && falls && p.slope_left[i] == p.slope_right[i])
      sum[g] += up, ++free[g];
  }
  sol.violation = 0;
  for (int g = 0; g < groups; ++g) {
    if (!p.groups) {
      sol.violation = std::max({0.0, hi[g], -lo[g]});
      break;
    }
    sol.violation = std::max(sol.violation, hi[g] - lo[g]);
    sol.range[g][0] = std::min(hi[g], lo[g]);
    sol.range[g][1] = std::max(hi[g], lo[g]);
    const bool low = std::isfinite(hi[g]), high = std::isfinite(lo[g]);
    if (free[g])
      sol.multiplier[g] = sum[g] / static_cast<double>(free[g]);
    else if (low && high)
      sol.multiplier[g] = 0.5 * (hi[g] + lo[g]);
    else
      sol.multiplier[g] = low ? hi[g] : (high ? lo[g] : 0.0);
  }
  if (std::isnan(quad)) sol.violation = quad;
  sol.objective = 0.5 * quad + linear;
}

void summarise(const Problem& p, Solution& sol) {
  find_multipliers(p, sol);
  const Gap g = duality_gap(p, sol.beta.data(), sol.values.data(), sol.multiplier);
  sol.gap = g.gap;
  sol.relative_gap = g.scale > 0 ? g.gap / g.scale : g.gap;
}

}  // namespace mercer
