// Dual coordinate descent over sparse rows: the inner loop of the solver `coordinate_descent`.
//
// Problem: minimise over beta, with w = X' beta / lam,
//
//     lam / 2 |w|^2 + sum_i (slope_i beta_i + curvature_i beta_i^2 / 2),   lower <= beta <= upper,
//
// the dual of lam / 2 |w|^2 + sum_i c_i l(y_i, <x_i, w>) for losses without a kink in the dual. A
// step minimises over one variable; with w at hand its gradient costs one sparse dot product.
//
// Reference: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. Keerthi, S. Sundararajan, "A dual coordinate
// descent method for large-scale linear SVM", ICML 2008, algorithm 3.
#pragma once
#include <cstdint>

#include "objects.hpp"

namespace mercer {

/// Rows in compressed form; row i has the entries from start[i] to start[i + 1].
template <class I>
struct CompressedRows {
  const double* value;
  const I* column;
  const I* start;
};

/// The dual costs of all variables. `curvature` excludes that of the rows, `whole` includes it.
struct CoordinateTerms {
  const double* lower;
  const double* upper;
  const double* slope;
  const double* curvature;
  const double* whole;
};

/// The range of projected gradients, over the variables that were looked at.
struct GradientRange {
  double largest = -1e300;
  double smallest = 1e300;
};

/// Steps along the variables `order[0 .. n)`, one after the other. A variable at its lower bound
/// whose gradient exceeds `before.largest`, or at its upper bound below `before.smallest`, is set
/// aside: `active[i] = 0`. Returns the range of the others.
template <class I>
GradientRange descend(const CompressedRows<I>& rows, const CoordinateTerms& terms, double lam,
                      const int64_t* order, Index n, const GradientRange& before, double* beta,
                      double* w, uint8_t* active);

}  // namespace mercer
