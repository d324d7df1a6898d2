// The last digits of a small problem: one linear system in the free variables.
//
// SMO stops with a violation just below the tolerance. Once the bounded variables are right, the
// free ones solve the optimality conditions exactly:
//
//   [ K_AA + D   E ] [ step ]     [ m - values - phi'(beta) ]_A
//   [    E'      0 ] [ -dm  ]  =  [ 0 ]
//
// with D the curvatures of phi and E the group indicators. The matrix is singular when rows
// repeat or the kernel has low rank; elimination with complete pivoting solves it as far as it
// goes and leaves the remaining variables where they are. Where that contradicts the conditions,
// there are too many free variables: a ridge brings some of them to their bounds.
#pragma once
#include <functional>
#include <vector>

#include "problem.hpp"

namespace mercer {

/// Free variables beyond this number are not worth the cubic cost.
inline constexpr Index polish_limit = 160;

/// Moves the free variables of sol.beta by the solution of the system, cut back to the bounds.
/// Returns the fraction of the step that was possible, or 0 when there is nothing to do.
/// sol.values must be exact; they are not updated.
double polish_step(const Problem& p, const std::function<double(Index, Index)>& kernel,
                   Solution& sol);

}  // namespace mercer
