#include "objects.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "isa/dispatch.hpp"

namespace mercer {

template <class T, class U>
DenseStore<T> pack_dense(const Strided<U>& x, const double* centre) {
  DenseStore<T> s;
  s.n = x.n;
  s.d = x.d;
  s.panel = ops<T>().panel;
  const Index panels = (x.n + s.panel - 1) / s.panel;
  s.packed.reset(panels * s.panel * std::max<Index>(x.d, 1));
  for (Index p = 0; p < panels; ++p) {
    T* out = s.packed.data() + p * x.d * s.panel;
    const int rows = static_cast<int>(std::min<Index>(s.panel, x.n - p * s.panel));
    if (rows < s.panel) std::fill_n(out, x.d * s.panel, T(0));
    // Column by column: the sums of the rows of a panel do not wait for each other.
    double square[largest_panel] = {}, error[largest_panel] = {};
    const U* first = x.data + p * s.panel * x.row_stride;
    for (Index k = 0; k < x.d; ++k) {
      const double c = centre ? centre[k] : 0.0;
      const U* column = first + k * x.col_stride;
      for (int r = 0; r < rows; ++r) {
        const double v = static_cast<double>(column[r * x.row_stride]) - c;
        const T packed = static_cast<T>(v);
        out[k * s.panel + r] = packed;
        square[r] += v * v;
        error[r] += (v - packed) * (v - packed);
      }
    }
    s.radius = std::max(s.radius, *std::max_element(square, square + rows));
    s.rounding = std::max(s.rounding, *std::max_element(error, error + rows));
  }
  s.radius = std::sqrt(s.radius);
  s.rounding = std::sqrt(s.rounding);
  return s;
}

namespace {

/// Columns of a run: the number of columns alone decides, so that a value depends on its two rows
/// and not on the company they are in. Narrow rows are summed in one run.
Index columns_of_run(Index d) {
  constexpr Index narrow = 256, runs = 16;
  return d <= narrow ? std::max<Index>(d, 1) : (d + runs - 1) / runs;
}

template <class T>
void find_runs(SparseStore<T>& s) {
  s.first.assign(1, 0);
  s.run.clear();
  for (Index i = 0; i < s.n; ++i) {
    Index block = -1;
    for (Index e = s.start[i]; e < s.start[i + 1]; ++e)
      if (s.column[e] / s.run_columns != block) {
        block = s.column[e] / s.run_columns;
        s.run.push_back(e);
      }
    s.first.push_back(static_cast<Index>(s.run.size()));
  }
  s.run.push_back(s.n ? s.start[s.n] : 0);
}

/// Square of a norm up to which |a|^2 + |b|^2 - 2 ab of integers, and every part of it, is exact in
/// single precision.
constexpr double small_square = 1 << 22;

template <class T>
void fill_norms(SparseStore<T>& s) {
  s.small = true;
  s.square.reset(std::max<Index>(s.n, 1));
  s.mass.reset(std::max<Index>(s.n, 1));
  const Ops<T>& o = ops<T>();
  for (Index i = 0; i < s.n; ++i) {
    double square = 0, mass = 0, partial_sums = 0;
    for (Index r = s.first[i]; r < s.first[i + 1]; ++r) {
      // The chains of the tile loops: a row is at distance exactly zero from itself.
      T part_mass = 0;
      double partial = 0;
      for (Index e = s.run[r]; e < s.run[r + 1]; ++e) {
        const double v = static_cast<double>(s.value[e]);
        part_mass += std::fabs(s.value[e]);
        s.small = s.small && v == std::trunc(v);
        partial += v * v;
        partial_sums += partial * partial;
      }
      square +=
          static_cast<double>(o.square(s.value.data() + s.run[r], s.run[r + 1] - s.run[r], 1));
      mass += static_cast<double>(part_mass);
    }
    s.square[i] = square;
    s.radius = std::max(s.radius, std::sqrt(square));
    s.small = s.small && square <= small_square;
    if (!s.exact) s.partial_sums = std::max(s.partial_sums, std::sqrt(partial_sums));
    s.mass[i] = mass;
  }
}

/// Share of non-zero entries below which going through the columns of a query costs less than
/// going through all entries of the rows.
constexpr double sparse_enough = 0.2;

/// Fills the inverted index of integers, whose sums are exact in any order; those of other numbers
/// would have other bits than the sums that the tile loops take.
template <class T>
void invert(SparseStore<T>& s) {
  const Index nnz = s.n ? s.start[s.n] : 0;
  const double size = static_cast<double>(s.n) * static_cast<double>(s.d);
  // An index of more columns than entries is not worth its memory.
  if (!s.exact || s.d > nnz || s.n > INT32_MAX - 1) return;
  if (static_cast<double>(nnz) > sparse_enough * size) return;
  s.post_start.assign(static_cast<std::size_t>(s.d) + 1, 0);
  for (Index e = 0; e < nnz; ++e) ++s.post_start[s.column[e] + 1];
  for (Index c = 0; c < s.d; ++c) s.post_start[c + 1] += s.post_start[c];
  s.post_row.reset(std::max<Index>(nnz, 1));
  s.post_value.reset(std::max<Index>(nnz, 1));
  std::vector<Index> next(s.post_start.begin(), s.post_start.end() - 1);
  for (Index i = 0; i < s.n; ++i)
    for (Index e = s.start[i]; e < s.start[i + 1]; ++e) {
      const Index p = next[s.column[e]]++;
      s.post_row[p] = static_cast<std::int32_t>(i);
      s.post_value[p] = s.value[e];
    }
}

/// Columns up to which a table with an entry for each stays in the cache of a processor, or nearly.
constexpr Index table_columns = 1 << 21;

template <class T>
void find_places(SparseStore<T>& s) {
  const Index nnz = s.n ? s.start[s.n] : 0;
  if (s.d <= table_columns || s.d <= nnz) return;
  std::vector<std::int32_t> found(s.column.data(), s.column.data() + nnz);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  s.place.reset(std::max<Index>(nnz, 1));
  for (Index e = 0; e < nnz; ++e)
    s.place[e] = static_cast<std::int32_t>(
        std::lower_bound(found.begin(), found.end(), s.column[e]) - found.begin());
  s.occurring = std::make_shared<const std::vector<std::int32_t>>(std::move(found));
}

template <class T>
void finish(SparseStore<T>& s) {
  s.run_columns = columns_of_run(s.d);
  find_places(s);
  find_runs(s);
  fill_norms(s);
  invert(s);
}

}  // namespace

template <class T, class U, class I>
SparseStore<T> pack_sparse(const U* value, const I* column, const I* start, Index n, Index d,
                           bool exact) {
  SparseStore<T> s;
  s.exact = exact;
  s.n = n;
  s.d = d;
  if (d > INT32_MAX - 1) throw std::invalid_argument("more than 2^31 - 2 columns");
  const Index nnz = n ? static_cast<Index>(start[n]) - static_cast<Index>(start[0]) : 0;
  s.start.assign(static_cast<std::size_t>(n) + 1, 0);
  s.column.reset(std::max<Index>(nnz, 1));
  s.value.reset(std::max<Index>(nnz, 1));
  std::vector<Index> order;
  Index at = 0;
  for (Index i = 0; i < n; ++i) {
    const Index b = static_cast<Index>(start[i]), e = static_cast<Index>(start[i + 1]);
    if (e < b || e > static_cast<Index>(start[n])) throw std::invalid_argument("bad row pointers");
    bool sorted = true;
    for (Index k = b; k < e; ++k) {
      const Index c = static_cast<Index>(column[k]);
      if (c < 0 || c >= d) throw std::invalid_argument("column index out of range");
      if (k > b && c <= static_cast<Index>(column[k - 1])) sorted = false;
    }
    if (sorted) {
      for (Index k = b; k < e; ++k) {
        if (value[k] == U(0)) continue;
        s.column[at] = static_cast<std::int32_t>(column[k]);
        s.value[at++] = static_cast<T>(value[k]);
      }
    } else {
      order.resize(static_cast<std::size_t>(e - b));
      std::iota(order.begin(), order.end(), b);
      std::stable_sort(order.begin(), order.end(),
                       [&](Index p, Index q) { return column[p] < column[q]; });
      for (std::size_t k = 0; k < order.size();) {
        const I c = column[order[k]];
        double sum = 0;
        for (; k < order.size() && column[order[k]] == c; ++k)
          sum += static_cast<double>(value[order[k]]);
        if (sum == 0) continue;
        s.column[at] = static_cast<std::int32_t>(c);
        s.value[at++] = static_cast<T>(sum);
      }
    }
    s.start[i + 1] = at;
  }
  finish(s);
  return s;
}

template <class T, class U>
SparseStore<T> compress_dense(const Strided<U>& x) {
  SparseStore<T> s;
  s.n = x.n;
  s.d = x.d;
  s.start.assign(static_cast<std::size_t>(x.n) + 1, 0);
  for (Index i = 0; i < x.n; ++i) {
    Index count = 0;
    for (Index k = 0; k < x.d; ++k) count += x.data[i * x.row_stride + k * x.col_stride] != U(0);
    s.start[i + 1] = s.start[i] + count;
  }
  s.column.reset(std::max<Index>(s.start[x.n], 1));
  s.value.reset(std::max<Index>(s.start[x.n], 1));
  for (Index i = 0; i < x.n; ++i) {
    Index at = s.start[i];
    for (Index k = 0; k < x.d; ++k) {
      const U v = x.data[i * x.row_stride + k * x.col_stride];
      if (v == U(0)) continue;
      s.column[at] = static_cast<std::int32_t>(k);
      s.value[at++] = static_cast<T>(v);
    }
  }
  finish(s);
  return s;
}

namespace {

template <class T>
Store<T> take_store(const DenseStore<T>& s, const Index* index, Index count) {
  DenseStore<T> out;
  out.n = count;
  out.d = s.d;
  out.panel = s.panel;
  const Index panels = (count + s.panel - 1) / s.panel;
  out.packed.reset(panels * s.panel * std::max<Index>(s.d, 1));
  for (Index p = 0; p < panels; ++p) {
    T* to = out.packed.data() + p * s.d * s.panel;
    for (int r = 0; r < s.panel; ++r) {
      const Index i = p * s.panel + r;
      if (i >= count) {
        for (Index k = 0; k < s.d; ++k) to[k * s.panel + r] = T(0);
        continue;
      }
      const T* from = s.panel_of(index[i]) + index[i] % s.panel;
      for (Index k = 0; k < s.d; ++k) to[k * s.panel + r] = from[k * s.panel];
    }
  }
  return out;
}

template <class T>
Store<T> take_store(const SparseStore<T>& s, const Index* index, Index count) {
  SparseStore<T> out;
  out.n = count;
  out.d = s.d;
  out.exact = s.exact;
  out.small = s.small;
  out.start.assign(static_cast<std::size_t>(count) + 1, 0);
  for (Index i = 0; i < count; ++i)
    out.start[i + 1] = out.start[i] + s.start[index[i] + 1] - s.start[index[i]];
  const Index nnz = std::max<Index>(out.start[count], 1);
  out.column.reset(nnz);
  out.value.reset(nnz);
  out.occurring = s.occurring;
  if (s.occurring) out.place.reset(nnz);
  out.square.reset(std::max<Index>(count, 1));
  out.mass.reset(std::max<Index>(count, 1));
  for (Index i = 0; i < count; ++i) {
    const Index b = s.start[index[i]], m = s.start[index[i] + 1] - b;
    std::copy_n(s.column.data() + b, m, out.column.data() + out.start[i]);
    std::copy_n(s.value.data() + b, m, out.value.data() + out.start[i]);
    if (s.occurring) std::copy_n(s.place.data() + b, m, out.place.data() + out.start[i]);
    out.square[i] = s.square[index[i]];
    out.mass[i] = s.mass[index[i]];
  }
  out.radius = s.radius;
  out.partial_sums = s.partial_sums;
  out.run_columns = s.run_columns;
  out.first.assign(1, 0);
  for (Index i = 0; i < count; ++i) {
    const Index shift = out.start[i] - s.start[index[i]];
    for (Index r = s.first[index[i]]; r < s.first[index[i] + 1]; ++r)
      out.run.push_back(s.run[r] + shift);
    out.first.push_back(static_cast<Index>(out.run.size()));
  }
  out.run.push_back(out.start[count]);
  invert(out);
  return out;
}

template <class T>
Store<T> take_store(const IndexStore& s, const Index* index, Index count) {
  IndexStore out;
  out.id.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) out.id[i] = s.id[index[i]];
  return out;
}

template <class T>
Store<T> take_store(const SequenceStore& s, const Index* index, Index count) {
  return take_sequences(s, index, count);
}

}  // namespace

template <class T>
std::shared_ptr<Objects<T>> Objects<T>::take(const Index* index, Index count) const {
  auto out = std::make_shared<Objects<T>>();
  out->n = count;
  for (std::size_t l = 0; l < stores.size(); ++l) {
    const auto& store = stores[l];
    const auto first = std::find(stores.begin(), stores.end(), store) - stores.begin();
    if (first < static_cast<std::ptrdiff_t>(l)) {
      out->stores.push_back(out->stores[static_cast<std::size_t>(first)]);
      continue;
    }
    out->stores.push_back(std::make_shared<const Store<T>>(std::visit(
        [&](const auto& s) -> Store<T> { return take_store<T>(s, index, count); }, *store)));
  }
  for (const Buffer<T>& a : aux) {
    Buffer<T> b(std::max<Index>(count, 1));
    for (Index i = 0; i < count; ++i) b[i] = a[index[i]];
    out->aux.push_back(std::move(b));
  }
  if (!id.empty())
    for (Index i = 0; i < count; ++i) out->id.push_back(id[index[i]]);
  return out;
}

template class Objects<float>;
template class Objects<double>;

#define MERCER_PACK(T, U)                                                      \
  template DenseStore<T> pack_dense<T, U>(const Strided<U>&, const double*);   \
  template SparseStore<T> compress_dense<T, U>(const Strided<U>&);             \
  template SparseStore<T> pack_sparse<T, U, std::int32_t>(                     \
      const U*, const std::int32_t*, const std::int32_t*, Index, Index, bool); \
  template SparseStore<T> pack_sparse<T, U, std::int64_t>(                     \
      const U*, const std::int64_t*, const std::int64_t*, Index, Index, bool);
MERCER_PACK(float, float)
MERCER_PACK(float, double)
MERCER_PACK(double, float)
MERCER_PACK(double, double)
#undef MERCER_PACK

}  // namespace mercer
