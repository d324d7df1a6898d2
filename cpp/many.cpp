#include "many.hpp"

#include <algorithm>
#include <chrono>

#include "thread_pool.hpp"

namespace mercer {

template <class T>
std::vector<Solution> solve_many(const std::vector<SubProblem>& problems,
                                 const std::shared_ptr<const Objects<T>>& objects,
                                 const Evaluator<T>& kernel, const Settings& settings,
                                 RowStore<T>* store) {
  std::vector<Solution> out(problems.size());
  std::vector<Index> small, large;
  const Index limit = problems.size() > 1 ? whole_of_many : whole_alone;
  for (std::size_t k = 0; k < problems.size(); ++k)
    (problems[k].problem.size() <= limit ? small : large).push_back(static_cast<Index>(k));
  std::atomic<bool> stop{false};
  const int threads = kernel.threads_allowed() ? settings.threads : 1;
  std::vector<Workspace<T>> workspace(static_cast<std::size_t>(std::max(threads, 1)));
  const auto begin = std::chrono::steady_clock::now();
  const auto one = [&](Index k, Settings s, int worker) {
    const SubProblem& p = problems[k];
    if (s.time_limit > 0) {  // one limit for all of them
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      s.time_limit = std::max(s.time_limit - spent.count(), 1e-9);
    }
    if (stop.load(std::memory_order_relaxed)) {
      out[k] = untouched(p.problem, p.start);
    } else {
      out[k] =
          solve(p.problem, kernel, s, p.start, &stop, &workspace[worker], store, limit, p.rows);
      out[k].near_bound = p.problem.near_bound(out[k].beta);
    }
  };
  for (Index k : large) one(k, settings, 0);
  // Large small ones first: the last tasks to finish are short.
  std::stable_sort(small.begin(), small.end(), [&](Index a, Index b) {
    return problems[a].problem.size() > problems[b].problem.size();
  });
  Settings quiet = settings;
  quiet.threads = 1;
  Settings silent = quiet;
  silent.interrupted = nullptr;
  silent.callback = nullptr;
  const auto tasks = static_cast<Index>(small.size());
  if (tasks == 1 || threads == 1) {
    for (Index k : small) one(k, quiet, 0);
  } else {
    parallel_for(
        threads, tasks,
        [&](Index t, int worker) { one(small[t], worker == 0 ? quiet : silent, worker); },
        [&] {
          if (settings.interrupted && settings.interrupted()) stop.store(true);
        });
  }
  return out;
}

template std::vector<Solution> solve_many<float>(const std::vector<SubProblem>&,
                                                 const std::shared_ptr<const Objects<float>>&,
                                                 const Evaluator<float>&, const Settings&,
                                                 RowStore<float>*);
template std::vector<Solution> solve_many<double>(const std::vector<SubProblem>&,
                                                  const std::shared_ptr<const Objects<double>>&,
                                                  const Evaluator<double>&, const Settings&,
                                                  RowStore<double>*);

}  // namespace mercer
