// Single passes over the rows of a data set.
#include "row_scan.hpp"

#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"

namespace mercer {
namespace {

template <class U>
bool all_finite_python(Array1<U> x) {
  const ReleaseLock release(static_cast<double>(x.shape(0)));
  return all_finite<U>(x.data(), static_cast<Index>(x.shape(0)));
}

template <class U>
Index distinct_rows_python(Array2<U> x, Index limit) {
  const ReleaseLock release(static_cast<double>(x.size()));
  return distinct_rows<U>({x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)),
                           static_cast<Index>(x.stride(0)), static_cast<Index>(x.stride(1))},
                          limit);
}

}  // namespace

void bind_row_scans(nb::module_& m) {
  m.def("all_finite", &all_finite_python<float>, "x"_a.noconvert());
  m.def("all_finite", &all_finite_python<double>, "x"_a.noconvert());
  m.def("distinct_rows", &distinct_rows_python<float>, "x"_a.noconvert(), "limit"_a);
  m.def("distinct_rows", &distinct_rows_python<double>, "x"_a.noconvert(), "limit"_a);
}

}  // namespace mercer
