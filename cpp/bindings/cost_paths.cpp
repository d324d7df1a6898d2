// Paths of costs on stored kernel matrices.
#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"
#include "bindings/signals.hpp"
#include "bindings/solving.hpp"
#include "cost_path.hpp"

namespace mercer {
namespace {

std::shared_ptr<CostPath> path_of(Array1<Index> rows, Array1<Index> ends, Array1<Index> valid,
                                  bool equality, nb::list steps) {
  auto path = std::make_shared<CostPath>();
  path->rows = to_vector(rows);
  path->ends = to_vector(ends);
  path->valid = to_vector(valid);
  path->equality = equality;
  Index last = 0;
  for (const Index end : path->ends) {
    if (end <= last) throw nb::value_error("every task needs a variable");
    last = end;
  }
  if (last != path->variables()) throw nb::value_error("the tasks do not hold all variables");
  for (nb::handle h : steps) {
    CostTerms& t = path->steps.emplace_back();
    read_terms(nb::cast<nb::dict>(h), t);
    for (const auto* values :
         {&t.lower, &t.upper, &t.slope_left, &t.slope_right, &t.curv_left, &t.curv_right, &t.kink})
      if (static_cast<Index>(values->size()) != path->variables())
        throw nb::value_error("dual terms need an entry for each variable");
  }
  return path;
}

using Part = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple solve_paths_python(nb::list matrices, nb::list jobs, const nb::dict& settings,
                             double gap_limit) {
  std::vector<Part> held;
  std::vector<StoredMatrix> stored;
  for (nb::handle h : matrices) {
    const auto parts = nb::cast<nb::tuple>(h);
    const auto high = nb::cast<Part>(parts[0]), low = nb::cast<Part>(parts[1]);
    const auto n = static_cast<Index>(high.shape(0));
    for (const Part* part : {&high, &low})
      for (const size_t side : {0, 1})
        if (static_cast<Index>(part->shape(side)) != n)
          throw nb::value_error("both parts of a kernel matrix are square");
    stored.push_back({high.data(), low.data(), n, n});
    held.insert(held.end(), {high, low});
  }
  std::vector<PathJob> parsed;
  std::vector<std::shared_ptr<CostPath>> paths;
  nb::list out;
  for (nb::handle h : jobs) {
    const auto pair = nb::cast<nb::tuple>(h);
    const auto matrix = nb::cast<Index>(pair[0]);
    auto path = nb::cast<std::shared_ptr<CostPath>>(pair[1]);
    if (matrix < 0 || matrix >= static_cast<Index>(stored.size()))
      throw nb::index_error("no such matrix");
    for (const auto* list : {&path->rows, &path->valid})
      for (const Index r : *list)
        if (r < 0 || r >= stored[matrix].n) throw nb::index_error("row out of range");
    const auto steps = path->steps.size(), tasks = path->ends.size();
    PathResults r;
    nb::dict d;
    d["multiplier"] = fresh<double>({steps, tasks}, &r.multiplier);
    d["violation"] = fresh<double>({steps, tasks}, &r.violation);
    d["gap"] = fresh<double>({steps, tasks}, &r.gap);
    d["n_iter"] = fresh<int>({steps, tasks}, &r.n_iter);
    d["n_faces"] = fresh<int>({steps, tasks}, &r.n_faces);
    d["n_factorised"] = fresh<int>({steps, tasks}, &r.n_factorised);
    d["status"] = fresh<signed char>({steps, tasks}, &r.status);
    d["beta"] = fresh<double>({steps, path->rows.size()}, &r.beta);
    d["valid"] = fresh<double>({steps, tasks, path->valid.size()}, &r.valid);
    out.append(d);
    parsed.push_back({path.get(), matrix, r});
    paths.push_back(std::move(path));
  }
  Settings s = parse_settings(settings);
  Signals signals;
  s.interrupted = [&] { return signals(); };
  {
    const ReleaseLock release;
    solve_cost_paths(stored, parsed, s, gap_limit);
  }
  const bool raised = signals.ask();
  signals.rethrow();
  return nb::make_tuple(out, raised);  // what was solved by then is known
}

}  // namespace

void bind_cost_paths(nb::module_& m) {
  nb::class_<CostPath>(m, "CostPath")
      .def(nb::new_(&path_of), "rows"_a, "ends"_a, "valid"_a, "equality"_a, "steps"_a);
  m.def("solve_cost_paths", &solve_paths_python, "matrices"_a, "jobs"_a, "settings"_a,
        "gap_limit"_a);
  nb::list names;
  for (const Status status :
       {Status::optimal, Status::iteration_limit, Status::time_limit, Status::interrupted,
        Status::infeasible, Status::stationary, Status::stalled})
    names.append(status_name(status));
  m.attr("cost_path_statuses") = names;
}

}  // namespace mercer
