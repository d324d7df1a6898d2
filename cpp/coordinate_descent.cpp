#include "coordinate_descent.hpp"

#include <algorithm>

namespace mercer {

template <class I>
GradientRange descend(const CompressedRows<I>& rows, const CoordinateTerms& terms, double lam,
                      const int64_t* order, Index n, const GradientRange& before, double* beta,
                      double* w, uint8_t* active) {
  GradientRange found;
  for (Index k = 0; k < n; ++k) {
    const int64_t i = order[k];
    const double b = beta[i];
    const bool low = b <= terms.lower[i], high = b >= terms.upper[i];
    if (low && high) {  // there is no room
      active[i] = 0;
      continue;
    }
    double gradient = terms.slope[i] + terms.curvature[i] * b;
    for (I e = rows.start[i]; e < rows.start[i + 1]; ++e)
      gradient += rows.value[e] * w[rows.column[e]];
    if ((low && gradient > before.largest) || (high && gradient < before.smallest)) {
      active[i] = 0;
      continue;
    }
    const double projected =
        low ? std::min(gradient, 0.0) : (high ? std::max(gradient, 0.0) : gradient);
    found.largest = std::max(found.largest, projected);
    found.smallest = std::min(found.smallest, projected);
    if (projected == 0.0) continue;
    // A row of zeros without curvature divides by 0: its variable goes to the bound.
    const double next = std::clamp(b - gradient / terms.whole[i], terms.lower[i], terms.upper[i]);
    const double change = (next - b) / lam;
    beta[i] = next;
    for (I e = rows.start[i]; e < rows.start[i + 1]; ++e)
      w[rows.column[e]] += change * rows.value[e];
  }
  return found;
}

template GradientRange descend<int32_t>(const CompressedRows<int32_t>&, const CoordinateTerms&,
                                        double, const int64_t*, Index, const GradientRange&,
                                        double*, double*, uint8_t*);
template GradientRange descend<int64_t>(const CompressedRows<int64_t>&, const CoordinateTerms&,
                                        double, const int64_t*, Index, const GradientRange&,
                                        double*, double*, uint8_t*);

}  // namespace mercer
