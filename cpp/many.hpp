// Several problems on one kernel: one-vs-one pairs, folds, one-vs-rest.
#pragma once
#include <memory>
#include <vector>

#include "decomposition.hpp"

namespace mercer {

struct SubProblem {
  Problem problem;
  std::vector<Index> rows;  ///< object of each variable; empty: all objects in order
  std::vector<double> start;
};

/// Solutions in the order of the problems. Small problems run side by side, one thread each;
/// large ones one after the other with all threads. `store`: their kernel rows, or null.
template <class T>
std::vector<Solution> solve_many(const std::vector<SubProblem>& problems,
                                 const std::shared_ptr<const Objects<T>>& objects,
                                 const Evaluator<T>& kernel, const Settings& settings,
                                 RowStore<T>* store);

}  // namespace mercer
