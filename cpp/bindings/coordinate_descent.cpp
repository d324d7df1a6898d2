// Dual coordinate descent over sparse rows.
#include "coordinate_descent.hpp"

#include <stdexcept>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/parts.hpp"

namespace mercer {
namespace {

template <class T>
using Changed1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_length(size_t length, size_t wanted, const char* name) {
  if (length == wanted) return;
  throw nb::value_error((std::string(name) + " has " + std::to_string(length) + " entries, not " +
                         std::to_string(wanted) + ".")
                            .c_str());
}

/// Refuses positions outside of the arrays, among the rows that are visited.
template <class I>
void require_inside(const Array1<I>& column, const Array1<I>& start, const Array1<int64_t>& order,
                    size_t m, size_t columns) {
  for (size_t k = 0; k < order.shape(0); ++k) {
    const auto i = static_cast<size_t>(order.data()[k]);  // negative ones become large
    if (i >= m) throw std::invalid_argument("order holds positions of variables.");
    const auto first = static_cast<size_t>(start.data()[i]);
    const auto last = static_cast<size_t>(start.data()[i + 1]);
    bool inside = first <= last && last <= column.shape(0);
    for (size_t e = first; inside && e < last; ++e)
      inside = static_cast<size_t>(column.data()[e]) < columns;
    if (!inside) throw std::invalid_argument("a row has entries outside of the matrix.");
  }
}

template <class I>
std::pair<double, double> descend_python(Array1<double> value, Array1<I> column, Array1<I> start,
                                         Array1<double> lower, Array1<double> upper,
                                         Array1<double> slope, Array1<double> curvature,
                                         Array1<double> whole, double lam, Array1<int64_t> order,
                                         double largest, double smallest, Changed1<double> beta,
                                         Changed1<double> w, Changed1<uint8_t> active) {
  const size_t m = beta.shape(0);
  require_length(start.shape(0), m + 1, "start");
  for (const auto& terms : {lower, upper, slope, curvature, whole})
    require_length(terms.shape(0), m, "an array of the variables");
  require_length(active.shape(0), m, "active");
  require_length(column.shape(0), value.shape(0), "column");
  const size_t n = order.shape(0);
  const ReleaseLock release(static_cast<double>(value.shape(0)));
  require_inside<I>(column, start, order, m, w.shape(0));
  const CoordinateTerms terms{lower.data(), upper.data(), slope.data(), curvature.data(),
                              whole.data()};
  const GradientRange found =
      descend<I>({value.data(), column.data(), start.data()}, terms, lam, order.data(),
                 static_cast<Index>(n), {largest, smallest}, beta.data(), w.data(), active.data());
  return {found.largest, found.smallest};
}

template <class I>
void bind(nb::module_& m) {
  m.def("descend", &descend_python<I>, "value"_a.noconvert(), "column"_a.noconvert(),
        "start"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "slope"_a.noconvert(),
        "curvature"_a.noconvert(), "whole"_a.noconvert(), "lam"_a, "order"_a.noconvert(),
        "largest"_a, "smallest"_a, "beta"_a.noconvert(), "w"_a.noconvert(), "active"_a.noconvert());
}

}  // namespace

void bind_coordinate_descent(nb::module_& m) {
  bind<int32_t>(m);
  bind<int64_t>(m);
}

}  // namespace mercer
