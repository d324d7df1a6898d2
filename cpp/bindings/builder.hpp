// Objects as Python hands them over: rows, sequences, positions, numbers.
#pragma once

#include <numeric>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/programs.hpp"
#include "bindings/signals.hpp"
#include "objects.hpp"
#include "thread_pool.hpp"

namespace mercer {

template <class T, class U>
Strided<U> strided(const Array2<U>& x) {
  return {x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)), x.stride(0),
          x.stride(1)};
}

/// Sequences from all their tokens or points, one after another, and where each begins.
template <class U>
SequenceStore sequence_store(const U* data, size_t total, const Array1<Index>& start, Index width,
                             const std::optional<Array1<double>>& norm) {
  SequenceStore s;
  s.start = to_vector(start);
  s.n = static_cast<Index>(s.start.size()) - 1;
  s.width = width;
  if (s.n < 0 || s.start.front() != 0 || s.start.back() != static_cast<Index>(total) ||
      !std::is_sorted(s.start.begin(), s.start.end()))
    throw nb::value_error("malformed sequences");
  if (norm && static_cast<Index>(norm->shape(0)) != s.n)
    throw nb::value_error("norm: wrong length");
  if (norm) s.norm = to_vector(*norm);
  auto& to = [&]() -> auto& {
    if constexpr (std::is_same_v<U, double>)
      return s.value;
    else
      return s.token;
  }();
  const Index size = static_cast<Index>(total) * std::max<Index>(width, 1);
  to.reset(std::max<Index>(size, 1));
  std::copy_n(data, size, to.data());
  return s;
}

template <class T>
class ObjectsBuilder {
 public:
  std::shared_ptr<Objects<T>> objects = std::make_shared<Objects<T>>();

  explicit ObjectsBuilder(Index n) {
    if (n < 0) throw nb::value_error("a negative number of objects");
    objects->n = n;
  }

  void add(Store<T> store, Index n) {
    if (objects->n != n) throw nb::value_error("a store with another number of objects");
    objects->stores.push_back(std::make_shared<const Store<T>>(std::move(store)));
  }

  template <class U>
  void dense(Array2<U> x, std::optional<Array1<double>> centre) {
    if (centre && centre->shape(0) != x.shape(1)) throw nb::value_error("centre: wrong length");
    const Strided<U> s = strided<T>(x);
    const double* c = centre ? centre->data() : nullptr;
    std::optional<DenseStore<T>> store;
    {
      const ReleaseLock release(static_cast<double>(s.n * s.d));
      store = pack_dense<T, U>(s, c);
    }
    add(std::move(*store), s.n);
  }

  template <class U>
  void compress(Array2<U> x) {
    const Strided<U> s = strided<T>(x);
    std::optional<SparseStore<T>> store;
    {
      const ReleaseLock release(static_cast<double>(s.n * s.d));
      store = compress_dense<T, U>(s);
    }
    add(std::move(*store), s.n);
  }

  template <class U, class I>
  void sparse(Array1<U> value, Array1<I> column, Array1<I> start, Index d, bool exact) {
    const auto n = static_cast<Index>(start.shape(0)) - 1;
    if (n < 0 || static_cast<size_t>(start.data()[n]) > value.shape(0) ||
        value.shape(0) != column.shape(0) || start.data()[0] != 0)
      throw nb::value_error("malformed compressed rows");
    add(pack_sparse<T, U, I>(value.data(), column.data(), start.data(), n, d, exact), n);
  }

  /// Sequences of tokens, prepared for a kernel where one is given that does that.
  void tokens(Array1<std::int32_t> token, Array1<Index> start, std::optional<Array1<double>> norm,
              std::optional<nb::tuple> kernel) {
    SequenceStore s = sequence_store(token.data(), token.shape(0), start, 0, norm);
    if (kernel) {
      const auto pair = parse_pair(*kernel);
      interruptible(
          [&](Leaving& leaving) { prepare_sequences(*pair, s, resolve_jobs(0), leaving); });
    }
    add(std::move(s), static_cast<Index>(start.shape(0)) - 1);
  }

  void points(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> value,
              Array1<Index> start, std::optional<Array1<double>> norm) {
    add(sequence_store(value.data(), value.shape(0), start, static_cast<Index>(value.shape(1)),
                       norm),
        static_cast<Index>(start.shape(0)) - 1);
  }

  /// The next leaf looks at the rows of a leaf of another set of the same objects, or of this one.
  void share(const ObjectsBuilder& other, int leaf) {
    if (other.objects->n != objects->n) throw nb::value_error("a store of other objects");
    objects->stores.push_back(other.objects->stores.at(static_cast<size_t>(leaf)));
  }

  /// From now on the objects know their positions.
  void number() {
    objects->id.resize(static_cast<size_t>(objects->n));
    std::iota(objects->id.begin(), objects->id.end(), Index(0));
  }

  void index(Array1<Index> id) { add(IndexStore{to_vector(id)}, static_cast<Index>(id.shape(0))); }

  void aux(Array1<double> a) {
    if (static_cast<Index>(a.shape(0)) != objects->n) throw nb::value_error("aux: wrong length");
    Buffer<T> b(std::max<Index>(static_cast<Index>(a.shape(0)), 1));
    for (size_t i = 0; i < a.shape(0); ++i) b[static_cast<Index>(i)] = static_cast<T>(a.data()[i]);
    objects->aux.push_back(std::move(b));
  }
};

/// Largest norm of a row, and of its rounding error, in the store of a leaf.
template <class T>
std::pair<double, double> describe(const ObjectsBuilder<T>& b, int leaf) {
  const Store<T>& s = *b.objects->stores.at(static_cast<size_t>(leaf));
  if (auto* d = std::get_if<DenseStore<T>>(&s)) return {d->radius, d->rounding};
  if (auto* p = std::get_if<SparseStore<T>>(&s))
    return {p->radius, p->radius * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2};
  return {0.0, 0.0};
}

/// See SparseStore::partial_sums; 0 for other stores.
template <class T>
double partial_sums_of(const ObjectsBuilder<T>& b, int leaf) {
  auto* p = std::get_if<SparseStore<T>>(b.objects->stores.at(static_cast<size_t>(leaf)).get());
  return p ? p->partial_sums : 0.0;
}

/// Columns of the rows in the store of a leaf.
template <class T>
Index columns_of(const ObjectsBuilder<T>& b, int leaf) {
  const Store<T>& s = *b.objects->stores.at(static_cast<size_t>(leaf));
  if (auto* d = std::get_if<DenseStore<T>>(&s)) return d->d;
  if (auto* p = std::get_if<SparseStore<T>>(&s)) return p->d;
  return 0;
}

}  // namespace mercer
