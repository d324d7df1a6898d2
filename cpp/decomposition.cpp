#include "decomposition.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "block_solver.hpp"
#include "whole_solver.hpp"

namespace mercer {

namespace {

void check(const Problem& p, const std::vector<double>& start) {
  const std::size_t n = p.lower.size();
  for (const auto* v :
       {&p.upper, &p.slope_left, &p.slope_right, &p.curv_left, &p.curv_right, &p.kink})
    if (v->size() != n) throw std::invalid_argument("problem arrays differ in length");
  if (p.groups && p.group.size() != n) throw std::invalid_argument("group has the wrong length");
  if (!start.empty() && start.size() != n)
    throw std::invalid_argument("start has the wrong length");
  for (std::size_t i = 0; i < n; ++i) {
    if (!(p.lower[i] <= p.upper[i]))
      throw std::invalid_argument("lower exceeds upper, or one of them is NaN");
    if (!std::isfinite(p.slope_left[i]) || !std::isfinite(p.slope_right[i]) ||
        !std::isfinite(p.kink[i]))
      throw std::invalid_argument("slopes and kinks must be finite");
    if (!(p.curv_left[i] >= 0) || !(p.curv_right[i] >= 0) || !(p.slope_left[i] <= p.slope_right[i]))
      throw std::invalid_argument(
          "the costs are not convex: curvatures must be at least 0, and the slope on the left of a "
          "kink at most that on its right");
    if (p.groups && (p.group[i] < 0 || p.group[i] >= p.groups))
      throw std::invalid_argument("no such group");
    if (!start.empty() && !(start[i] >= p.lower[i] && start[i] <= p.upper[i]))
      throw std::invalid_argument("the start is outside the bounds");
  }
}

}  // namespace

Solution untouched(const Problem& p, const std::vector<double>& start) {
  Solution sol;
  sol.beta = start.empty() ? std::vector<double>(p.lower.size(), 0.0) : start;
  sol.values.assign(p.lower.size(), start.empty() ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  sol.status = Status::interrupted;
  summarise(p, sol);
  return sol;
}

template <class T>
Solution solve(const Problem& problem, const Evaluator<T>& kernel, const Settings& settings,
               const std::vector<double>& start, std::atomic<bool>* stop, Workspace<T>* workspace,
               RowStore<T>* store, Index whole_size, const std::vector<Index>& rows) {
  check(problem, start);
  const Index objects = rows.empty() ? kernel.cols() : static_cast<Index>(rows.size());
  if (objects != problem.size() || kernel.rows() != kernel.cols())
    throw std::invalid_argument("the kernel has another number of objects than the problem");
  if (store && static_cast<Index>(kernel.b().id.size()) != kernel.cols())
    throw std::invalid_argument("the objects have no numbers in the store of rows");
  if (problem.size() == 0) return {};
  if (store && store->useful())
    store->allow(settings.cache_bytes);
  else
    store = nullptr;
  if (problem.size() <= whole_size)
    return WholeSolver<T>(problem, kernel, rows, settings, stop, *workspace, store).run(start);
  if (rows.empty()) return BlockSolver<T>(problem, kernel, settings, stop, store).run(start);
  const std::shared_ptr<const Objects<T>> view = kernel.b().take(rows.data(), objects);
  return BlockSolver<T>(problem, *kernel.on(view, view), settings, stop, store).run(start);
}

template Solution solve<float>(const Problem&, const Evaluator<float>&, const Settings&,
                               const std::vector<double>&, std::atomic<bool>*, Workspace<float>*,
                               RowStore<float>*, Index, const std::vector<Index>&);
template Solution solve<double>(const Problem&, const Evaluator<double>&, const Settings&,
                                const std::vector<double>&, std::atomic<bool>*, Workspace<double>*,
                                RowStore<double>*, Index, const std::vector<Index>&);

}  // namespace mercer
