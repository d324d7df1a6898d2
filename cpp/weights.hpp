// Products of kernels that are dot products of stored rows, by way of weight vectors.
//
// If k(a, b) = sum_t f_t u_t(a) u_t(b) <a, b>_t over the leaves t of a program (a dot product of
// rows each, f_t a factor, u_t one number per object), then
//
//   sum_j v_j k(a, b_j) = sum_t f_t u_t(a) <a, w_t>_t,   w_t = sum_j v_j u_t(b_j) b_j.
//
// n values against m objects of d columns cost (n + m) d instead of n m d. All sums are taken in
// double precision and in an order that no number of threads changes.
#pragma once
#include <vector>

#include "objects.hpp"
#include "program.hpp"

namespace mercer {

/// One dot product in a sum of dot products.
struct LinearTerm {
  int leaf = -1;         ///< of the program; -1: the number 1
  double factor = 1;     ///< f
  std::vector<int> aux;  ///< whose product u is
};

/// The terms of a program that is a sum of dot products, if its leaves are; otherwise none.
std::vector<LinearTerm> linear_terms(const Program& program);

/// Weight vectors of several columns of coefficients.
template <class T>
class Weights {
 public:
  /// Zero, for objects that are stored like these.
  Weights(const std::vector<LinearTerm>& terms, const Objects<T>& like, Index cols);
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  /// Numbers that such weights hold.
  static double size(const std::vector<LinearTerm>& terms, const Objects<T>& like, Index cols);

  /// Sets columns [offset, offset + cols) to the sum of v[k][c] b_(begin + k) over [begin, end).
  void set(const Objects<T>& b, Index begin, Index end, const double* v, Index cols, Index offset,
           int threads);

  /// Adds the values of rows [begin, end) of a to out[(i - begin) * stride + c].
  void add_values(const Objects<T>& a, Index begin, Index end, double* out, Index stride) const;

  Index cols() const { return cols_; }

 private:
  std::vector<LinearTerm> terms_;
  Index cols_;
  std::vector<Index> length_;         ///< numbers of a weight vector, per term
  std::vector<ZeroPages<double>> w_;  ///< per term: column by column
};

}  // namespace mercer
