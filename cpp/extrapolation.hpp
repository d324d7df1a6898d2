// A long step along the direction in which a solver has moved.
//
// On data that no function can fit exactly, the dual of a hard-margin machine is unbounded, and
// pair steps alone would not end. Along beta + t d the objective is quadratic up to the next kink
// or bound; t minimises it there.
#pragma once
#include <algorithm>

#include "problem.hpp"

namespace mercer {

class Extrapolation {
 public:
  /// Variable i, which is at `beta` with (K beta)_i = value and moves by d; change = (K d)_i.
  void add(const Problem& p, Index i, double beta, double d, double value, double change) {
    if (d == 0) return;
    limit_ = std::min(limit_, ((d > 0 ? p.upper[i] : p.lower[i]) - beta) / d);
    if (d > 0 ? beta < p.kink[i] : beta > p.kink[i])
      limit_ = std::min(limit_, (p.kink[i] - beta) / d);
    slope_ += d * (value + (d > 0 ? p.slope_up(i, beta) : p.slope_down(i, beta)));
    curve_ += d * (change + d * (beta >= p.kink[i] ? p.curv_right[i] : p.curv_left[i]));
  }

  /// The length of the step; 0 where none descends.
  double step() const {
    if (!(slope_ < 0) || !(limit_ > 0)) return 0;
    return curve_ > 0 ? std::min(limit_, -slope_ / curve_) : limit_;
  }
  /// The change of the objective.
  double change(double step) const { return step * slope_ + 0.5 * step * step * curve_; }

 private:
  /// Two such steps carry an objective past the floor of 1e13 or so below which a caller gives up;
  /// a longer one would leave the values no digit of what came before it.
  static constexpr double longest = 1e6;

  double limit_ = longest, slope_ = 0, curve_ = 0;
};

}  // namespace mercer
