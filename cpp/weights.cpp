#include "weights.hpp"

#include <algorithm>
#include <array>

#include "isa/dispatch.hpp"
#include "thread_pool.hpp"

namespace mercer {

std::vector<LinearTerm> linear_terms(const Program& program) {
  std::vector<std::vector<LinearTerm>> stack;
  for (const Instruction& i : program.code) {
    switch (i.op) {
      case Op::leaf:
        stack.push_back({{i.index, 1.0, {}}});
        break;
      case Op::constant:
        stack.push_back({{-1, i.a, {}}});
        break;
      case Op::affine:
        for (LinearTerm& t : stack.back()) t.factor *= i.a;
        if (i.b != 0) stack.back().push_back({-1, i.b, {}});
        break;
      case Op::aux:
        for (LinearTerm& t : stack.back()) t.aux.push_back(i.index);
        break;
      case Op::swap:
        std::swap(stack[stack.size() - 2], stack.back());
        break;
      case Op::add: {
        const std::vector<LinearTerm> top = std::move(stack.back());
        stack.pop_back();
        stack.back().insert(stack.back().end(), top.begin(), top.end());
        break;
      }
      default:
        return {};
    }
  }
  return stack.empty() ? std::vector<LinearTerm>{} : stack.back();
}

namespace {

/// Columns of dense rows whose lanes are summed together, in the first-level cache.
constexpr Index columns_at_once = 32;

/// u of the object at a position.
template <class T>
double multiplier(const LinearTerm& term, const Objects<T>& objects, Index row) {
  double u = 1;
  for (const int k : term.aux) u *= static_cast<double>(objects.aux[k][row]);
  return u;
}

template <class T>
Index columns_of(const LinearTerm& term, const Objects<T>& objects) {
  if (term.leaf < 0) return 1;
  const Store<T>& store = *objects.stores[term.leaf];
  if (const auto* dense = std::get_if<DenseStore<T>>(&store)) return dense->d;
  return std::get<SparseStore<T>>(store).d;
}

/// w = sum of v[k] times row begin + k, panel by panel and lane by lane.
template <class T>
void sum_dense(const DenseStore<T>& store, Index begin, Index end, const std::vector<double>& v,
               double* w, int threads) {
  const Ops<T>& o = ops<T>();
  const Index panel = store.panel, first = begin / panel, last = (end + panel - 1) / panel;
  std::vector<double> lanes(static_cast<std::size_t>((last - first) * panel), 0.0);
  std::copy(v.begin(), v.end(), lanes.begin() + (begin - first * panel));
  const Index chunks = (store.d + columns_at_once - 1) / columns_at_once;
  if (static_cast<double>(store.d) * static_cast<double>(end - begin) < 1e5) threads = 1;
  parallel_for(threads, chunks, [&](Index chunk, int) {
    const Index from = chunk * columns_at_once, to = std::min(store.d, from + columns_at_once);
    std::vector<double> acc(static_cast<std::size_t>((to - from) * panel), 0.0);
    for (Index p = first; p < last; ++p) {
      const T* x = store.packed.data() + (p * store.d + from) * panel;
      const double* c = lanes.data() + (p - first) * panel;
      for (Index k = 0; k < to - from; ++k)
        o.dot_lanes(x + k * panel, c, panel, acc.data() + k * panel);
    }
    for (Index k = from; k < to; ++k) {
      double sum = 0;
      for (Index lane = 0; lane < panel; ++lane) sum += acc[(k - from) * panel + lane];
      w[k] = sum;
    }
  });
}

template <class T>
void sum_sparse(const SparseStore<T>& store, Index begin, Index end, const std::vector<double>& v,
                double* w) {
  // Of more columns than entries most are 0 from the start, and stay so.
  const Index nnz = store.n ? store.start[store.n] : 0;
  if (store.d <= nnz)
    std::fill_n(w, store.d, 0.0);
  else
    for (Index e = 0; e < nnz; ++e) w[store.column[e]] = 0;
  for (Index i = begin; i < end; ++i) {
    const double c = v[i - begin];
    if (c != 0)
      for (Index e = store.start[i]; e < store.start[i + 1]; ++e)
        w[store.column[e]] += c * static_cast<double>(store.value[e]);
  }
}

}  // namespace

template <class T>
Weights<T>::Weights(const std::vector<LinearTerm>& terms, const Objects<T>& like, Index cols)
    : terms_(terms), cols_(cols) {
  for (const LinearTerm& term : terms_) {
    length_.push_back(columns_of(term, like));
    w_.emplace_back().require(length_.back() * cols);
  }
}

template <class T>
double Weights<T>::size(const std::vector<LinearTerm>& terms, const Objects<T>& like, Index cols) {
  double sum = 0;
  for (const LinearTerm& term : terms) sum += static_cast<double>(columns_of(term, like));
  return sum * static_cast<double>(cols);
}

template <class T>
void Weights<T>::set(const Objects<T>& b, Index begin, Index end, const double* v, Index cols,
                     Index offset, int threads) {
  std::vector<double> coef(static_cast<std::size_t>(end - begin));
  for (std::size_t t = 0; t < terms_.size(); ++t)
    for (Index c = 0; c < cols; ++c) {
      for (Index i = begin; i < end; ++i)
        coef[i - begin] = v[(i - begin) * cols + c] * multiplier(terms_[t], b, i);
      double* w = w_[t].data() + (offset + c) * length_[t];
      if (terms_[t].leaf < 0) {
        w[0] = 0;
        for (const double x : coef) w[0] += x;
      } else if (const auto* dense = std::get_if<DenseStore<T>>(b.stores[terms_[t].leaf].get())) {
        sum_dense(*dense, begin, end, coef, w, threads);
      } else {
        sum_sparse(std::get<SparseStore<T>>(*b.stores[terms_[t].leaf]), begin, end, coef, w);
      }
    }
}

template <class T>
void Weights<T>::add_values(const Objects<T>& a, Index begin, Index end, double* out,
                            Index stride) const {
  const Ops<T>& o = ops<T>();
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const LinearTerm& term = terms_[t];
    const Index length = length_[t];
    const double* w = w_[t].data();
    const auto put = [&](Index i, Index c, double value) {
      out[(i - begin) * stride + c] += term.factor * multiplier(term, a, i) * value;
    };
    if (term.leaf < 0) {
      for (Index i = begin; i < end; ++i)
        for (Index c = 0; c < cols_; ++c) put(i, c, w[c]);
    } else if (const auto* dense = std::get_if<DenseStore<T>>(a.stores[term.leaf].get())) {
      const Index panel = dense->panel;
      std::vector<const T*> column(static_cast<std::size_t>(length));
      std::vector<double> sums(static_cast<std::size_t>(panel));
      for (Index p = begin / panel; p * panel < end; ++p) {
        for (Index k = 0; k < length; ++k)
          column[k] = dense->packed.data() + (p * length + k) * panel;
        const Index lo = std::max(begin, p * panel), hi = std::min(end, (p + 1) * panel);
        for (Index c = 0; c < cols_; ++c) {
          std::fill(sums.begin(), sums.end(), 0.0);
          o.axpy_rows(sums.data(), column.data(), w + c * length, static_cast<int>(length), panel);
          for (Index i = lo; i < hi; ++i) put(i, c, sums[i - p * panel]);
        }
      }
    } else {
      const auto& sparse = std::get<SparseStore<T>>(*a.stores[term.leaf]);
      for (Index i = begin; i < end; ++i)
        for (Index c = 0; c < cols_; ++c) {
          const double* column = w + c * length;
          double sum = 0;
          for (Index e = sparse.start[i]; e < sparse.start[i + 1]; ++e)
            sum += column[sparse.column[e]] * static_cast<double>(sparse.value[e]);
          put(i, c, sum);
        }
    }
  }
}

template class Weights<float>;
template class Weights<double>;

}  // namespace mercer
