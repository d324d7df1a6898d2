// Decision values of pairs of classes.
#include "pair_decisions.hpp"

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"
#include "bindings/signals.hpp"
#include "thread_pool.hpp"

namespace mercer {
namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Votes of the classes or values of the pairs, and whether all values are finite.
template <class T>
nb::object pair_decisions_python(Matrix<T> kernel, Array1<Index> ends, Matrix<double> coef,
                                 Matrix<double> by_column, Array1<double> intercept, bool votes,
                                 int n_jobs) {
  const auto rows = static_cast<Index>(kernel.shape(0));
  const PairCoefficients c{ends.data(),
                           static_cast<Index>(ends.shape(0)),
                           static_cast<Index>(kernel.shape(1)),
                           coef.data(),
                           by_column.data(),
                           intercept.data()};
  const auto has = [](const Matrix<double>& m, Index r, Index n) {
    return static_cast<Index>(m.shape(0)) == r && static_cast<Index>(m.shape(1)) == n;
  };
  Index last = 0;
  for (Index k = 0; k < c.classes; ++k) {
    if (c.ends[k] < last) throw nb::value_error("the ends of classes must not fall");
    last = c.ends[k];
  }
  if (c.classes < 2 || last != c.columns || !has(coef, c.classes - 1, c.columns) ||
      !has(by_column, c.columns, c.classes - 1) ||
      static_cast<Index>(intercept.shape(0)) != c.pairs())
    throw nb::value_error("coefficients, classes and kernel values do not fit together");
  PairDecisions out;
  const auto width = static_cast<size_t>(votes ? c.classes : c.pairs());
  auto array = fresh<double>({static_cast<size_t>(rows), width}, votes ? &out.votes : &out.values);
  const double work =
      static_cast<double>(rows) * static_cast<double>(c.columns) * static_cast<double>(c.classes);
  interruptible(
      [&](Leaving& leaving) {
        pair_decisions(c, kernel.data(), rows, out, resolve_jobs(n_jobs), leaving);
      },
      work);
  return nb::make_tuple(nb::cast(array), out.finite);
}

double work_of(Index rows, Index classes) {
  return static_cast<double>(rows) * static_cast<double>(classes) * static_cast<double>(classes);
}

/// Votes of the classes or values of the pairs, and whether all values are finite.
nb::object join_parts_python(Matrix<double> parts, Array1<double> intercept, Index classes,
                             bool votes) {
  const auto rows = static_cast<Index>(parts.shape(0));
  const auto pairs = static_cast<Index>(intercept.shape(0));
  if (classes < 2 || static_cast<Index>(parts.shape(1)) != classes * (classes - 1) ||
      2 * pairs != classes * (classes - 1))
    throw nb::value_error("parts and intercepts do not fit together");
  PairDecisions out;
  const auto width = static_cast<size_t>(votes ? classes : pairs);
  auto array = fresh<double>({static_cast<size_t>(rows), width}, votes ? &out.votes : &out.values);
  {
    const ReleaseLock release(work_of(rows, classes));
    join_parts(parts.data(), rows, classes, intercept.data(), out);
  }
  return nb::make_tuple(nb::cast(array), out.finite);
}

nb::object count_votes_python(Matrix<double> values, Index classes) {
  const auto rows = static_cast<Index>(values.shape(0));
  if (classes < 2 || 2 * static_cast<Index>(values.shape(1)) != classes * (classes - 1))
    throw nb::value_error("values of another number of pairs");
  double* out;
  auto array = fresh<double>({static_cast<size_t>(rows), static_cast<size_t>(classes)}, &out);
  {
    const ReleaseLock release(work_of(rows, classes));
    std::fill_n(out, rows * classes, 0.0);
    count_votes(values.data(), rows, classes, out);
  }
  return nb::cast(array);
}

}  // namespace

void bind_pair_decisions(nb::module_& m) {
  m.def("pair_decisions", &pair_decisions_python<float>, "kernel"_a, "ends"_a, "coef"_a,
        "by_column"_a, "intercept"_a, "votes"_a, "n_jobs"_a = 0);
  m.def("pair_decisions", &pair_decisions_python<double>, "kernel"_a, "ends"_a, "coef"_a,
        "by_column"_a, "intercept"_a, "votes"_a, "n_jobs"_a = 0);
  m.def("join_parts", &join_parts_python, "parts"_a, "intercept"_a, "n_classes"_a, "votes"_a);
  m.def("count_votes", &count_votes_python, "values"_a, "n_classes"_a);
}

}  // namespace mercer
