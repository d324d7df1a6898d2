// One small problem for every pair of classes: thousands of them, a few rows each.
//
// For each pair (i, j), i < j, of classes, in the notation of problem.hpp,
//
//   minimise    1/2 beta' K beta + sum_r phi_r(beta_r)   over the rows r of the two classes,
//
// where class i has the label +1 and class j the label -1. Method: SMO on the whole pair
// (isa/smo.hpp), as for any small problem. What is saved is everything around it: the rows stand
// sorted by class, so a strip of kernel values of class i serves all of its pairs, the blocks K_jj
// are evaluated once for all, and nothing is allocated per problem. With eight rows a problem takes
// a microsecond or two.
//
// Returned: coefficients and margins in the layout of LIBSVM's sv_coef (a row of class i has its
// coefficient of the pair (i, j) in line j - 1, one of class j in line i), and for every problem
// the intercept with its interval, and a proof: primal and dual value at a point whose equality was
// repaired, both widened by what rounding can contribute.
#pragma once
#include <atomic>
#include <vector>

#include "evaluator.hpp"
#include "problem.hpp"

namespace mercer {

/// The problems. Dual terms are arrays of 2 n entries: for label +1, then for label -1.
struct ClassPairs {
  std::vector<Index> order;  ///< objects sorted by class
  std::vector<Index> ends;   ///< where each class ends in `order`
  std::vector<double> lower, upper, slope_left, slope_right, curv_left, curv_right, kink;
  bool equality = true;  ///< whether the coefficients of a pair sum to 0

  Index n() const { return static_cast<Index>(order.size()); }
  Index classes() const { return static_cast<Index>(ends.size()); }
  Index begin(Index c) const { return c ? ends[c - 1] : 0; }
  Index size(Index c) const { return ends[c] - begin(c); }
  /// The position of the pair (i, j) among (0, 1), (0, 2), ..., (1, 2), ...
  Index pair(Index i, Index j) const { return i * (2 * classes() - i - 1) / 2 + j - i - 1; }
};

/// Where results go: lines of n entries, one for each row, and one entry per pair.
struct PairResults {
  double *coef, *excess;  ///< (classes - 1) x n; excess is 1 - y f
  signed char* mark;      ///< the same; 0: coefficient 0, 1: free, 2: at its bound
  double *intercept, *lowest, *highest;
  double *primal, *dual, *terms, *norm2, *violation, *rounding;
  int* n_iter;
  signed char* status;  ///< a Status
  Index n_kernel_values = 0;
};

/// Largest pair that is solved like this, and the most kernel values kept for blocks K_jj.
inline constexpr Index largest_pair = 1024;
inline constexpr Index most_block_values = Index(1) << 25;

/// Whether all pairs are small enough.
bool fits(const ClassPairs& p);

/// Solves all problems. Those that a limit or an interrupt comes before keep coefficients of 0.
void solve_class_pairs(const ClassPairs& p, const std::shared_ptr<const Objects<double>>& objects,
                       const Evaluator<double>& kernel, const Settings& settings, PairResults& out);

}  // namespace mercer
