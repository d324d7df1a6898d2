// A leaf that puts its value together from a function of one coordinate, and its tiles on
// compressed rows.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/ops.hpp"
#include "objects.hpp"

namespace mercer {

template <class T>
struct CoordinateLeaf {
  Coordinates<T> shape;
  std::vector<T> coefficients;
  double peak = 1;  ///< every coordinate is multiplied by this number

  /// What the loops take, for rows of d columns.
  Coordinates<T> view(Index d) const;
  /// Whether columns in which both rows are 0 can be left out without changing a bit: factors of
  /// exactly 1 in a product, terms of exactly 0 in a sum of products or a maximum.
  bool skips_zeros() const;
  /// The largest number of columns of compressed rows when they cannot be left out.
  static constexpr Index max_columns = Index(1) << 16;
};

/// Query rows scattered into slots, as Evaluator::prepare leaves them.
template <class T>
struct Scattered {
  int n;
  const std::int32_t* slot_of;            ///< column -> slot, 0: no query has it
  const std::vector<std::int32_t>& used;  ///< columns with a slot
  const std::vector<T>& slots;            ///< slot x sparse_block
};

/// Values of scattered query rows against rows [begin, begin + count) of compressed ones. Rows are
/// made dense panel by panel, over the columns that occur in the panel or in a query.
template <class T>
void sparse_coordinates(const CoordinateLeaf<T>& leaf, const Scattered<T>& query,
                        const SparseStore<T>& rows, Index begin, Index count, T* out, Index stride);

/// f(x, x) for the rows [begin, end).
template <class T>
void coordinate_diagonal(const CoordinateLeaf<T>& leaf, const Store<T>& rows, Index begin,
                         Index end, T* out);

}  // namespace mercer
