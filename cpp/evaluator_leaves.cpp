// Tiles of single leaves: pair statistics of rows, sequences, matrices, a caller's functions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluator.hpp"
#include "isa/dispatch.hpp"

namespace mercer {

namespace {

/// Distances of compressed rows are norms minus shared parts. Below this share of the norms they
/// are summed from the differences of the entries instead: rows far from the origin, which cannot
/// be centred, would lose the digits that the norms have in common. See also
/// src/mercer/gram/leaf_errors.py.
constexpr double near_share = 1.0 / 128;

/// The distance of two compressed rows, entry by entry; the same bits in both orders.
template <class T>
double direct_distance(Stat stat, const SparseStore<T>& a, Index i, const SparseStore<T>& b,
                       Index j) {
  Index p = a.start[i], q = b.start[j];
  const Index p_end = a.start[i + 1], q_end = b.start[j + 1];
  double sum = 0;
  while (p < p_end || q < q_end) {
    const std::int32_t none = std::numeric_limits<std::int32_t>::max();
    const std::int32_t cp = p < p_end ? a.column[p] : none, cq = q < q_end ? b.column[q] : none;
    const double x = cp <= cq ? static_cast<double>(a.value[p++]) : 0.0;
    const double z = cq <= cp ? static_cast<double>(b.value[q++]) : 0.0;
    const double d = x - z;
    sum += stat == Stat::l1 ? std::fabs(d) : stat == Stat::sqdist ? d * d : d * d / (x + z);
  }
  return sum;
}

/// Replaces the distances of a sparse tile (out[k * sparse_block + r]) that are small, or that are
/// no numbers because the norms overflow.
template <class T>
void refine_near(Stat stat, const SparseStore<T>& a, const Index* queries, int n_query,
                 const double* query_norm, const SparseStore<T>& b, const double* norm, Index begin,
                 Index count, T* out) {
  constexpr T largest = std::numeric_limits<T>::max();
  T limit[sparse_block] = {};
  for (int r = 0; r < n_query; ++r) limit[r] = static_cast<T>(near_share * query_norm[r]);
  for (Index k = 0; k < count; ++k) {
    T* row = out + k * sparse_block;
    const T own = static_cast<T>(near_share * norm[k]);
    const auto stands = [&](int r) { return row[r] >= limit[r] + own && row[r] <= largest; };
    int some = 0;  // without branches, so that compilers vectorise it
    for (int r = 0; r < n_query; ++r) some |= !(row[r] >= limit[r] + own) | !(row[r] <= largest);
    if (!some) continue;
    for (int r = 0; r < n_query; ++r)
      if (!stands(r)) row[r] = static_cast<T>(direct_distance(stat, a, queries[r], b, begin + k));
  }
}

}  // namespace

/// The tile of a statistic that is kept: rows that are known are copied, the others computed.
template <class T>
void Evaluator<T>::kept_tile(int leaf, Query<T>& q, Index begin, Index count, T* out,
                             Index stride) const {
  StatisticCache<T>& cache = *sources_[leaf].cache;
  const Index* columns = b_->id.data() + begin;
  std::vector<int> missing;
  for (int r = 0; r < q.n; ++r) {
    T* row = cache.row(a_->id[q.rows[r]]);
    if (!row || !cache.read(row, columns, count, out + r * stride)) missing.push_back(r);
  }
  if (missing.empty()) return;
  const auto* dense = std::get_if<DenseStore<T>>(b_->stores[leaf].get());
  if (!dense || static_cast<int>(missing.size()) == q.n) {
    leaf_tile(leaf, q, begin, count, out, stride, nullptr);
  } else {
    const Index width = round_up(count, panel_), d = dense->d;
    q.some_rows.require(query_block * std::max<Index>(d, 1));
    q.some_values.require(query_block * width);
    for (std::size_t first = 0; first < missing.size(); first += query_block) {
      const int rows = static_cast<int>(std::min<std::size_t>(query_block, missing.size() - first));
      for (int k = 0; k < rows; ++k) {
        const int r = missing[first + k];
        const T* from =
            q.dense[first_[leaf]].data() + (r / query_block) * query_block * d + r % query_block;
        for (Index c = 0; c < d; ++c) q.some_rows[c * query_block + k] = from[c * query_block];
      }
      ops<T>().stat[static_cast<int>(sources_[leaf].stat)](q.some_rows.data(), rows,
                                                           dense->panel_of(begin), width / panel_,
                                                           d, q.some_values.data(), width);
      for (int k = 0; k < rows; ++k)
        std::copy_n(q.some_values.data() + k * width, count, out + missing[first + k] * stride);
    }
  }
  for (const int r : missing)
    if (T* row = cache.row(a_->id[q.rows[r]])) cache.write(row, columns, count, out + r * stride);
}

template <class T>
bool Evaluator<T>::by_postings(std::size_t leaf) const {
  const auto* a = std::get_if<SparseStore<T>>(a_->stores[leaf].get());
  const auto* b = std::get_if<SparseStore<T>>(b_->stores[leaf].get());
  const LeafSource<T>& source = sources_[leaf];
  return b && b->inverted() && a->exact && source.stat == Stat::dot && !source.coordinates;
}

template <class T>
bool Evaluator<T>::by_places(std::size_t leaf) const {
  const auto* b = std::get_if<SparseStore<T>>(b_->stores[leaf].get());
  return b && b->occurring && !sources_[leaf].coordinates;
}

template <class T>
void Evaluator<T>::inverted_tile(int leaf, Query<T>& q, Index begin, Index count, T* out,
                                 Index stride) const {
  const auto& a = std::get<SparseStore<T>>(*a_->stores[leaf]);
  const auto& b = std::get<SparseStore<T>>(*b_->stores[leaf]);
  std::vector<Index>& cursor = q.cursor[leaf];
  if (q.next[leaf] != begin) {
    cursor.clear();
    for (int r = 0; r < q.n; ++r)
      for (Index e = a.start[q.rows[r]]; e < a.start[q.rows[r] + 1]; ++e) {
        const Index first = b.post_start[a.column[e]], last = b.post_start[a.column[e] + 1];
        // Rows are spread evenly over most columns: look where the first one should be.
        Index at = first + (last - first) * begin / b.n;
        while (at > first && b.post_row[at - 1] >= begin) --at;
        while (at < last && b.post_row[at] < begin) ++at;
        cursor.push_back(at);
      }
  }
  q.next[leaf] = begin + count;
  Index at = 0;
  for (int r = 0; r < q.n; ++r) {
    const Index first = a.start[q.rows[r]], entries = a.start[q.rows[r] + 1] - first;
    ops<T>().inverted({a.column.data() + first, a.value.data() + first, entries, cursor.data() + at,
                       b.post_start.data(), b.post_row.data(), b.post_value.data(), begin, count,
                       out + r * stride});
    at += entries;
  }
}

template <class T>
bool Evaluator<T>::leaf_tile(int leaf, Query<T>& q, Index begin, Index count, T* out, Index stride,
                             const Instruction* next) const {
  const Ops<T>& o = ops<T>();
  const LeafSource<T>& source = sources_[leaf];
  const Store<T>& sa = *a_->stores[leaf];
  const Store<T>& sb = *b_->stores[leaf];
  const int stat = static_cast<int>(source.stat), shared = first_[leaf];
  if (auto* b = std::get_if<DenseStore<T>>(&sb)) {
    const T* panels = b->panel_of(begin);
    const Index n_panels = (count + panel_ - 1) / panel_;
    const bool fused = !source.coordinates && next && next->op == Op::exp;
    for (int r = 0; r < q.n; r += query_block) {
      const T* query = q.dense[shared].data() + r * b->d;
      const int nq = std::min(query_block, q.n - r);
      if (const auto& c = source.coordinates)
        o.coordinates[static_cast<int>(c->shape.function)](query, nq, panels, n_panels, b->d,
                                                           c->view(b->d), out + r * stride, stride);
      else if (fused)
        o.stat_exp[stat](query, nq, panels, n_panels, b->d, out + r * stride, stride,
                         static_cast<T>(next->a), static_cast<T>(next->b));
      else
        o.stat[stat](query, nq, panels, n_panels, b->d, out + r * stride, stride);
    }
    return fused;
  } else if (auto* p = std::get_if<SparseStore<T>>(&sb)) {
    if (source.coordinates) {
      const Scattered<T> query{q.n, q.slot_of[shared].data(), q.used[shared], q.slots[shared]};
      sparse_coordinates(*source.coordinates, query, *p, begin, count, out, stride);
      return false;
    }
    if (by_postings(static_cast<std::size_t>(leaf))) {
      inverted_tile(leaf, q, begin, count, out, stride);
      return false;
    }
    const auto& a = std::get<SparseStore<T>>(sa);
    const bool squares = source.stat == Stat::sqdist;
    double norms[sparse_block] = {};
    for (int r = 0; r < q.n; ++r) norms[r] = (squares ? a.square : a.mass)[q.rows[r]];
    const auto& column = by_places(static_cast<std::size_t>(leaf)) ? p->place : p->column;
    const SparseRows<T> rows{p->value.data(),
                             column.data(),
                             p->first.data() + begin,
                             p->run.data(),
                             p->run_columns,
                             (p->d + p->run_columns - 1) / p->run_columns,
                             (squares ? p->square : p->mass).data() + begin,
                             count};
    const bool exact = a.small && p->small && source.stat != Stat::chi;
    const bool distance =
        source.stat == Stat::sqdist || source.stat == Stat::l1 || source.stat == Stat::chi;
    const bool refined = distance && !exact;
    const bool fused = !refined && next && next->op == Op::exp;
    if (fused)
      o.sparse_exp[stat](q.slots[shared].data(), q.slot_of[shared].data(), norms, q.n, rows,
                         q.sparse_out.data(), static_cast<T>(next->a), static_cast<T>(next->b));
    else
      o.sparse[stat](q.slots[shared].data(), q.slot_of[shared].data(), norms, q.n, rows,
                     q.sparse_out.data());
    if (refined)
      refine_near(source.stat, a, q.rows.data(), q.n, norms, *p, rows.norm, begin, count,
                  q.sparse_out.data());
    o.transpose(q.sparse_out.data(), count, q.n, out, stride);
    return fused;
  } else if (auto* s = std::get_if<SequenceStore>(&sb)) {
    const auto& a = std::get<SequenceStore>(sa);
    q.pair.row.require(count);
    for (int r = 0; r < q.n; ++r) {
      pair_values(*source.pair, a, q.rows[r], *s, begin, count, q.pair.row.data(), q.pair);
      for (Index k = 0; k < count; ++k) out[r * stride + k] = static_cast<T>(q.pair.row[k]);
    }
  } else {
    const auto& ia = std::get<IndexStore>(sa).id;
    const auto& ib = std::get<IndexStore>(sb).id;
    if (source.call) {
      std::vector<Index> ids(static_cast<std::size_t>(q.n));
      for (int r = 0; r < q.n; ++r) ids[r] = ia[q.rows[r]];
      source.call(ids.data(), q.n, ib.data() + begin, count, out, stride);
      return false;
    }
    const Index* columns = ib.data() + begin;
    bool run = source.col_stride == 1 && count > 0;
    for (Index k = 1; run && k < count; ++k) run = columns[k] == columns[0] + k;
    const auto fill = [&](const auto* m) {
      for (int r = 0; r < q.n; ++r) {
        const auto* row = m + ia[q.rows[r]] * source.row_stride;
        if (run) {
          std::copy_n(row + columns[0], count, out + r * stride);
          continue;
        }
        for (Index k = 0; k < count; ++k)
          out[r * stride + k] = static_cast<T>(row[columns[k] * source.col_stride]);
      }
    };
    if (source.matrix_single)
      fill(static_cast<const float*>(source.matrix));
    else
      fill(static_cast<const double*>(source.matrix));
  }
  return false;
}

template <class T>
bool Evaluator<T>::leaf_values(int leaf, Query<T>& q, Index begin, Index count, T* out,
                               Index stride, const Instruction* next) const {
  if (!sources_[leaf].cache || a_->id.empty() || b_->id.empty())
    return leaf_tile(leaf, q, begin, count, out, stride, next);
  kept_tile(leaf, q, begin, count, out, stride);
  return false;
}

template bool Evaluator<float>::by_postings(std::size_t) const;
template bool Evaluator<double>::by_postings(std::size_t) const;
template bool Evaluator<float>::by_places(std::size_t) const;
template bool Evaluator<double>::by_places(std::size_t) const;
template bool Evaluator<float>::leaf_values(int, Query<float>&, Index, Index, float*, Index,
                                            const Instruction*) const;
template bool Evaluator<double>::leaf_values(int, Query<double>&, Index, Index, double*, Index,
                                             const Instruction*) const;

}  // namespace mercer
