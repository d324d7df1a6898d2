#include "coordinate_leaf.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "isa/dispatch.hpp"

namespace mercer {

template <class T>
Coordinates<T> CoordinateLeaf<T>::view(Index d) const {
  Coordinates<T> c = shape;
  c.coefficients = coefficients.data();
  const bool product = c.combination == Combination::product;
  const Index factors = product ? d : c.combination == Combination::anova ? c.order : 1;
  c.scale = static_cast<T>(peak == 1 ? 1.0 : std::pow(peak, static_cast<double>(factors)));
  return c;
}

template <class T>
bool CoordinateLeaf<T>::skips_zeros() const {
  switch (shape.function) {
    case Coordinate::product:
    case Coordinate::minimum:
    case Coordinate::power:
    case Coordinate::half_power:
      return shape.combination != Combination::product;
    default:
      return shape.combination == Combination::product;
  }
}

namespace {

/// Columns in which a query or one of the rows has an entry, ascending; or all of them.
template <class T>
void columns_of(const SparseStore<T>& rows, Index begin, Index end,
                const std::vector<std::int32_t>& queries, bool all,
                std::vector<std::int32_t>& out) {
  if (all) {
    if (rows.d > CoordinateLeaf<T>::max_columns)
      throw std::invalid_argument(
          "this kernel needs every column of its rows, also where both are 0, which takes too long "
          "on sparse rows of more than 65536 columns; choose columns first");
    out.resize(static_cast<std::size_t>(rows.d));
    std::iota(out.begin(), out.end(), 0);
    return;
  }
  out = queries;
  out.insert(out.end(), rows.column.data() + rows.start[begin],
             rows.column.data() + rows.start[end]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace

template <class T>
void sparse_coordinates(const CoordinateLeaf<T>& leaf, const Scattered<T>& query,
                        const SparseStore<T>& rows, Index begin, Index count, T* out,
                        Index stride) {
  const Ops<T>& o = ops<T>();
  const auto f = o.coordinates[static_cast<int>(leaf.shape.function)];
  const Coordinates<T> c = leaf.view(rows.d);
  const Index panel = o.panel, groups = (query.n + query_block - 1) / query_block;
  std::vector<std::int32_t> columns;
  ZeroPages<std::int32_t> position;
  position.require(rows.d);
  std::vector<T> dense;
  Buffer<T> packed;
  for (Index p = 0; p < count; p += panel) {
    const Index first = begin + p, last = std::min(first + panel, begin + count);
    columns_of(rows, first, last, query.used, !leaf.skips_zeros(), columns);
    const auto d = static_cast<Index>(columns.size());
    dense.assign(static_cast<std::size_t>(groups * query_block * d), T(0));
    packed.require(std::max<Index>(d * panel, 1));
    std::fill_n(packed.data(), d * panel, T(0));
    for (Index k = 0; k < d; ++k) {
      position[columns[k]] = static_cast<std::int32_t>(k);
      const T* slot = query.slots.data() + Index(query.slot_of[columns[k]]) * sparse_block;
      for (int r = 0; r < query.n; ++r)
        dense[(r / query_block * d + k) * query_block + r % query_block] = slot[r];
    }
    for (Index i = first; i < last; ++i)
      for (Index e = rows.start[i]; e < rows.start[i + 1]; ++e)
        packed[position[rows.column[e]] * panel + (i - first)] = rows.value[e];
    for (Index g = 0; g < groups; ++g)
      f(dense.data() + g * query_block * d,
        std::min(query_block, query.n - static_cast<int>(g) * query_block), packed.data(), 1, d, c,
        out + g * query_block * stride + p, stride);
  }
}

template <class T>
void coordinate_diagonal(const CoordinateLeaf<T>& leaf, const Store<T>& rows, Index begin,
                         Index end, T* out) {
  const Ops<T>& o = ops<T>();
  const auto f = o.coordinates[static_cast<int>(leaf.shape.function)];
  std::vector<T> query;
  Buffer<T> panel;
  const auto one = [&](Index d, const Coordinates<T>& c, const auto& entry) {
    query.assign(static_cast<std::size_t>(std::max<Index>(d, 1) * query_block), T(0));
    panel.require(std::max<Index>(d, 1) * o.panel);
    std::fill_n(panel.data(), d * o.panel, T(0));
    for (Index k = 0; k < d; ++k) query[k * query_block] = panel[k * o.panel] = entry(k);
    alignas(64) T row[largest_panel];
    f(query.data(), 1, panel.data(), 1, d, c, row, o.panel);
    return row[0];
  };
  if (auto* s = std::get_if<DenseStore<T>>(&rows)) {
    const Coordinates<T> c = leaf.view(s->d);
    for (Index i = begin; i < end; ++i)
      out[i - begin] = one(s->d, c, [&](Index k) { return s->at(i, k); });
    return;
  }
  const auto& s = std::get<SparseStore<T>>(rows);
  const Coordinates<T> c = leaf.view(s.d);
  const std::vector<std::int32_t> none;
  std::vector<std::int32_t> columns;
  for (Index i = begin; i < end; ++i) {
    columns_of(s, i, i + 1, none, !leaf.skips_zeros(), columns);
    Index e = s.start[i];
    out[i - begin] = one(static_cast<Index>(columns.size()), c, [&](Index k) {
      const bool here = e < s.start[i + 1] && s.column[e] == columns[k];
      return here ? s.value[e++] : T(0);
    });
  }
}

#define MERCER_COORDINATES(T)                                                          \
  template struct CoordinateLeaf<T>;                                                   \
  template void sparse_coordinates<T>(const CoordinateLeaf<T>&, const Scattered<T>&,   \
                                      const SparseStore<T>&, Index, Index, T*, Index); \
  template void coordinate_diagonal<T>(const CoordinateLeaf<T>&, const Store<T>&, Index, Index, T*);
MERCER_COORDINATES(float)
MERCER_COORDINATES(double)
#undef MERCER_COORDINATES

}  // namespace mercer
