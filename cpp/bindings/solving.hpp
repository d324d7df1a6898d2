// Problems, settings and solutions as dictionaries.
#pragma once

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/signals.hpp"
#include "decomposition.hpp"
#include "many.hpp"
#include "thread_pool.hpp"

namespace mercer {

inline std::vector<double> column(const nb::dict& d, const char* name) {
  return to_vector(nb::cast<Array1<double>>(d[name]));
}

/// The numbers of an array, or others where there is none.
inline std::vector<double> column_or(const nb::dict& d, const char* name,
                                     const std::vector<double>& otherwise) {
  return !d.contains(name) || d[name].is_none() ? otherwise : column(d, name);
}

/// Reads bounds and costs of the variables: a smooth linear cost where nothing else is said.
template <class Terms>
void read_terms(const nb::dict& d, Terms& t) {
  t.lower = column(d, "lower");
  t.upper = column(d, "upper");
  const std::vector<double> zeros(t.lower.size());
  t.slope_left = column(d, "slope_left");
  t.slope_right = column_or(d, "slope_right", t.slope_left);
  t.curv_left = column_or(d, "curv_left", zeros);
  t.curv_right = column_or(d, "curv_right", t.curv_left);
  t.kink = column_or(d, "kink", zeros);
}

inline SubProblem parse_problem(const nb::dict& d) {
  SubProblem s;
  Problem& p = s.problem;
  read_terms(d, p);
  p.groups = 0;
  if (!d["group"].is_none()) {
    const auto g = nb::cast<Array1<Index>>(d["group"]);
    p.group.assign(g.data(), g.data() + g.shape(0));
    const auto [least, most] = std::minmax_element(g.data(), g.data() + g.shape(0));
    if (g.shape(0) && *least < 0) throw nb::value_error("no such group: group must hold 0 or 1.");
    if (g.shape(0) && *most > 1)
      throw nb::value_error("at most two groups (equalities) are supported");
    p.groups = g.shape(0) ? static_cast<int>(*most) + 1 : 1;
  }
  if (!d["rows"].is_none()) s.rows = to_vector(nb::cast<Array1<Index>>(d["rows"]));
  if (!d["start"].is_none()) s.start = to_vector(nb::cast<Array1<double>>(d["start"]));
  return s;
}

inline Settings parse_settings(const nb::dict& d) {
  Settings s;
  s.tol = nb::cast<double>(d["tol"]);
  s.gap_tol = nb::cast<double>(d["gap_tol"]);
  s.largest_gap = nb::cast<double>(d["largest_gap"]);
  s.max_iter = nb::cast<Index>(d["max_iter"]);
  s.time_limit = nb::cast<double>(d["time_limit"]);
  s.shrinking = nb::cast<bool>(d["shrinking"]);
  s.cache_bytes = nb::cast<double>(d["cache_bytes"]);
  s.threads = resolve_jobs(nb::cast<int>(d["n_jobs"]));
  s.working_set = nb::cast<Index>(d["working_set"]);
  s.objective_floor = nb::cast<double>(d["objective_floor"]);
  return s;
}

inline const char* status_name(Status s) {
  switch (s) {
    case Status::optimal:
      return "optimal";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::interrupted:
      return "interrupted";
    case Status::infeasible:
      return "infeasible";
    case Status::stationary:
      return "stationary";
    case Status::stalled:
      return "stalled";
  }
  return "optimal";
}

inline nb::dict to_dict(const Solution& s, int groups) {
  nb::dict d;
  d["beta"] = array_of(s.beta);
  d["values"] = array_of(s.values);
  nb::list m, r;
  for (int g = 0; g < groups; ++g) {
    m.append(s.multiplier[g]);
    r.append(nb::make_tuple(s.range[g][0], s.range[g][1]));
  }
  d["multiplier"] = m;
  d["multiplier_range"] = r;
  d["status"] = status_name(s.status);
  d["violation"] = s.violation;
  d["objective"] = s.objective;
  d["relative_gap"] = s.relative_gap;
  d["n_iter"] = s.n_iter;
  d["n_kernel_values"] = s.n_kernel_values;
  d["outer"] = s.outer;
  d["cache_hits"] = s.cache_hits;
  d["cache_misses"] = s.cache_misses;
  d["negative_curvature"] = s.negative_curvature;
  d["near_bound"] = s.near_bound;
  d["fresh"] = s.fresh;
  return d;
}

/// An interrupt that comes with the last steps of a solver must not be lost: whoever goes on with
/// an unfinished solution would not know of it.
inline void note_interrupt(std::vector<Solution>& solutions) {
  const auto finished = [](const Solution& s) {
    return s.status == Status::optimal || s.status == Status::infeasible;
  };
  bool noted = false;
  for (Solution& s : solutions) {
    if (!finished(s)) s.status = Status::interrupted;
    noted |= s.status == Status::interrupted;
  }
  for (auto s = solutions.rbegin(); !noted && s != solutions.rend(); ++s)
    if (s->status != Status::infeasible) {
      s->status = Status::interrupted;
      noted = true;
    }
}

/// Returns a function that reports progress to a Python callable, which stops the work by returning
/// a true value; an empty function for None. The callable must outlive it.
inline std::function<bool(const Progress&)> progress_callback(const nb::object& callback) {
  if (callback.is_none()) return nullptr;
  return [&callback](const Progress& p) {
    const HoldLock gil;
    nb::object stop;
    with_python([&] {
      stop = callback(p.iteration, p.violation, p.objective, p.gap, p.active, p.cache_hits,
                      p.cache_misses);
    });
    return !stop.is_none() && nb::cast<bool>(stop);
  };
}

template <class T>
nb::list solve_python(const Evaluator<T>& kernel, std::shared_ptr<Objects<T>> objects,
                      nb::list problems, const nb::dict& settings, nb::object callback,
                      RowStore<T>* store) {
  std::vector<SubProblem> parsed;
  for (nb::handle h : problems) parsed.push_back(parse_problem(nb::cast<nb::dict>(h)));
  for (const SubProblem& p : parsed)
    for (Index r : p.rows) require_object(r, objects->n);
  Settings s = parse_settings(settings);
  Signals signals;
  s.interrupted = [&] { return signals(); };
  s.callback = progress_callback(callback);
  std::vector<Solution> solutions;
  {
    const ReleaseLock release;
    solutions = solve_many<T>(parsed, objects, kernel, s, store);
  }
  if (signals.ask()) note_interrupt(solutions);
  signals.rethrow();
  nb::list out;
  for (size_t k = 0; k < solutions.size(); ++k)
    out.append(to_dict(solutions[k], parsed[k].problem.groups));
  return out;
}

}  // namespace mercer
