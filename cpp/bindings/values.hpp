// Kernel values: tiles, products.
#pragma once

#include <algorithm>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/signals.hpp"
#include "evaluator.hpp"
#include "thread_pool.hpp"

namespace mercer {

/// Calls put(k, r, count, values) for pieces of the first columns of a tile: values[j] is the entry
/// of column k in row r + j.
template <class T, class Put>
void each_column(const T* tile, Index stride, Index rows, Index columns, const Put& put) {
  constexpr Index side = 64 / sizeof(T);  // whole cache lines
  T turned[side][side];
  for (Index k = 0; k < columns; k += side)
    for (Index r = 0; r < rows; r += side) {
      const Index across = std::min(side, columns - k), down = std::min(side, rows - r);
      for (Index j = 0; j < down; ++j)
        for (Index c = 0; c < across; ++c) turned[c][j] = tile[(r + j) * stride + k + c];
      for (Index c = 0; c < across; ++c) put(k + c, r, down, turned[c]);
    }
}

/// Some rows of a tile: columns [first, first + columns) of rows [from, from + rows). The first
/// `mirrored` of them belong to both sides of the diagonal.
struct TilePart {
  Index from, rows, first, columns, mirrored;
};

/// Calls put(tile, stride, part) for the values of some rows, or of all, from several threads. Of a
/// symmetric matrix each pair is computed once: a block of rows ends with its own last column.
template <class T, class Put>
void each_tile(const Evaluator<T>& e, const Index* ids, Index n, int n_jobs, const Put& put) {
  const Index m = e.cols();
  const bool symmetric = !ids && e.symmetric();
  const double work = static_cast<double>(n) * static_cast<double>(m) * e.cost();
  const auto compute = [&](Leaving& leaving) {
    const Index block = e.block();
    constexpr Index widest = 1024;
    static_assert(widest % largest_panel == 0);
    const Index width = e.threads_allowed()
                            ? std::min(round_up(std::max<Index>(m, 1), e.panel()), widest)
                            : round_up(std::max<Index>(m, 1), e.panel());
    const Index blocks = (n + block - 1) / block;
    const int threads = e.threads_allowed() && work >= 2e6 ? resolve_jobs(n_jobs) : 1;
    struct Scratch {
      Query<T> query;
      Buffer<T> tile;
    };
    std::vector<Scratch> scratch(static_cast<size_t>(threads));
    for (size_t w = 0; w < scratch.size(); ++w)
      scratch[w].query.pair.leave = [&leaving, w] { return leaving(static_cast<int>(w)); };
    if (m > 0)
      parallel_for(threads, blocks, leaving, [&](Index b, int worker) {
        Scratch& w = scratch[worker];
        w.tile.require(std::min(block, n) * width);
        // The longest blocks of a symmetric matrix first, so that the threads end together.
        const Index from = (symmetric ? blocks - 1 - b : b) * block, nq = std::min(block, n - from);
        std::vector<Index> q(static_cast<size_t>(nq));
        for (Index r = 0; r < nq; ++r) q[r] = ids ? ids[from + r] : from + r;
        e.prepare(w.query, q.data(), static_cast<int>(nq));
        const Index end = symmetric ? from + nq : m;
        for (Index c = 0; c < end; c += width) {
          if (leaving(worker)) return;
          const Index count = std::min(width, end - c);
          e.tile(w.query, c, count, w.tile.data(), width);
          const Index mirrored = symmetric ? std::min(count, from - c) : 0;
          put(w.tile.data(), width, TilePart{from, nq, c, count, mirrored});
        }
      });
  };
  interruptible(compute, work);
}

/// The values of some rows, or of all.
template <class T>
nb::ndarray<nb::numpy, T> tile_of(const Evaluator<T>& e, std::optional<Array1<Index>> rows,
                                  int n_jobs) {
  const Index n = rows ? static_cast<Index>(rows->shape(0)) : e.rows();
  const Index m = e.cols();
  if (rows)
    for (Index i = 0; i < n; ++i)
      if (rows->data()[i] < 0 || rows->data()[i] >= e.rows())
        throw nb::index_error("row out of range");
  T* out;
  auto result = fresh<T>({static_cast<size_t>(n), static_cast<size_t>(m)}, &out);
  each_tile(e, rows ? rows->data() : nullptr, n, n_jobs,
            [&](const T* tile, Index stride, const TilePart& at) {
              for (Index r = 0; r < at.rows; ++r)
                std::copy_n(tile + r * stride, at.columns, out + (at.from + r) * m + at.first);
              each_column(tile, stride, at.rows, at.mirrored,
                          [&](Index k, Index r, Index count, const T* values) {
                            std::copy_n(values, count, out + (at.first + k) * m + at.from + r);
                          });
            });
  return result;
}

using SinglePart = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// All values, each as the sum of two numbers in single precision; see cost_path.hpp.
inline void split_of(const Evaluator<double>& e, SinglePart high, SinglePart low, int n_jobs) {
  const Index m = e.cols();
  for (const SinglePart* part : {&high, &low})
    if (static_cast<Index>(part->shape(0)) != e.rows() || static_cast<Index>(part->shape(1)) != m)
      throw nb::value_error("an array does not have the shape of the kernel matrix");
  const auto put = [a = high.data(), b = low.data()](Index at, Index count, const double* values) {
    for (Index k = 0; k < count; ++k) {
      a[at + k] = static_cast<float>(values[k]);
      b[at + k] = static_cast<float>(values[k] - static_cast<double>(a[at + k]));
    }
  };
  each_tile(e, nullptr, e.rows(), n_jobs,
            [&](const double* tile, Index stride, const TilePart& at) {
              for (Index r = 0; r < at.rows; ++r)
                put((at.from + r) * m + at.first, at.columns, tile + r * stride);
              each_column(tile, stride, at.rows, at.mirrored,
                          [&](Index k, Index r, Index count, const double* values) {
                            put((at.first + k) * m + at.from + r, count, values);
                          });
            });
}

/// k(b_j, b_j) of all columns, in float64.
template <class T>
nb::object diagonal_of(const Evaluator<T>& e, int n_jobs) {
  std::vector<T> d(static_cast<size_t>(e.cols()));
  interruptible([&](Leaving& leaving) { e.diag(d.data(), resolve_jobs(n_jobs), leaving); });
  return array_of(std::vector<double>(d.begin(), d.end()));
}

/// Blocks of columns of a product, from a list of (first object, coefficients).
struct Segments {
  std::vector<Segment> all;
  Index cols = 0;

  Segments(nb::list from, Index n) {
    for (nb::handle h : from) {
      nb::tuple t = nb::cast<nb::tuple>(h);
      auto v = nb::cast<Coefficients>(t[1]);
      const Index begin = nb::cast<Index>(t[0]), end = begin + static_cast<Index>(v.shape(0));
      if (begin < 0 || end > n) throw nb::index_error("segment out of range");
      all.push_back({begin, end, static_cast<Index>(v.shape(1)), cols, v.data()});
      cols += static_cast<Index>(v.shape(1));
      keep_.push_back(std::move(v));
    }
  }

 private:
  using Coefficients = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  std::vector<Coefficients> keep_;
};

template <class T>
nb::object multiply(const Evaluator<T>& e, const Multiplier<T>& multiplier, int n_jobs) {
  if (multiplier.objects != e.cols())
    throw nb::value_error("the multiplier belongs to another number of objects");
  double* out;
  auto result =
      fresh<double>({static_cast<size_t>(e.rows()), static_cast<size_t>(multiplier.cols)}, &out);
  const double work = static_cast<double>(e.rows()) * static_cast<double>(e.cols()) * e.cost();
  Signals signals(work);
  bool complete = false;
  {
    const ReleaseLock release(work);
    const int threads = work < 1e6 ? 1 : resolve_jobs(n_jobs);
    complete = e.product(multiplier, out, threads, [&] { return signals(); });
  }
  signals.rethrow();
  if (!complete) raise_interrupt();
  return nb::cast(result);
}

template <class T>
std::unique_ptr<Multiplier<T>> multiplier_of(const Evaluator<T>& e, nb::list list, int n_jobs,
                                             bool exact) {
  const Segments segments(list, e.cols());
  const ReleaseLock release;
  return e.multiplier(segments.all, resolve_jobs(n_jobs), exact);
}

/// A product with vectors that are used once.
template <class T>
nb::object product_of(const Evaluator<T>& e, nb::list list, int n_jobs) {
  return multiply(e, *multiplier_of(e, list, n_jobs, false), n_jobs);
}

}  // namespace mercer
