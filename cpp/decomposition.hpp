// The decomposition solver: a block working set, an inner SMO on it, a shrinking active set.
//
// Problem and notation: problem.hpp. One outer step
//   1. picks the variables that violate optimality most (half of the set is kept from before),
//   2. solves the problem restricted to them by second-order SMO on a local kernel matrix
//      (isa/smo.hpp; Fan, Chen, Lin, JMLR 6, 2005),
//   3. applies the rows of the variables that changed to the values of all active variables.
// The scheme goes back to Osuna, Freund, Girosi (1997) and Joachims (1999), "Making large-scale
// support vector machine learning practical", whose shrinking it uses too: variables at a bound
// that no violating pair can use leave the active set, and their values are rebuilt at the end.
// Small problems skip the working set: SMO runs on all variables with rows filled in on demand.
//
// The two forms (whole_solver.hpp, block_solver.hpp) share the inner SMO, the slots, the limits and
// the rule that closes the gap, not their outer loops: what a pass does between two runs of inner
// steps has nothing in common but the order of its tests. The whole solver keeps values in the
// slots, shrinks within one pass, polishes by a linear system and extrapolates; the block solver
// keeps values outside, picks sets, applies rows and decides when to catch up.
//
// Values are accumulated in float64 in a fixed order; results have the same bits for any number
// of threads and any cache size.
#pragma once
#include <memory>
#include <vector>

#include "evaluator.hpp"
#include "problem.hpp"
#include "row_store.hpp"

namespace mercer {

/// Memory that consecutive small problems share; one per thread.
template <class T>
struct Workspace {
  Buffer<T> matrix, gathered;
};

/// Up to this size SMO works on all variables at once, on one thread.
inline constexpr Index whole_alone = 2048;
/// The same for one of many problems, which have a thread each.
inline constexpr Index whole_of_many = 4096;

/// Solves `problem` on the objects of `kernel` (both sides the same set, one per variable) from
/// the feasible point `start` (empty: zero). Another thread may end the solver through `stop`; the
/// solution is then the best point so far, and values that could not be computed in time are NaN.
/// Problems of up to `whole_size` variables are solved without a working set and without threads.
/// Rows are kept in `store`, if there is one, where the objects of the kernel have their numbers.
/// `rows`: the object of each variable, if the kernel has others too; empty: all in order.
template <class T>
Solution solve(const Problem& problem, const Evaluator<T>& kernel, const Settings& settings,
               const std::vector<double>& start, std::atomic<bool>* stop, Workspace<T>* workspace,
               RowStore<T>* store = nullptr, Index whole_size = whole_alone,
               const std::vector<Index>& rows = {});

/// The solution of a problem that an interrupt came before: its start.
Solution untouched(const Problem& problem, const std::vector<double>& start);

}  // namespace mercer
