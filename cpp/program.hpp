// A kernel as a postfix program over pair statistics.
//
// Leaves push a tile of a pair statistic (or of a matrix, or of a caller's function); the other
// instructions transform the tile on top of the stack, or combine the two topmost. A program runs
// over a tile while it is in the first-level cache, so sums, products and powers of kernels cost
// no matrix and no call per pair.
#pragma once
#include <vector>

#include "isa/ops.hpp"

namespace mercer {

enum class Op {
  leaf,
  constant,
  dup,   ///< pushes a copy of the top
  swap,  ///< exchanges the two topmost
  affine,
  exp,
  log,
  log1p,
  at_least,  ///< max(x, a)
  sqrt,
  cos,
  tanh,
  reciprocal,
  powi,
  power,
  polynomial,
  table,
  add,
  mul,
  aux,     ///< multiplies by u(a) u(b), one number per object
  aux_add  ///< adds u(a) + u(b)
};

/// A function of one number as a piecewise polynomial; see TableView.
struct Table {
  TableView<double> shape;  ///< without the coefficients
  std::vector<double> coefficients;
};

struct Instruction {
  Op op;
  int index = 0;        ///< leaf, aux, polynomial, table: which one; powi: the power
  double a = 0, b = 0;  ///< constant, power, at_least: a; affine: a x + b; exp: exp(a x + b)
};

struct Program {
  std::vector<Instruction> code;
  std::vector<std::vector<double>> polynomials;  ///< coefficients by falling power
  std::vector<Table> tables;
  int n_leaves = 0;
  int n_aux = 0;

  /// Stack height needed; throws std::invalid_argument for a malformed program.
  int depth() const;
};

}  // namespace mercer
