// A set of objects prepared for a program: one store per leaf, one scalar column per aux.
//
// Dense rows are packed into panels: [panel][feature][row in panel], zero rows fill the last one.
// Sparse rows stay compressed; sums over a row are taken run by run (entries within the same block
// of columns) and the runs added up in double precision, because one long chain of
// single-precision additions loses digits. Sequences of tokens or points lie one after
// another. Objects of matrices and callbacks are known by their position.
#pragma once
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "memory.hpp"
#include "sequences/store.hpp"

namespace mercer {

template <class T>
struct DenseStore {
  Index n = 0, d = 0;
  int panel = 0;
  double rounding = 0;  ///< largest norm of a row's rounding error in this precision
  double radius = 0;    ///< largest norm of a packed row
  Buffer<T> packed;

  const T* panel_of(Index row) const { return packed.data() + (row / panel) * d * panel; }
  T at(Index row, Index k) const { return panel_of(row)[k * panel + row % panel]; }
};

template <class T>
struct SparseStore {
  Index n = 0, d = 0;
  std::vector<Index> start;     ///< entries of a row: [start[i], start[i + 1])
  std::vector<Index> first;     ///< runs of a row: [first[i], first[i + 1])
  std::vector<Index> run;       ///< entries of a run: [run[r], run[r + 1])
  Index run_columns = 0;        ///< a run never crosses a multiple of this many columns
  bool exact = false;           ///< integers, whose sums are exact in any order
  bool small = false;           ///< integers so small that distances by norms are exact
  Buffer<std::int32_t> column;  ///< ascending within a row
  Buffer<T> value;
  /// Of more columns than entries, and very many: the columns that occur, ascending, and the place
  /// of each entry's column among them; otherwise empty.
  std::shared_ptr<const std::vector<std::int32_t>> occurring;
  Buffer<std::int32_t> place;
  Buffer<double> square;  ///< sum of squares of a row
  Buffer<double> mass;    ///< sum of absolute values of a row
  double radius = 0;      ///< largest norm of a row
  /// Root of the sum of squares of all partial sums of the squares of a row, the largest of all
  /// rows; each of them is rounded. 0 for integers, whose sums are exact.
  double partial_sums = 0;
  /// Inverted index of exact rows that share few columns; otherwise empty.
  std::vector<Index> post_start;  ///< postings of a column: [post_start[c], post_start[c + 1])
  Buffer<std::int32_t> post_row;  ///< ascending within a column
  Buffer<T> post_value;

  bool inverted() const { return !post_start.empty(); }
};

struct IndexStore {
  std::vector<Index> id;
};

template <class T>
using Store = std::variant<DenseStore<T>, SparseStore<T>, IndexStore, SequenceStore>;

/// Elements of a strided two-dimensional array of the caller.
template <class U>
struct Strided {
  const U* data;
  Index n, d, row_stride, col_stride;
};

/// Packs the rows minus centre (which may be null).
template <class T, class U>
DenseStore<T> pack_dense(const Strided<U>& x, const double* centre);

/// Copies compressed rows; sorts the columns of a row and adds up repeats where necessary.
template <class T, class U, class I>
SparseStore<T> pack_sparse(const U* value, const I* column, const I* start, Index n, Index d,
                           bool exact = false);

/// Compresses dense rows that are mostly zero.
template <class T, class U>
SparseStore<T> compress_dense(const Strided<U>& x);

template <class T>
class Objects {
 public:
  Index n = 0;
  std::vector<std::shared_ptr<const Store<T>>> stores;  ///< leaves may share one
  std::vector<Buffer<T>> aux;
  std::vector<Index> id;  ///< positions in the set whose statistics are kept; empty: none are

  /// The objects at these positions, in this order.
  std::shared_ptr<Objects<T>> take(const Index* index, Index count) const;
};

}  // namespace mercer
