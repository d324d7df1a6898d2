// Decision values of all pairs of classes from kernel values, one against one.
//
// For a row x and classes i < j, with the coefficients c in the layout of LIBSVM's sv_coef,
//
//   f_ij(x) = sum_{a in i} c(j - 1, a) k(x, a) + sum_{b in j} c(i, b) k(x, b) + b_ij.
//
// With 1,000 classes a row has 499,500 values of a few terms each, so that what counts is memory:
// rows side by side share one pass over the coefficients, and a value is written once, or only its
// vote is counted. The terms are added in the order of the columns, each product rounded, so that
// a value is the same number whatever rows stand beside it and on every instruction set.
#pragma once
#include "leaving.hpp"
#include "memory.hpp"

namespace mercer {

struct PairCoefficients {
  const Index* ends;        ///< where the columns of each class end
  Index classes, columns;   ///< numbers of both
  const double* coef;       ///< (classes - 1) x columns
  const double* by_column;  ///< its transpose
  const double* intercept;  ///< one for each pair

  Index pairs() const { return classes * (classes - 1) / 2; }
};

/// What is wanted of kernel values (rows x columns); null: not this.
struct PairDecisions {
  double* values = nullptr;  ///< rows x pairs
  double* votes = nullptr;   ///< rows x classes: pairs won; a value of 0 is won by the second class
  bool finite = true;        ///< returned: whether all values are
};

/// False when the work was left.
template <class T>
bool pair_decisions(const PairCoefficients& c, const T* kernel, Index rows, PairDecisions& out,
                    int threads, Leaving& leaving);

/// The same for f_ij = (part j - 1 of class i + part i of class j) + b_ij, from rows of classes - 1
/// parts of each class: the two sums above.
void join_parts(const double* parts, Index rows, Index classes, const double* intercept,
                PairDecisions& out);

/// votes (rows x classes, zeros before) of values (rows x pairs), as `pair_decisions` counts them.
void count_votes(const double* values, Index rows, Index classes, double* votes);

}  // namespace mercer
