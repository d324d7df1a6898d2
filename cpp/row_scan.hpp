// Single passes over the rows of a data set.
#pragma once
#include "objects.hpp"

namespace mercer {

/// Whether no value is infinite or NaN.
template <class U>
bool all_finite(const U* x, Index n);

/// The number of different rows as their weighted sums tell them apart: equal rows have equal sums,
/// and others almost never do. Counts to one more than `limit` at most.
template <class U>
Index distinct_rows(const Strided<U>& x, Index limit);

}  // namespace mercer
