// The parts of the Python module.
#pragma once
#include <nanobind/nanobind.h>

namespace mercer {

/// Objects, kept statistics and evaluators in one precision.
void bind_single(nanobind::module_& m);
void bind_double(nanobind::module_& m);
/// What is done with sequences apart from kernel values.
void bind_sequences(nanobind::module_& m);
/// Problems along growing costs on stored kernel matrices.
void bind_cost_paths(nanobind::module_& m);
/// Decision values of pairs of classes.
void bind_pair_decisions(nanobind::module_& m);
/// Single passes over the rows of a data set.
void bind_row_scans(nanobind::module_& m);
/// Dual coordinate descent over sparse rows.
void bind_coordinate_descent(nanobind::module_& m);

}  // namespace mercer
