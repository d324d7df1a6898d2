// The problems of all pairs of classes, as arrays.
#pragma once

#include "bindings/arrays.hpp"
#include "bindings/signals.hpp"
#include "bindings/solving.hpp"
#include "class_pairs.hpp"

namespace mercer {

/// Solves them and returns a dictionary of arrays; None where a pair is too large for it.
inline nb::object class_pairs_python(const Evaluator<double>& kernel,
                                     std::shared_ptr<Objects<double>> objects,
                                     const nb::dict& problems, const nb::dict& settings,
                                     nb::object callback) {
  ClassPairs p;
  p.order = to_vector(nb::cast<Array1<Index>>(problems["order"]));
  p.ends = to_vector(nb::cast<Array1<Index>>(problems["ends"]));
  p.equality = nb::cast<bool>(problems["equality"]);
  Index last = 0;
  for (const Index end : p.ends) {
    if (end <= last) throw nb::value_error("every class needs a row");
    last = end;
  }
  if (last != p.n() || p.classes() < 2) throw nb::value_error("the classes do not hold all rows");
  for (const Index row : p.order)
    if (row < 0 || row >= objects->n) throw nb::index_error("row out of range");
  const auto terms = [&](const char* name, std::vector<double>& to) {
    to = column(problems, name);
    if (static_cast<Index>(to.size()) != 2 * p.n())
      throw nb::value_error("dual terms need an entry for each row and label");
  };
  terms("lower", p.lower);
  terms("upper", p.upper);
  terms("slope_left", p.slope_left);
  terms("slope_right", p.slope_right);
  terms("curv_left", p.curv_left);
  terms("curv_right", p.curv_right);
  terms("kink", p.kink);
  if (!fits(p)) return nb::none();

  Settings s = parse_settings(settings);
  Signals signals;
  s.interrupted = [&] { return signals(); };
  s.callback = progress_callback(callback);
  const auto n = static_cast<size_t>(p.n()), k = static_cast<size_t>(p.classes());
  const size_t pairs = k * (k - 1) / 2;
  PairResults r;
  nb::dict d;
  d["coef"] = fresh<double>({k - 1, n}, &r.coef);
  d["excess"] = fresh<double>({k - 1, n}, &r.excess);
  d["mark"] = fresh<signed char>({k - 1, n}, &r.mark);
  d["intercept"] = fresh<double>({pairs}, &r.intercept);
  d["lowest"] = fresh<double>({pairs}, &r.lowest);
  d["highest"] = fresh<double>({pairs}, &r.highest);
  d["primal"] = fresh<double>({pairs}, &r.primal);
  d["dual"] = fresh<double>({pairs}, &r.dual);
  d["terms"] = fresh<double>({pairs}, &r.terms);
  d["norm2"] = fresh<double>({pairs}, &r.norm2);
  d["violation"] = fresh<double>({pairs}, &r.violation);
  d["rounding"] = fresh<double>({pairs}, &r.rounding);
  d["n_iter"] = fresh<int>({pairs}, &r.n_iter);
  d["status"] = fresh<signed char>({pairs}, &r.status);
  {
    const ReleaseLock release;
    solve_class_pairs(p, objects, kernel, s, r);
  }
  if (signals.ask()) r.status[pairs - 1] = static_cast<signed char>(Status::interrupted);
  signals.rethrow();
  d["n_kernel_values"] = r.n_kernel_values;
  nb::list names;
  for (const Status status :
       {Status::optimal, Status::iteration_limit, Status::time_limit, Status::interrupted,
        Status::infeasible, Status::stationary, Status::stalled})
    names.append(status_name(status));
  d["statuses"] = names;
  return d;
}

}  // namespace mercer
