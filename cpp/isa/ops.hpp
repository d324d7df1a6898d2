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
enum class Stat { dot, sqdist, l1 };

/// Query rows interleaved feature by feature for the dense tile loops.
inline constexpr int query_block = 6;
/// Query rows that one sweep over sparse rows serves.
inline constexpr int sparse_block = 32;

/// A working-set problem on a local kernel matrix (see decomposition.hpp for the notation).
///
/// Variables sit in slots; group g owns slots [group_begin[g], group_end[g]), starts at a
/// multiple of the vector width, and slots that belong to nobody are inert (up = +inf,
/// down = -inf). `size` covers all slots and is a multiple of the widest vector.
template <class T>
struct InnerTask {
  Index size = 0;
  int groups = 1;  ///< 0: no equality constraint, single-variable steps.
  Index group_begin[2] = {0, 0};
  Index group_end[2] = {0, 0};
  const T** rows = nullptr;      ///< kernel rows over the slots; null: ask `fetch`.
  const double* diag = nullptr;  ///< K_kk
  const T* (*fetch)(void* owner, Index slot) = nullptr;
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
  void (*stat[3])(const T* query, int n_query, const T* panels, Index n_panels, Index d, T* out,
                  Index out_stride) = {};
  /// Statistic of consecutive sparse rows with the sparse_block query rows scattered into `slots`;
  /// out[k * sparse_block + r] for row k of the range. Distances are completed with the norms.
  void (*sparse[3])(const T* slots, const std::int32_t* slot_of, const T* value,
                    const std::int32_t* column, const Index* first, const Index* run,
                    const double* query_norm, const double* row_norm, Index n_rows, T* out) = {};
  void (*inverted)(const InvertedTask<T>& task) = nullptr;
  /// out[r * out_stride + k] = in[k * sparse_block + r].
  void (*transpose)(const T* in, Index n_rows, int n_query, T* out, Index out_stride) = nullptr;

  void (*affine)(T* x, Index n, T a, T b) = nullptr;
  void (*exp_affine)(T* x, Index n, T a, T b) = nullptr;
  void (*tanh)(T* x, Index n) = nullptr;
  void (*powi)(T* x, Index n, int p) = nullptr;
  void (*add)(T* x, const T* y, Index n) = nullptr;
  void (*mul)(T* x, const T* y, Index n) = nullptr;

  /// f[k] += sum_r coef[r] * rows[r][k] for k in [0, n), in the order of r.
  void (*axpy_rows)(double* f, const T* const* rows, const double* coef, int n_rows,
                    Index n) = nullptr;
  /// Lane-wise acc[k % panel] += tile[k] * v[k] for one tile row of n (multiple of panel) values.
  void (*dot_lanes)(const T* tile, const double* v, Index n, double* acc) = nullptr;
  /// acc[r][c] += sum_k tile[r][k] * v[k][c] in the order of k; cols is a multiple of eight.
  void (*gemm_cols)(const T* tile, Index stride, int rows, const double* v, Index n, Index cols,
                    double* acc, Index acc_stride) = nullptr;

  /// Smallest f + up and largest f + down over [0, n).
  void (*extremes)(const double* f, const double* up, const double* down, Index n, double* min_up,
                   double* max_down) = nullptr;

  void (*inner)(InnerTask<T>& task) = nullptr;
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
