// The table of inner loops that every instruction set fills in.
//
// Everything that runs once per kernel value or once per gradient entry is behind this table;
// the rest of the core is compiled for the baseline machine. Each isa_*.cpp instantiates the same
// source with its own vectors, in an unnamed namespace: no symbol can be merged across paths.
#pragma once
#include <atomic>
#include <cstdint>

#include "pairs.hpp"

namespace mercer {

using Index = std::int64_t;

/// A number that two rows have in common; vector kernels are functions of a few of these.
enum class Stat {
  dot,
  sqdist,
  l1,
  minimum,   ///< sum of min(x, z)
  harmonic,  ///< sum of x z / (x + z), 0 / 0 = 0, for x, z >= 0
  chi        ///< sum of (x - z)^2 / (x + z), 0 / 0 = 0, for x, z >= 0
};
inline constexpr int n_stats = 6;

/// A function f(x_i, z_i) of one coordinate of two rows; see isa/coordinates.hpp.
enum class Coordinate {
  product,
  minimum,
  power,
  half_power,
  gaussian,
  laplacian,
  spline,
  bspline,
  cosines,
  wrapped
};
inline constexpr int n_coordinates = 10;
inline constexpr int max_anova_order = 64;

/// How the coordinates are put together.
enum class Combination { product, maximum, anova };

/// A statistic of two rows from a function of one coordinate.
template <class T>
struct Coordinates {
  Coordinate function = Coordinate::product;
  Combination combination = Combination::product;
  int order = 0;  ///< of ANOVA
  T a = 0, b = 0;
  double exponent = 0;
  T scale = 1;    ///< multiplies the result
  int count = 0;  ///< half_power: twice the power; bspline, cosines, wrapped: terms of the sum
  const T* coefficients = nullptr;
};

/// Query rows interleaved feature by feature for the dense tile loops.
inline constexpr int query_block = 6;
/// Query rows that one sweep over sparse rows serves.
inline constexpr int sparse_block = 32;
/// Rows of the largest panel of all paths; every panel divides it.
inline constexpr int largest_panel = 32;
/// Columns of coefficients are filled up to a multiple of this (Ops::gemm_cols).
inline constexpr int column_block = 8;
/// Slots of a group start and end at a multiple of this (InnerTask).
inline constexpr Index slot_align = 32;

/// How the argument of a table is divided into pieces.
enum class Grid {
  even,    ///< pieces of equal length in x
  root,    ///< pieces of equal length in sqrt(x)
  octaves  ///< eight pieces to every doubling of x
};

/// A function on x >= 0 as a piecewise polynomial. Piece p has the value
/// sum_k coefficients[k * pieces + p] f^(degree - k) where f in [0, 1) is the position within it.
template <class T>
struct TableView {
  Grid grid = Grid::even;
  Index pieces = 0;
  int degree = 0;
  T factor = 0;  ///< even, root: pieces per unit
  T first = 0;   ///< octaves: number of the eighth of an octave where the first piece lies
  T below = 0;   ///< octaves: value before the first piece
  T beyond = 0;  ///< value after the last piece
  const T* coefficients = nullptr;
};

/// A working-set problem on a local kernel matrix (see decomposition.hpp for the notation).
///
/// Variables sit in slots; group g owns slots [group_begin[g], group_end[g]), both multiples of
/// slot_align, and slots that belong to nobody are inert (up = +inf, down = -inf). `size` covers
/// all slots. R is the type of the kernel rows.
template <class T, class R = T>
struct InnerTask {
  Index size = 0;
  int groups = 1;  ///< 0: no equality constraint, single-variable steps.
  Index group_begin[2] = {0, 0};
  Index group_end[2] = {0, 0};
  const R** rows = nullptr;      ///< kernel rows over the slots; null: ask `fetch`.
  const double* diag = nullptr;  ///< K_kk
  const R* (*fetch)(void* owner, Index slot) = nullptr;
  void* owner = nullptr;
  T* values = nullptr;      ///< (K beta) of the slots, updated in place.
  T* up = nullptr;          ///< right derivative of phi, +inf at the upper bound.
  T* down = nullptr;        ///< left derivative of phi, -inf at the lower bound.
  T* curve_up = nullptr;    ///< K_kk + curvature of phi to the right.
  T* curve_down = nullptr;  ///< K_kk + curvature of phi to the left.
  double* beta = nullptr;
  const double* lower = nullptr;
  const double* upper = nullptr;
  const double* slope_left = nullptr;
  const double* slope_right = nullptr;
  const double* curv_left = nullptr;
  const double* curv_right = nullptr;
  const double* kink = nullptr;
  double tol = 0;
  Index max_steps = 0;
  const std::atomic<bool>* stop = nullptr;
  // Results.
  Index steps = 0;
  double violation = 0;
  bool negative_curvature = false;
};

/// Consecutive rows of a compressed store; see objects.hpp for the runs.
template <class T>
struct SparseRows {
  const T* value;
  const std::int32_t* column;
  const Index* first;  ///< runs of row i: [first[i], first[i + 1])
  const Index* run;    ///< entries of run r: [run[r], run[r + 1])
  Index block_columns, blocks;
  const double* norm;
  Index count;
};

/// Dot products of one sparse query row with consecutive sparse rows that are also stored column by
/// column: only columns that both have cost anything.
template <class T>
struct InvertedTask {
  const std::int32_t* column;  ///< of the query, ascending
  const T* value;
  Index entries;
  Index* cursor;            ///< per entry: the first posting at or after row `begin`; advanced
  const Index* post_start;  ///< postings of a column: [post_start[c], post_start[c + 1])
  const std::int32_t* row;  ///< of a posting, ascending within a column
  const T* post_value;
  Index begin, count;  ///< rows
  T* out;              ///< count
};

template <class T>
struct Ops {
  int panel = 0;  ///< rows per packed panel; a multiple of the vector width.

  /// Statistic of n_query interleaved rows against consecutive panels of d features.
  void (*stat[n_stats])(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                        T* out, Index out_stride) = {};
  /// The same with exp(a x + b) applied to every value.
  void (*stat_exp[n_stats])(const T* query, int n_query, const T* panels, Index n_panels, Index d,
                            T* out, Index out_stride, T a, T b) = {};
  /// Statistic of sparse rows with the sparse_block query rows scattered into `slots`;
  /// out[k * sparse_block + r] for row k. Distances are completed with the norms.
  void (*sparse[n_stats])(const T* slots, const std::int32_t* slot_of, const double* query_norm,
                          int n_query, const SparseRows<T>& rows, T* out) = {};
  /// The same with exp(a x + b) applied to every value.
  void (*sparse_exp[n_stats])(const T* slots, const std::int32_t* slot_of, const double* query_norm,
                              int n_query, const SparseRows<T>& rows, T* out, T a, T b) = {};
  /// The same as `stat` for a function of one coordinate.
  void (*coordinates[n_coordinates])(const T* query, int n_query, const T* panels, Index n_panels,
                                     Index d, const Coordinates<T>& c, T* out,
                                     Index out_stride) = {};
  void (*inverted)(const InvertedTask<T>& task) = nullptr;
  /// Sum of squares of n numbers that lie `stride` apart: the bits that `stat` and `sparse` give
  /// for the dot product of a row (or of a run of it) with itself.
  T (*square)(const T* x, Index n, Index stride) = nullptr;
  /// out[r * out_stride + k] = in[k * sparse_block + r].
  void (*transpose)(const T* in, Index n_rows, int n_query, T* out, Index out_stride) = nullptr;

  // Functions of single values; `out` may be `in`.
  void (*affine)(const T* in, T* out, Index n, T a, T b) = nullptr;
  void (*exp_affine)(const T* in, T* out, Index n, T a, T b) = nullptr;
  void (*tanh)(const T* in, T* out, Index n) = nullptr;
  void (*powi)(const T* in, T* out, Index n, int p) = nullptr;
  void (*add)(T* x, const T* y, Index n) = nullptr;
  void (*mul)(T* x, const T* y, Index n) = nullptr;
  void (*sqrt)(const T* in, T* out, Index n) = nullptr;  ///< a negative number counts as 0
  void (*log)(const T* in, T* out, Index n) = nullptr;   ///< 0 counts as the smallest normal number
  void (*log1p)(const T* in, T* out, Index n) = nullptr;  ///< log(1 + x)
  void (*cos)(const T* in, T* out, Index n) = nullptr;    ///< accurate up to |x| = 1e5
  void (*reciprocal)(const T* in, T* out, Index n) = nullptr;
  void (*power)(const T* in, T* out, Index n,
                double exponent) = nullptr;  ///< a negative x counts as 0
  /// Coefficients by falling power.
  void (*polynomial)(const T* in, T* out, Index n, const T* coefficients, int degree) = nullptr;
  void (*table)(const T* in, T* out, Index n, const TableView<T>& table) = nullptr;
  /// x[k] *= a b[k], without overflow in between; x[k] += a + b[k].
  void (*scale_pair)(T* x, Index n, T a, const T* b) = nullptr;
  void (*add_pair)(T* x, Index n, T a, const T* b) = nullptr;

  /// f[k] += sum_r coef[r] * rows[r][k] for k in [0, n), in the order of r.
  void (*axpy_rows)(double* f, const T* const* rows, const double* coef, int n_rows,
                    Index n) = nullptr;
  /// Lane-wise acc[k % panel] += tile[k] * v[k] for one tile row of n (multiple of panel) values.
  void (*dot_lanes)(const T* tile, const double* v, Index n, double* acc) = nullptr;
  /// acc[r][c] += sum_k tile[r][k] * v[k][c] in the order of k; cols is a multiple of
  /// column_block.
  void (*gemm_cols)(const T* tile, Index stride, int rows, const double* v, Index n, Index cols,
                    double* acc, Index acc_stride) = nullptr;

  /// Smallest f + up and largest f + down over [0, n).
  void (*extremes)(const T* f, const T* up, const T* down, Index n, T* min_up,
                   T* max_down) = nullptr;

  void (*inner)(InnerTask<T>& task) = nullptr;
  /// The same on kernel rows in single precision.
  void (*inner_on_single)(InnerTask<T, float>& task) = nullptr;
};

struct Isa {
  const char* name;
  Ops<float> single;
  Ops<double> dual;
  PairOps pairs;
};

template <class T>
const Ops<T>& ops_of(const Isa& isa);
template <>
inline const Ops<float>& ops_of<float>(const Isa& isa) {
  return isa.single;
}
template <>
inline const Ops<double>& ops_of<double>(const Isa& isa) {
  return isa.dual;
}

}  // namespace mercer
