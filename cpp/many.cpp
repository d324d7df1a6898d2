#include "many.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "thread_pool.hpp"

namespace mercer {

namespace {
/// Multiply-adds of a kernel value that is worth fetching from another problem.
constexpr double worth_sharing = 64;
}  // namespace

template <class T>
std::vector<Solution> solve_many(const std::vector<SubProblem>& problems,
                                 const std::shared_ptr<const Objects<T>>& objects,
                                 const Evaluator<T>& kernel, const Settings& settings) {
  std::vector<Solution> out(problems.size());
  std::vector<Index> small, large;
  const Index limit = problems.size() > 1 ? whole_of_many : whole_alone;
  for (std::size_t k = 0; k < problems.size(); ++k)
    (problems[k].problem.size() <= limit ? small : large).push_back(static_cast<Index>(k));
  std::atomic<bool> stop{false};
  const int threads = kernel.threads_allowed() ? settings.threads : 1;
  std::vector<Workspace<T>> workspace(static_cast<std::size_t>(std::max(threads, 1)));
  // A cheap kernel value is computed again in the time that sharing it would take.
  std::unique_ptr<SharedRows<T>> shared;
  std::vector<Index> everything;
  if (small.size() > 1 && kernel.cost() >= worth_sharing) {
    everything.resize(static_cast<std::size_t>(kernel.cols()));
    std::iota(everything.begin(), everything.end(), Index(0));
    std::vector<const std::vector<Index>*> objects_of;
    for (Index k : small)
      objects_of.push_back(problems[k].rows.empty() ? &everything : &problems[k].rows);
    shared = std::make_unique<SharedRows<T>>(objects_of, kernel.cols(), settings.cache_bytes);
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto one = [&](Index k, Settings s, int worker) {
    const SubProblem& p = problems[k];
    if (s.time_limit > 0) {  // one limit for all of them
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      s.time_limit = std::max(s.time_limit - spent.count(), 1e-9);
    }
    workspace[worker].segments.clear();
    workspace[worker].shared = shared.get();
    if (shared && p.problem.size() <= limit)
      workspace[worker].segments = shared->segments(p.rows.empty() ? everything : p.rows);
    if (stop.load(std::memory_order_relaxed)) {
      out[k] = untouched(p.problem, p.start);
    } else if (p.rows.empty()) {
      out[k] = solve(p.problem, kernel, s, p.start, &stop, &workspace[worker], limit);
    } else {
      const std::shared_ptr<const Objects<T>> view =
          objects->take(p.rows.data(), static_cast<Index>(p.rows.size()));
      out[k] =
          solve(p.problem, *kernel.on(view, view), s, p.start, &stop, &workspace[worker], limit);
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
                                                 const Evaluator<float>&, const Settings&);
template std::vector<Solution> solve_many<double>(const std::vector<SubProblem>&,
                                                  const std::shared_ptr<const Objects<double>>&,
                                                  const Evaluator<double>&, const Settings&);

}  // namespace mercer
