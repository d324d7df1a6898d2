// Problems that differ in their costs alone, one after the other on a stored kernel matrix.
//
// A grid search solves the same problem for many values of C, on the same rows of the same kernel
// matrix. Here the values of C form a path, in ascending order. The solution for one of them starts
// the next: free coefficients stay, those at a bound move to the new bound, and the equality is
// repaired by the bounded ones that are nearest to the margin, which are the likeliest to become
// free. (Rescaling all coefficients, as A. Smola proposes in "Learning with Kernels", section 4.5,
// moves the free ones away from where they belong, and saves few steps.) Where no coefficient is at
// a bound that moves, the solution is the same and takes no step. Kernel rows, gathered from the
// matrix when a pair first needs them, serve the whole path; values on the training rows and on
// the validation rows are brought up to date by the coefficients that changed.
//
// Method of each problem: pair steps with shrinking, as WholeSolver (whole_solver.hpp), and now and
// then Newton steps on the free coefficients, of which a large C leaves many: conjugate gradients
// on a face, then a projection (J. More, G. Toraldo, "On the solution of large quadratic
// programming problems with bound constraints", SIAM J. Optim. 1 (1991)). Where the matrix is too
// ill-conditioned for these, the system of the free coefficients is factorised instead, and solved
// again without each coefficient that meets a bound on the way (an active-set method: J. Nocedal,
// S. Wright, "Numerical Optimization", 2006, section 16.5); after C has grown this extrapolates the
// path, which is linear in C until a coefficient meets a bound. Steps read kernel values in single
// precision; the values K beta that they start from, and the certificate, are made exact by the
// part that single precision has left off (iterative refinement). A problem that does not reach its
// tolerance says so; the caller solves it by other means.
#pragma once
#include <atomic>
#include <vector>

#include "problem.hpp"

namespace mercer {

/// The dual terms of all variables for one value of C; see problem.hpp.
struct CostTerms {
  std::vector<double> lower, upper, slope_left, slope_right, curv_left, curv_right, kink;
};

/// Tasks (pairs of classes) of one training set, with the rows to evaluate them on.
struct CostPath {
  std::vector<Index> rows;       ///< row of the matrix of every variable, task after task
  std::vector<Index> ends;       ///< where each task ends
  std::vector<Index> valid;      ///< rows of the matrix that the models are evaluated on
  bool equality = true;          ///< whether the coefficients of a task sum to zero
  std::vector<CostTerms> steps;  ///< one entry for every value of C, ascending

  Index tasks() const { return static_cast<Index>(ends.size()); }
  Index variables() const { return static_cast<Index>(rows.size()); }
};

/// A square kernel matrix in row-major order. An entry in double precision is the sum of two in
/// single precision: pair steps read the first, certificates both.
struct StoredMatrix {
  const float *values, *low;
  Index n, stride;
};

/// Where the results of one path go: arrays [steps][tasks], [steps][variables] and
/// [steps][tasks][valid rows].
struct PathResults {
  double *multiplier, *violation, *gap, *beta, *valid;
  int *n_iter, *n_faces, *n_factorised;  ///< pair steps, Newton steps (see newton_steps.hpp)
  signed char* status;
};

/// A path on one of the matrices.
struct PathJob {
  const CostPath* path;
  Index matrix;
  PathResults results;
};

/// Solves all tasks of all paths, side by side on the threads of the settings, each task from the
/// smallest C to the largest. Gaps include what rounding can contribute. A problem whose relative
/// gap exceeds `gap_limit` at its tolerance is solved further. What an interrupt or the time limit
/// left out has that status and zero coefficients. Results are the same bits for any number of
/// threads.
void solve_cost_paths(const std::vector<StoredMatrix>& matrices, const std::vector<PathJob>& jobs,
                      const Settings& settings, double gap_limit);

}  // namespace mercer
